"""Recorded figures that nobody can work out again: they must be possible."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from recallbench.audit.checks.quantities import impossible
from recallbench.audit.difference import differing
from recallbench.audit.encoding import most_tokens
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.protocol.frozen import load
from recallbench.reading import is_finite, objects
from recallbench.results import latency
from recallbench.results.environment import FIELDS, LOAD, recorded_load
from recallbench.results.metrics import Metrics

NOT_DERIVED = (
    "token counts and truncation",
    "timings",
    "environment",
    "processors' seconds, bytes and tokens used",
    "the store's version, settings and plan",
    "the embedder's fingerprint and the hash of its vectors",
    "that the rankings are what this store returned",
)
"""Statements that an audit can't derive: only running again tells more."""


def recorded_words(recorded: Sequence[str]) -> str:
    """Return in words that these statements are nobody's but the one's who made the folder."""
    return f"recorded, not re-derived: {'; '.join(recorded)}"


_QUERY, _PARTS = {"question_id", "state", "ms"}, {"store_ms", "adapter_ms"}
_ROUNDED_MS = 0.01
"""Each time of a stage is rounded to four digits."""
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_FROZEN = datetime.fromisoformat(f"{load().frozen}T00:00:00+00:00")


def ranges(subject: AuditSubject) -> Finding:
    problems = [
        *_exposure(subject),
        *_timings(subject),
        *_times(subject.environment),
        *_circumstances(subject.environment),
        *impossible(subject),
    ]
    return pass_unless(problems, f"possible; not re-derived: {', '.join(NOT_DERIVED)}")


def _exposure(subject: AuditSubject) -> Iterator[str]:
    exposure = subject.metrics.exposure
    if exposure is None:
        return
    segments, truncated, limit = exposure.segments, exposure.truncated, exposure.max_tokens
    # A truncated segment has more tokens than the encoder reads, another one has at most as many.
    fewest = segments if not truncated else (segments - truncated) + exposure.longest + (truncated - 1) * (limit + 1)
    most = truncated * exposure.longest + (segments - truncated) * min(exposure.longest, limit)
    # An empty turn that ends a text looks like one behind a cut.
    may_be_cut = truncated or subject.metrics.corpus.empty_turns
    bounds = {
        "segments": (segments, subject.derived.retrieval.segments, subject.derived.retrieval.segments),
        "max_tokens": (limit, 1, 1 << 20),
        "truncated": (truncated, 0, segments),
        "longest": (exposure.longest, 1, exposure.tokens),
        "tokens": (exposure.tokens, fewest, min(most, _tokens_of(subject))),
        "gold_turns": (exposure.gold_turns, *_gold_turns(subject)),
        "gold_turns_cut": (exposure.gold_turns_cut, 0, exposure.gold_turns if may_be_cut else 0),
    }
    for name, (value, low, high) in bounds.items():
        if not low <= value <= high:
            yield f"exposure.{name} {value}, possible are {low} to {high}"
    cut = subject.metrics.embedder.fingerprint.get("max_tokens") if subject.metrics.embedder else None
    if cut != str(exposure.max_tokens):
        yield f"exposure.max_tokens {exposure.max_tokens}, the embedder's is {cut}"
    shares = {
        "truncated_share": (exposure.truncated_share, exposure.truncated, exposure.segments),
        "gold_turns_cut_share": (exposure.gold_turns_cut_share, exposure.gold_turns_cut, exposure.gold_turns),
    }
    for name, (share, part, whole) in shares.items():
        yield from differing(share, part / whole if whole else None, f"exposure.{name}")
    if (exposure.truncated > 0) != (exposure.longest > exposure.max_tokens):
        yield f"exposure: {truncated} segments cut at {limit} tokens, the longest has {exposure.longest}"


def _tokens_of(subject: AuditSubject) -> float:
    """Return the most tokens that the segments can have; infinity without the dataset."""
    if not subject.has_dataset:
        return math.inf
    stated = subject.metrics.embedder
    prefix = stated.fingerprint.get("passage_prefix", "") if stated else ""
    return most_tokens(subject.dataset.texts.passage_characters, subject.dataset.segments, prefix)


def _gold_turns(subject: AuditSubject) -> tuple[int, int]:
    """Return the bounds of the number of labelled turns; the dataset gives it exactly."""
    return (subject.dataset.gold_turns,) * 2 if subject.has_dataset else (0, subject.metrics.corpus.turns)


def _timings(subject: AuditSubject) -> Iterator[str]:
    known = {question.id for question in subject.questions}
    for number, row in objects(subject.folder / "timings.jsonl"):
        names = set(row)
        seconds = row.get("seconds") if names == {"phase", "seconds"} else row.get("ms")
        shaped = (
            names - {"stages"} in ({"phase", "seconds"}, _QUERY, _QUERY | _PARTS)
            or (names - {"kept"} == _QUERY | {"stage"} and row.get("kept", True) is True)
            or (names == {"state", "ms"} and row["state"] == latency.NO_OP)
        )
        if not shaped or isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            yield f"timings.jsonl, line {number}: neither a phase nor a query"
        elif not (is_finite(seconds) and seconds >= 0):
            yield f"timings.jsonl, line {number}: {seconds}"
        elif "question_id" in row and (row["question_id"] not in known or row["state"] not in latency.STATES):
            yield f"timings.jsonl, line {number}: {row['question_id']}, {row['state']}"
        elif (names >= _PARTS and (problem := _divided(row))) or (
            "stages" in row and (problem := _split(subject.metrics, row))
        ):
            yield f"timings.jsonl, line {number}: {problem}"


def _divided(row: Mapping[str, Any]) -> str:
    """Return what is wrong with the parts of the time of one query; empty where nothing is."""
    if not row.keys() >= _PARTS:
        return ""
    parts = [row[name] for name in sorted(_PARTS)]
    if not all(is_finite(ms) and ms >= 0 for ms in parts) or sum(parts) > row["ms"] + _ROUNDED_MS:
        return f"parts that take longer than the query itself, {row['ms']} ms: {str(parts)[:60]}"
    return ""


def _split(metrics: Metrics, row: Mapping[str, Any]) -> str:
    """Return what is wrong with the times of the stages of one query; empty where nothing is."""
    if "stages" not in row:
        return ""
    stages, whole = row["stages"], row.get("ms", row.get("seconds"))
    known = {stage.name for stage in metrics.pipeline.stages} if metrics.pipeline else set()
    if not isinstance(stages, Mapping) or not stages.keys() <= known or "ms" not in row:
        return f"times of stages that the run does not have: {str(stages)[:60]}"
    if not all(is_finite(ms) and ms >= 0 for ms in stages.values()) or sum(stages.values()) > whole + _ROUNDED_MS:
        return f"stages that take longer than the query itself, {whole} ms: {str(stages)[:60]}"
    return ""


def _times(environment: Mapping[str, Any]) -> Iterator[str]:
    try:
        started, ended = (datetime.fromisoformat(str(environment.get(name))) for name in ("started", "ended"))
        soon = datetime.now(UTC) + timedelta(days=1)
        if started.tzinfo is None or not _FROZEN <= started <= ended <= soon:
            yield f"environment.json: from {started} to {ended}, while the protocol is of {_FROZEN:%Y-%m-%d}"
    except (ValueError, TypeError) as error:
        yield f"environment.json: {error}"
    for name in ("git", "machine", "packages", "command"):
        if not environment.get(name) and name != "git":
            yield f"environment.json: no {name}"


def _circumstances(environment: Mapping[str, Any]) -> Iterator[str]:
    """Check machine and checkouts in environment.json, and that it has no unknown field."""
    yield from (f"environment.json: {name[:60]}, which no run tells" for name in sorted(environment.keys() - FIELDS))
    if LOAD in environment and recorded_load(environment) is None:
        yield f"environment.json: no load of a machine: {str(environment[LOAD])[:60]}"
    machine, git = environment.get("machine"), environment.get("git")
    cores = machine.get("cores", 1) if isinstance(machine, Mapping) else 1
    if cores is not None and (isinstance(cores, bool) or not isinstance(cores, int) or cores < 1):
        yield f"environment.json: {cores} cores"
    for name, state in git.items() if isinstance(git, Mapping) else ():
        known = isinstance(state, Mapping) and (not state or state.keys() == {"commit", "clean"})
        if not known or (state and not _COMMIT.fullmatch(str(state["commit"]))):
            yield f"environment.json: git.{name} is no commit"


RANGES = Examination(
    "RB-RANGES", "ranges", "token counts, truncation, timings and environment within what is possible", ranges
)
