"""Recorded facts that can't be derived: they must be stated, and agree with each other."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recallbench.audit.declared import recorded_legs, recorded_options
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.embedding.fingerprint import fingerprint_digest
from recallbench.embedding.forms.known_facts import contradictions as encoder_contradictions
from recallbench.embedding.registry import form_of
from recallbench.escaping.markdown import FORMATTING
from recallbench.escaping.terminal import hidden, visible
from recallbench.reading import document, lines, parsed
from recallbench.reports.reproduction import JSON_NAME
from recallbench.results import latency, manifest, rows
from recallbench.results.environment import named_servers
from recallbench.scoring.editions import FIRST
from recallbench.stores.registry import find_store
from recallbench.stores.spread_statement import server_group
from recallbench.stores.statement import StoreRecord, contradictions

_HASH = re.compile(r"[0-9a-f]{64}")
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)+\S*")
SHOWN = 60
"""Characters shown of a refused text."""
_OF_THE_SET = (
    *("corpus.kinds", "denominators", "estimates", "control_bm25", "gates", "labels", "matching", "retrieval.failed"),
    *("tenants", "worst"),
)
"""Parts of metrics.json whose names come from the dataset, spelt as it likes."""


def recorded(subject: AuditSubject) -> Finding:
    metrics = subject.metrics
    problems = [] if metrics.seed is not None else ["no seed"]
    problems += [*_store(subject), *_embedder(subject), *_strings(subject)]
    # Earlier releases did not record it.
    release = subject.environment.get("recallbench_version", metrics.recallbench_version)
    if release != metrics.recallbench_version or not _RELEASE.fullmatch(metrics.recallbench_version):
        problems.append(f"recallbench_version {metrics.recallbench_version}, environment.json has {release}")
    # The release that first recorded its version also brought the next edition.
    if "recallbench_version" in subject.environment and metrics.statistics_edition == FIRST.number:
        problems.append(
            f"statistics of edition {FIRST.number}, while environment.json is of a release that makes others"
        )
    variables = subject.environment.get("variables")
    hash_seed = variables.get("PYTHONHASHSEED") if isinstance(variables, Mapping) else None
    if hash_seed != (None if metrics.seed is None else str(metrics.seed)):
        problems.append(f"seed {metrics.seed}, while PYTHONHASHSEED was {hash_seed}")
    return pass_unless(problems, "seed, version, settings and fingerprint are stated, and hold together")


def _store(subject: AuditSubject) -> Iterator[str]:
    metrics = subject.metrics
    if not metrics.store.version or not metrics.store.version_after:
        yield "no version of the store"
    for leg in recorded_legs(subject):
        if find_store(leg.name) is None:
            yield f"a store called {leg.name}, which this release does not know"
            continue
        if not leg.kind.outside:
            if not leg.settings:
                yield f"no settings of {leg.name}"
            if leg.kind.needs_vectors and metrics.embedder is None:
                yield f"no embedder, which {leg.name} needs"
        record = StoreRecord(leg.version, leg.settings, leg.evidence)
        yield from contradictions(leg.statements, record, _stated_elsewhere(subject))


def _stated_elsewhere(subject: AuditSubject) -> dict[str, tuple[str, str]]:
    """Return what other files of the folder record about facts that a store states, too."""
    packages, options = subject.environment.get("packages"), recorded_options(subject)
    installed = packages if isinstance(packages, Mapping) else {}
    known = {f"package_{name}": ("environment.json", str(version)) for name, version in installed.items()}
    for number, server in enumerate(named_servers(options), 1):
        known[server_group(number)] = ("the option --dsn", server)
    return known | {"segments": ("retrieval.segments", str(subject.metrics.retrieval.segments))}


def _embedder(subject: AuditSubject) -> Iterator[str]:
    stated, account = subject.metrics.embedder, subject.environment.get("embedding")
    encoder = account.get("encoder") if isinstance(account, Mapping) else None
    if encoder != (stated.name if stated else None):
        yield f"the embedder {stated.name if stated else None}, while environment.json tells of {encoder}"
    # One that does not let its tokens be counted says nothing of a length.
    seen = stated is not None and "max_tokens" in stated.fingerprint
    if (subject.metrics.exposure is not None) != seen:
        yield "an embedder, and no word on what it saw" if seen else "what an embedder saw, and no length of it"
    if stated is None:
        return
    if fingerprint_digest(stated.fingerprint) != stated.fingerprint_sha256:
        yield "a fingerprint_sha256 that is not the fingerprint's"
    if not _HASH.fullmatch(stated.vectors_sha256):
        yield "no sha256 of the vectors"
    registered = subject.corpus.embedder if subject.corpus.name in subject.rules.corpora else ""
    if stated.canonical != registered:
        yield f"{stated.canonical or 'none'} as canonical embedder, the protocol has {registered}"
    asked = recorded_options(subject)
    yield from encoder_contradictions(
        stated.name, stated.fingerprint, form_of(stated.name), asked.get("max_tokens"), asked.get("dtype")
    )


def _strings(subject: AuditSubject) -> Iterator[str]:
    """Yield the texts with characters that a reader can't see, or with marks that would format a page."""
    for place, text in _texts(subject.metrics.model_dump()):
        block = place.startswith(("store.evidence.", "pipeline.stages.")) and ".evidence." in place
        yield from _unfit(place, text.replace("\n", "") if block else text, place.startswith(_OF_THE_SET))
    for place, text in _texts(subject.environment):
        yield from _unfit(f"environment.json: {place}", text)
    for name in (manifest.NAME, JSON_NAME):
        if (path := subject.folder / name).exists():
            for place, text in _texts(parsed(document(path), path)):
                yield from _unfit(f"{name}: {place}", text)
    for name in (latency.NAME, rows.NAME):
        path = subject.folder / name
        for number, line in lines(path):
            # Without an escape, what a line shows is all that its texts hold; other checks report one that is no JSON.
            if "\\" not in line and not hidden(line):
                continue
            for place, text in _texts(parsed(line, path, number)):
                # RB-TEXTS compares the dataset's own texts with the dataset.
                if place != "question" and not place.endswith(".text"):
                    yield from _unfit(f"{name}, line {number}: {place}", text, named_by_the_set=True)


def _unfit(place: str, text: str, named_by_the_set: bool = False) -> Iterator[str]:
    if hidden(text):
        yield f"{place} holds characters that can't be printed: {visible(text)[:SHOWN]}"
    elif not named_by_the_set and FORMATTING.search(text):
        yield f"{place} holds marks that would format a report: {text[:SHOWN]}"


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


RECORDED = Examination("RB-RECORDED", "recorded", "seed, settings, version and fingerprint are recorded", recorded)
