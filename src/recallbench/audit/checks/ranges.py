"""Recorded figures that nobody can work out again: they must be possible."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from recallbench.audit.difference import differing
from recallbench.audit.encoding import most_tokens
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.protocol.frozen import load
from recallbench.reading import is_finite, objects
from recallbench.results import latency
from recallbench.results.environment import FIELDS

NOT_DERIVED = (
    "token counts and truncation",
    "timings",
    "environment",
    "the store's version, settings and plan",
    "the embedder's fingerprint and the hash of its vectors",
    "that the rankings are what this store returned",
)
"""What an audit takes from the folder as it is: only running again tells more."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_FROZEN = datetime.fromisoformat(f"{load().frozen}T00:00:00+00:00")


def ranges(subject: AuditSubject) -> Finding:
    problems = [*_exposure(subject), *_timings(subject), *_times(subject.environment), *_around(subject.environment)]
    return pass_unless(problems, f"possible; not re-derived: {', '.join(NOT_DERIVED)}")


def _exposure(subject: AuditSubject) -> Iterator[str]:
    seen = subject.metrics.exposure
    if seen is None:
        return
    whole, cut_off, room = seen.segments, seen.truncated, seen.max_tokens
    # What is cut has more tokens than the encoder reads, what is not cut has at most as many.
    fewest = whole if not cut_off else (whole - cut_off) + seen.longest + (cut_off - 1) * (room + 1)
    most = cut_off * seen.longest + (whole - cut_off) * min(seen.longest, room)
    # An empty turn at the end of a text stands at its end, where a cut would be, too.
    behind = cut_off or subject.metrics.corpus.empty_turns
    bounds = {
        "segments": (whole, subject.derived.retrieval.segments, subject.derived.retrieval.segments),
        "max_tokens": (room, 1, 1 << 20),
        "truncated": (cut_off, 0, whole),
        "longest": (seen.longest, 1, seen.tokens),
        "tokens": (seen.tokens, fewest, min(most, _tokens_of(subject))),
        "gold_turns": (seen.gold_turns, *_gold_turns(subject)),
        "gold_turns_cut": (seen.gold_turns_cut, 0, seen.gold_turns if behind else 0),
    }
    for name, (value, low, high) in bounds.items():
        if not low <= value <= high:
            yield f"exposure.{name} {value}, possible are {low} to {high}"
    cut = subject.metrics.embedder.fingerprint.get("max_tokens") if subject.metrics.embedder else None
    if cut != str(seen.max_tokens):
        yield f"exposure.max_tokens {seen.max_tokens}, the embedder's is {cut}"
    shares = {
        "truncated_share": (seen.truncated_share, seen.truncated, seen.segments),
        "gold_turns_cut_share": (seen.gold_turns_cut_share, seen.gold_turns_cut, seen.gold_turns),
    }
    for name, (share, part, whole) in shares.items():
        yield from differing(share, part / whole if whole else None, f"exposure.{name}")
    if (seen.truncated > 0) != (seen.longest > seen.max_tokens):
        yield f"exposure: {seen.truncated} segments cut at {seen.max_tokens} tokens, the longest has {seen.longest}"


def _tokens_of(subject: AuditSubject) -> float:
    """The most tokens that the segments can have; without the dataset nobody knows."""
    if not subject.has_dataset:
        return math.inf
    return most_tokens(subject.dataset.texts.passage_characters, subject.dataset.segments)


def _gold_turns(subject: AuditSubject) -> tuple[int, int]:
    """Between which counts the labelled turns must lie: the dataset knows how many there are."""
    return (subject.dataset.gold_turns,) * 2 if subject.has_dataset else (0, subject.metrics.corpus.turns)


def _timings(subject: AuditSubject) -> Iterator[str]:
    known = {question.id for question in subject.questions}
    for number, row in objects(subject.folder / "timings.jsonl"):
        names = set(row)
        seconds = row.get("seconds") if names == {"phase", "seconds"} else row.get("ms")
        shaped = names in ({"phase", "seconds"}, {"question_id", "state", "ms"})
        if not shaped or isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            yield f"timings.jsonl, line {number}: neither a phase nor a query"
        elif not (is_finite(seconds) and seconds >= 0):
            yield f"timings.jsonl, line {number}: {seconds}"
        elif "question_id" in row and (row["question_id"] not in known or row["state"] not in latency.STATES):
            yield f"timings.jsonl, line {number}: {row['question_id']}, {row['state']}"


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


def _around(environment: Mapping[str, Any]) -> Iterator[str]:
    """What environment.json tells of machine and checkouts, and that it tells of nothing else."""
    yield from (f"environment.json: {name[:60]}, which no run tells" for name in sorted(environment.keys() - FIELDS))
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
