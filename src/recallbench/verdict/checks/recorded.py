"""What nobody can work out again from a folder: it must be there, and within the bounds of what can be."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from recallbench.embedding.identity import digest_of
from recallbench.results.reading import objects
from recallbench.stores.registry import find_entry
from recallbench.stores.weights import DEFAULT_WEIGHTS, PARTS, parse_weights
from recallbench.verdict.case import Case
from recallbench.verdict.difference import differing
from recallbench.verdict.examination import Examination, listed
from recallbench.verdict.gate import Finding

NOT_DERIVED = (
    "token counts and truncation",
    "timings",
    "environment",
    "the store's version, settings and plan",
    "the embedder's fingerprint and the hash of its vectors",
    "that the rankings are what this store returned",
)
"""What an audit takes from the folder as it is: only running again tells more."""

_HASH = re.compile(r"[0-9a-f]{64}")
_WEIGHT = "recallbench.weight_"


def recorded(case: Case) -> Finding:
    made = case.metrics
    found = [] if made.seed is not None else ["no seed"]
    if not made.store.version or not made.store.version_after:
        found.append("no version of the store")
    entry = find_entry(made.store.name)
    if entry is None:
        found.append(f"a store called {made.store.name}, which this release does not know")
    elif not made.guc_state and entry.outside is None:
        found.append("no settings of the store")
    if entry is not None and entry.needs_vectors and entry.outside is None and made.embedder is None:
        found.append(f"no embedder, which {made.store.name} needs")
    if made.embedder is not None:
        if digest_of(made.embedder.fingerprint) != made.embedder.fingerprint_sha256:
            found.append("a fingerprint_sha256 that is not the fingerprint's")
        if not _HASH.fullmatch(made.embedder.vectors_sha256):
            found.append("no sha256 of the vectors")
        registered = case.corpus.embedder if case.corpus.name in case.rules.corpora else ""
        if made.embedder.canonical != registered:
            found.append(f"{made.embedder.canonical or 'none'} as canonical embedder, the protocol has {registered}")
    weights = {name: value for name, value in made.guc_state.items() if name.startswith(_WEIGHT)}
    if weights and bool(made.store.variant) != (weights != _defaults()):
        found.append(f"the variant {made.store.variant!r}, while the store's weights were {_listed(weights)}")
    return listed(found, "seed, version, settings and fingerprint are stated, and hold together")


def options(case: Case) -> Finding:
    asked, made = case.environment.get("options"), case.metrics
    if not isinstance(asked, Mapping):
        return Finding("fail", "environment.json holds no options")
    variant = any(asked.get(name) for name in ("weights", "function", "dates", "ranker"))
    pairs: dict[str, tuple[Any, Any]] = {
        "corpus": (asked.get("corpus"), made.corpus.name),
        "version": (asked.get("version"), made.store.asked_version),
        "depth": (asked.get("depth"), made.retrieval.depth),
        "pooled": (asked.get("pooled"), made.retrieval.scope == "pooled"),
        "reproduce": (asked.get("reproduce"), made.reproduction),
    }
    for name, value in (("store", made.store.name), ("embedder", made.embedder and made.embedder.name)):
        if asked.get(name) is not None:
            pairs[name] = (asked[name], value)
    limit = asked.get("limit")
    # A limit that reaches all questions is none.
    if limit is None or (isinstance(limit, int) and limit < made.corpus.questions - made.retrieval.left_out):
        pairs["limit"] = (limit, made.retrieval.limit)
    if asked.get("weights") is not None and parse_weights(str(asked["weights"])) != DEFAULT_WEIGHTS:
        pairs["variant"] = (True, bool(made.store.variant))
    found = [f"{name}: {one} asked for, {other} stated" for name, (one, other) in pairs.items() if one != other]
    if made.store.variant and not variant:
        found.append(f"variant: {made.store.variant} stated, nothing like it asked for")
    return listed(found, "what was asked for is what metrics.json states")


def ranges(case: Case) -> Finding:
    found = [*_exposure(case), *_timings(case), *_times(case.environment)]
    return listed(found, f"possible; not re-derived: {', '.join(NOT_DERIVED)}")


def _exposure(case: Case) -> Iterator[str]:
    seen = case.metrics.exposure
    if seen is None:
        return
    bounds = {
        "segments": (seen.segments, case.derived.retrieval.segments, case.derived.retrieval.segments),
        "max_tokens": (seen.max_tokens, 1, 1 << 20),
        "truncated": (seen.truncated, 0, seen.segments),
        "longest": (seen.longest, 1, seen.tokens),
        "tokens": (seen.tokens, seen.segments, seen.longest * seen.segments),
        "gold_turns": (seen.gold_turns, 0, case.derived.corpus.turns),
        "gold_turns_cut": (seen.gold_turns_cut, 0, seen.gold_turns),
    }
    for name, (value, low, high) in bounds.items():
        if not low <= value <= high:
            yield f"exposure.{name} {value}, possible are {low} to {high}"
    shares = {
        "truncated_share": (seen.truncated_share, seen.truncated, seen.segments),
        "gold_turns_cut_share": (seen.gold_turns_cut_share, seen.gold_turns_cut, seen.gold_turns),
    }
    for name, (share, part, whole) in shares.items():
        yield from differing(share, part / whole if whole else None, f"exposure.{name}")
    if (seen.truncated > 0) != (seen.longest > seen.max_tokens):
        yield f"exposure: {seen.truncated} segments cut at {seen.max_tokens} tokens, the longest has {seen.longest}"


def _timings(case: Case) -> Iterator[str]:
    known = {question.id for question in case.questions}
    for number, row in objects(case.folder / "timings.jsonl"):
        names = set(row)
        seconds = row.get("seconds") if names == {"phase", "seconds"} else row.get("ms")
        shaped = names in ({"phase", "seconds"}, {"question_id", "state", "ms"})
        if not shaped or isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            yield f"timings.jsonl, line {number}: neither a phase nor a query"
        elif not (math.isfinite(seconds) and seconds >= 0):
            yield f"timings.jsonl, line {number}: {seconds}"
        elif "question_id" in row and (row["question_id"] not in known or row["state"] not in ("cold", "warm")):
            yield f"timings.jsonl, line {number}: {row['question_id']}, {row['state']}"


def _times(environment: Mapping[str, Any]) -> Iterator[str]:
    try:
        started, ended = (datetime.fromisoformat(str(environment.get(name))) for name in ("started", "ended"))
        if started.tzinfo is None or ended < started:
            yield f"environment.json: from {started} to {ended}"
    except (ValueError, TypeError) as error:
        yield f"environment.json: {error}"
    for name in ("git", "machine", "packages", "command"):
        if not environment.get(name) and name != "git":
            yield f"environment.json: no {name}"


def _defaults() -> dict[str, str]:
    return {f"{_WEIGHT}{part}": repr(getattr(DEFAULT_WEIGHTS, part)) for part in PARTS}


def _listed(weights: Mapping[str, str]) -> str:
    return ", ".join(f"{name.removeprefix(_WEIGHT)} {value}" for name, value in weights.items())


RECORDED = Examination("RB-RECORDED", "recorded", "seed, settings, version and fingerprint are recorded", recorded)
OPTIONS = Examination("RB-OPTIONS", "options", "the command's options and the result agree", options)
RANGES = Examination(
    "RB-RANGES", "ranges", "token counts, truncation, timings and environment within what is possible", ranges
)
