"""Answers that were measured and are kept by their address, so that no sweep asks for them twice."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from recallbench.corpora.records import Question
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.whole_file import write_errors, write_whole

FOLDER = "sweeps"
"""The folder of kept answers, in that of the vectors."""
FAST = 1
"""The level of compression: a race keeps the answers of a point after each block."""


@dataclass(slots=True)
class Answers:
    """What one system answered to some or all questions."""

    version: str
    """As its store stated it."""
    deep: dict[str, list[int]] = field(default_factory=dict)
    """Haystack positions by question, best first."""
    short: dict[str, list[int]] | None = None
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
        timed = self.milliseconds

        def others(kept: Mapping[str, list[int]]) -> dict[str, list[int]]:
            return {id: positions for id, positions in kept.items() if id not in timed}

        short = None if self.short is None else others(self.short)
        return replace(self, deep=others(self.deep), short=short, milliseconds={})

    def retrieval(self, questions: Sequence[Question], sizes: Mapping[str, int], calls: Calls) -> Retrieval:
        """Return the answers to these questions as every scorer takes them; `sizes` are those of the haystacks."""

        def rankings(kept: Mapping[str, list[int]]) -> list[Ranking]:
            return [Ranking(question.id, tuple(kept[question.id]), ()) for question in questions]

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
            return _ANSWERS.validate_json(gzip.decompress(self._path(address).read_bytes()), strict=True)
        except (OSError, EOFError, zlib.error, ValidationError):
            return None

    def keep(self, address: str, answers: Answers) -> None:
        """Keep answers; those that failed are left out, to be asked again."""
        whole = {each.name: getattr(answers, each.name) for each in fields(answers) if each.name != "failed"}
        for name in ("deep", "short", "milliseconds"):
            if answers.failed and whole[name] is not None:
                whole[name] = {id: value for id, value in whole[name].items() if id not in answers.failed}
        with write_errors(
            f"answers can't be kept in {self._folder}",
            expected="a writable place with room for it",
            remedy="free some room, or name another place with --cache-dir",
        ):
            write_whole(self._path(address), gzip.compress(json.dumps(whole).encode(), FAST, mtime=0))

    def drop(self, address: str) -> None:
        """Forget what is kept at an address."""
        self._path(address).unlink(missing_ok=True)

    def _path(self, address: str) -> Path:
        return self._folder / address[:2] / f"{address}.json.gz"
