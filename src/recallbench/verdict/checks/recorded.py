"""What decided a result and can't be worked out again: it must be there, and hold together."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.identity import digest_of, pinned_of, sources_of, treatment_of
from recallbench.results.metrics import Metrics
from recallbench.stores.registry import find_entry
from recallbench.stores.weights import DEFAULT_WEIGHTS, PARTS
from recallbench.verdict.case import Case
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding

_HASH = re.compile(r"[0-9a-f]{64}")
_WEIGHT = "recallbench.weight_"


def recorded(case: Case) -> Finding:
    made = case.metrics
    found = [] if made.seed is not None else ["no seed"]
    found += [*_store(made), *_embedder(case), *_strings(made)]
    variables = case.environment.get("variables")
    hash_seed = variables.get("PYTHONHASHSEED") if isinstance(variables, Mapping) else None
    if hash_seed != (None if made.seed is None else str(made.seed)):
        found.append(f"seed {made.seed}, while PYTHONHASHSEED was {hash_seed}")
    return listed(found, "seed, version, settings and fingerprint are stated, and hold together")


def _store(made: Metrics) -> Iterator[str]:
    store, entry = made.store, find_entry(made.store.name)
    if not store.version or not store.version_after:
        yield "no version of the store"
    if entry is None:
        yield f"a store called {store.name}, which this release does not know"
    elif entry.outside is None:
        if not made.guc_state:
            yield "no settings of the store"
        if entry.needs_vectors and made.embedder is None:
            yield f"no embedder, which {store.name} needs"
        canonical = store.name == "pgmnemo"
        signs = r"[0-9]+\.[0-9]" if canonical else rf"recallbench-{re.escape(store.name)}/"
        if store.version and not re.match(signs, store.version):
            yield f"the version {store.version}, which no {store.name} states"
        if canonical and not any(name.startswith("pgmnemo.") for name in made.guc_state):
            yield "no setting of pgmnemo"
    weights = {name: value for name, value in made.guc_state.items() if name.startswith(_WEIGHT)}
    if (store.name == "pgvector") != (weights.keys() == _defaults().keys()):
        yield f"the weights {_listed(weights) or 'none'}, with the store {store.name}"
    elif weights and bool(store.variant) != (weights != _defaults()):
        yield f"the variant {store.variant!r}, while the store's weights were {_listed(weights)}"


def _embedder(case: Case) -> Iterator[str]:
    made, around = case.metrics.embedder, case.environment.get("embedding")
    encoder = around.get("encoder") if isinstance(around, Mapping) else None
    if encoder != (made.name if made else None):
        yield f"the embedder {made.name if made else None}, while environment.json tells of {encoder}"
    if (case.metrics.exposure is None) != (made is None):
        yield "an embedder, and no word on what it saw" if made else "what an embedder saw, and no embedder"
    if made is None:
        return
    if digest_of(made.fingerprint) != made.fingerprint_sha256:
        yield "a fingerprint_sha256 that is not the fingerprint's"
    if not _HASH.fullmatch(made.vectors_sha256):
        yield "no sha256 of the vectors"
    registered = case.corpus.embedder if case.corpus.name in case.rules.corpora else ""
    if made.canonical != registered:
        yield f"{made.canonical or 'none'} as canonical embedder, the protocol has {registered}"
    if made.name == HashEmbedder.name:
        expected: Mapping[str, str] = HashEmbedder().fingerprint
    elif made.name in ENCODERS:
        spec = ENCODERS[made.name]
        pinned = {name: digest for name, digest in pinned_of(spec).items() if name in made.fingerprint}
        expected = {**sources_of(spec), **treatment_of(spec), **pinned}
    else:
        yield f"an embedder called {made.name}, which this release does not know"
        return
    yield from (
        f"fingerprint {name} {made.fingerprint.get(name)}, {made.name} has {value}"
        for name, value in expected.items()
        if made.fingerprint.get(name) != value
    )


def _strings(made: Metrics) -> Iterator[str]:
    """A line break or a control character in what is only recorded could draw tables and headings of its own."""
    for place, text in _texts(made.model_dump()):
        block = place.startswith("store.evidence.")
        if not all(character.isprintable() or (block and character == "\n") for character in text):
            yield f"{place} holds characters that can't be printed"
        elif "```" in text or "<!--" in text:
            yield f"{place} holds marks that would format the report"


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield place, str(name)
            yield from _texts(inner, f"{place}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{place}.{number}")
    elif isinstance(value, str):
        yield place, value


def _defaults() -> dict[str, str]:
    return {f"{_WEIGHT}{part}": repr(getattr(DEFAULT_WEIGHTS, part)) for part in PARTS}


def _listed(weights: Mapping[str, str]) -> str:
    return ", ".join(f"{name.removeprefix(_WEIGHT)} {value}" for name, value in weights.items())


RECORDED = Examination("RB-RECORDED", "recorded", "seed, settings, version and fingerprint are recorded", recorded)
