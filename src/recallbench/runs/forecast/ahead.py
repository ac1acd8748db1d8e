"""What a run still takes, told while it is under way: what was done corrects what was expected."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from recallbench.corpora.records import Haystack
from recallbench.embedding.cached_embedder import STAGES, WINDOW
from recallbench.progress import Advance, Progress
from recallbench.runs.forecast.forecast import CONTROL, OTHER, QUESTION, STORES
from recallbench.runs.forecast.probe import READ, REFERENCE, plain_pace

Kind = Literal["embedding", "plain"]


@dataclass(slots=True)
class RunPart:
    """A part of the run: a stage of its progress, or work that shows none."""

    stage: str
    """How the name of its stage begins."""
    kind: Kind
    units: float
    """Its work: characters that are embedded, or seconds on the machine that `STORES` was measured on."""
    shares: Sequence[float] = ()
    """Which share of it is done once so many of its units of progress are; empty where each is as much as any."""
    total: int = 0
    done: int = 0
    begun: float | None = None
    ended: float | None = None

    @property
    def share(self) -> float:
        """The share of it that is done."""
        if self.ended is not None:
            return 1.0
        if self.shares:
            return self.shares[min(self.done, len(self.shares)) - 1] if self.done else 0.0
        return min(1.0, self.done / self.total) if self.total else 0.0

    def spent(self, now: float) -> float:
        """Return the seconds that it has taken so far."""
        return 0.0 if self.begun is None else (self.ended or now) - self.begun


def seconds_left(parts: Sequence[RunPart], now: float, plain: Callable[[], float]) -> float | None:
    """Return the seconds that the parts still take, at the pace of what was done of their kind; None before any was.

    `plain` is the pace of plain work where none was done yet.
    """
    left = 0.0
    for kind in ("embedding", "plain"):
        own = [part for part in parts if part.kind == kind]
        rest = sum(part.units * (1 - part.share) for part in own)
        worked = sum(part.units * part.share for part in own)
        if not rest:
            continue
        if worked:
            left += rest * sum(part.spent(now) for part in own if part.share) / worked
        elif kind == "plain":
            left += rest * plain()
        else:
            return None
    return left


class _Lengths:
    """How many texts there are, and the characters that are read of them; of each, where they are embedded at once."""

    def __init__(self) -> None:
        self.count = self.read = 0
        self.each = array("i")

    def note(self, characters: int) -> None:
        """Note one more text."""
        read = min(READ, characters)
        self.count += 1
        self.read += read
        if self.count <= WINDOW:
            self.each.append(read)


class TextLengths:
    """The characters of the texts that a run reads, noted while its corpus is surveyed."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self.passages, self.queries = _Lengths(), _Lengths()
        self.characters = 0

    def look(self, haystack: Haystack) -> None:
        """Note the texts of one more haystack, unless the limit was reached."""
        if self._limit is not None and self.queries.count >= self._limit:
            return
        for segment in haystack.segments:
            self.passages.note(len(segment.text))
            self.characters += len(segment.text)
        for question in haystack.questions:
            if question.is_asked:
                self.queries.note(len(question.text))


def parts_of(lengths: TextLengths, store: str, *, embeds: bool, passages_kept: bool) -> list[RunPart]:
    """Return the parts of a run after its survey."""
    of, segments, questions = STORES.get(store, OTHER), lengths.passages.count, lengths.queries.count
    parts = []
    if embeds:
        if not passages_kept:
            parts.append(_embedding(STAGES["passage"], lengths.passages))
        parts.append(_embedding(STAGES["query"], lengths.queries))
    asking = of.start + lengths.characters * REFERENCE
    asking += sum(pace.segment * segments + pace.question * questions for pace in (of, CONTROL))
    return [*parts, RunPart("ingesting", "plain", asking), RunPart("(writing)", "plain", questions * 3 * QUESTION)]


def _embedding(stage: str, lengths: _Lengths) -> RunPart:
    units = float(lengths.read)
    if lengths.count > WINDOW or not units:
        return RunPart(stage, "embedding", units)
    # The longest go first.
    longest_first = sorted(lengths.each, reverse=True)
    return RunPart(stage, "embedding", units, [done / units for done in accumulate(longest_first)])


class Ahead:
    """A progress that hands on what it hears, and tells what the whole run still takes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.parts: list[RunPart] = []
        """What is to be done; empty until that is known."""
        self._plain = 0.0
        progress.expect(self.left)

    def note(self, text: str) -> None:
        self._progress.note(text)

    def expect(self, left: Callable[[], float | None]) -> None:
        self._progress.expect(left)

    @contextmanager
    def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
        part = next((part for part in self.parts if part.begun is None and name.startswith(part.stage)), None)
        if part is None:
            with self._progress.stage(name, total, unit) as advance:
                yield advance
            return
        part.begun, part.total = time.monotonic(), total or 0
        with self._progress.stage(name, total, unit) as heard:

            def counted(more: int) -> None:
                part.done += more
                heard(more)

            yield counted
        part.ended = time.monotonic()

    def left(self) -> float | None:
        """Return the seconds that the run still takes; None as long as that can't be told."""
        return seconds_left(self.parts, time.monotonic(), self._pace) if self.parts else None

    def _pace(self) -> float:
        if not self._plain:
            self._plain = plain_pace(0.02)
        return self._plain
