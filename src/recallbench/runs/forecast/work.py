"""What a run has to do, counted in its corpus: as much of it as can be read in a moment, the rest in proportion."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recallbench.corpora.records import Corpus, Haystack
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.encoders import Role
from recallbench.runs.plan import Plan

READING = 1.5
"""Seconds that are spent on reading, where the number of segments is registered."""
SAMPLED = 240
"""Texts that are kept, of which the encoder is timed on some."""


@dataclass(slots=True)
class RunWork:
    """The work of one run."""

    haystacks: int = 0
    segments: int = 0
    questions: int = 0
    characters: int = 0
    """Of all segments."""
    hits: int = 0
    """Places of all rankings."""
    compared: int = 0
    """Pairs of a question and a segment that it may be answered from."""
    largest: int = 0
    """Segments of the largest haystack."""
    largest_characters: int = 0
    missing: list[int] = field(default_factory=list)
    """Characters of each distinct text without a vector."""
    sample: list[tuple[Role, str]] = field(default_factory=list)
    """Some of these texts."""
    kept: int = 0
    """Distinct texts that have their vector."""
    timed: bool = False
    """Whether questions see only what was said before them."""
    reading: float = 0.0
    """Seconds of reading all that is asked for."""
    surveying: float = 0.0
    """Seconds of reading the whole corpus, which comes first."""
    times: float = 1.0
    """How many times as much as was read there is."""

    @property
    def whole(self) -> bool:
        """Whether all of it was counted, and nothing taken in proportion."""
        return self.times == 1.0


def count_work(plan: Plan, corpus: Corpus, embedder: Embedder | None, limit: float = READING) -> RunWork:
    """Read the corpus as the run will, and count; without an embedder no vector is kept."""
    work, seen = RunWork(timed=plan.timed), set[bytes]()
    started = spent = time.perf_counter()
    known = plan.corpus.segments if plan.options.limit is None else 0
    looking = 0.0
    for haystack in plan.select(corpus.haystacks()):
        if known and work.segments and time.perf_counter() - started - looking > limit:
            work.times = max(1.0, known / work.segments)
            break
        _count(work, haystack, plan.options.depth)
        spent = time.perf_counter()
        if plan.embedder is not None:
            _look(work, haystack, embedder, seen)
        looking += time.perf_counter() - spent
    read = time.perf_counter() - started - looking
    work.reading = read * work.times
    work.surveying = work.reading
    if plan.options.limit is not None and work.characters:
        work.surveying = max(work.reading, read * _size(corpus.path) / work.characters)
    return work


def _count(work: RunWork, haystack: Haystack, depth: int) -> None:
    sizes = [question.candidates(len(haystack.segments)) for question in haystack.questions]
    characters = sum(len(segment.text) for segment in haystack.segments)
    work.haystacks += 1
    work.segments += len(haystack.segments)
    work.questions += len(sizes)
    work.characters += characters
    work.hits += sum(min(depth, size) for size in sizes)
    work.compared += sum(sizes)
    work.largest = max(work.largest, len(haystack.segments))
    work.largest_characters = max(work.largest_characters, characters)


def _look(work: RunWork, haystack: Haystack, embedder: Embedder | None, seen: set[bytes]) -> None:
    for role, text in _texts(haystack):
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if key in seen:
            continue
        seen.add(key)
        if embedder is not None and embedder.reuse([text], role):
            work.kept += 1
            continue
        work.missing.append(len(text))
        # The same texts each time, and the rarer the more there are: what stays is spread over the corpus.
        if len(work.sample) < SAMPLED:
            work.sample.append((role, text))
        elif (place := int.from_bytes(key, "little") % len(work.missing)) < SAMPLED:
            work.sample[place] = (role, text)


def _texts(haystack: Haystack) -> Iterator[tuple[Role, str]]:
    for segment in haystack.segments:
        yield "passage", segment.text
    for question in haystack.questions:
        yield "query", question.text


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Texts of about one length that have to be embedded."""

    texts: float
    tokens: float
    """Of each, as far as the encoder reads it."""


def strata(lengths: Sequence[int], per_character: float, limit: int | None, parts: int = 3) -> list[Stratum]:
    """Return the texts in groups that have as many tokens each, the shortest first, by characters and a rate."""
    tokens = np.sort(np.maximum(1.0, np.minimum(np.asarray(lengths) * per_character, limit or np.inf)))
    if not len(tokens):
        return []
    place = np.minimum((np.cumsum(tokens) - tokens / 2) * parts / tokens.sum(), parts - 1).astype(int)
    groups = [tokens[place == part] for part in range(parts)]
    return [Stratum(len(group), float(group.mean())) for group in groups if len(group)]
