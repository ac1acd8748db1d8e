"""Answers that were measured and are kept by their address, so that no sweep asks for them twice."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from recallbench.corpora.records import Question
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.whole_file import write_errors, write_whole

FOLDER = "sweeps"
"""The folder of kept answers, in that of the vectors."""
LARGEST = 1 << 26
"""Bytes of answers, unpacked: those of 10,000 questions at depth 50 take a third of that."""
Position = Annotated[int, Field(ge=0, lt=1 << 31)]
"""In a haystack. A cache may be shared: one that no ranking holds is none."""
_T = TypeVar("_T")
FAST = 1
"""The level of compression: a race keeps the answers of a point after each block."""


@dataclass(slots=True)
class Answers:
    """What one system answered to some or all questions."""

    version: str
    """As its store stated it."""
    deep: dict[str, tuple[Position, ...]] = field(default_factory=dict)
    """Haystack positions by question, best first."""
    short: dict[str, tuple[Position, ...]] | None = None
    """Those of calls for fewer hits; None where the store is prefix-stable, and one call serves both."""
    milliseconds: dict[str, float] = field(default_factory=dict)
    """Of the questions that were asked one by one, warm."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By phase, over all questions so far."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why a question has no answer; it counts as the worst one."""
    measured: str = ""
    """The day on which it was asked."""
    cpu: str = ""
    """The processor that it was measured on."""

    def missing(self, questions: Sequence[Question]) -> list[Question]:
        """Return the questions that were not asked yet."""
        return [question for question in questions if question.id not in self.deep]

    def timed_on(self, cpu: str) -> Answers:
        """Return them for a sweep on this processor: of another one's times nothing, so that its questions are missing.

        Times of two processors can't be compared, and a point is chosen by its time.
        """
        if self.cpu == cpu or not self.milliseconds:
            return self
        return self.without(self.milliseconds)

    def without(self, ids: Collection[str]) -> Answers:
        """Return them as if these questions had not been asked."""

        def others(kept: Mapping[str, _T]) -> dict[str, _T]:
            return {id: value for id, value in kept.items() if id not in ids}

        short = None if self.short is None else others(self.short)
        return replace(
            self,
            deep=others(self.deep),
            short=short,
            milliseconds=others(self.milliseconds),
            failed=others(self.failed),
        )

    def retrieval(self, questions: Sequence[Question], sizes: Mapping[str, int], calls: Calls) -> Retrieval:
        """Return the answers to these questions as every scorer takes them; `sizes` are those of the haystacks."""

        def rankings(kept: Mapping[str, tuple[int, ...]]) -> list[Ranking]:
            return [Ranking(question.id, kept[question.id], ()) for question in questions]

        return Retrieval(
            calls,
            list(questions),
            [question.candidates(sizes[question.scope]) for question in questions],
            rankings(self.deep),
            None if self.short is None else rankings(self.short),
        )


_ANSWERS = TypeAdapter(Answers)


class SweepCache:
    """The folder of kept answers."""

    def __init__(self, cache_dir: Path) -> None:
        self._folder = cache_dir / FOLDER

    def find(self, address: str) -> Answers | None:
        """Return what is kept at an address; None where nothing is, or what is there can't be read any more."""
        try:
            with gzip.open(self._path(address)) as packed:
                plain = packed.read(LARGEST + 1)
            # A cache may be shared: a small file must not fill the memory.
            return _ANSWERS.validate_json(plain, strict=True) if len(plain) <= LARGEST else None
        except (OSError, EOFError, zlib.error, ValidationError):
            return None

    def keep(self, address: str, answers: Answers) -> None:
        """Keep answers; those that failed are left out, to be asked again."""
        answered = answers.without(answers.failed) if answers.failed else answers
        with write_errors(
            f"answers can't be kept in {self._folder}",
            expected="a writable place with room for it",
            remedy="free some room, or name another place with --cache-dir",
        ):
            write_whole(self._path(address), gzip.compress(_ANSWERS.dump_json(answered), FAST, mtime=0))

    def drop(self, address: str) -> None:
        """Forget what is kept at an address."""
        self._path(address).unlink(missing_ok=True)

    def _path(self, address: str) -> Path:
        return self._folder / address[:2] / f"{address}.json.gz"
