"""A corpus in one JSON file: the part that all readers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

from recallbench.corpora.census import Census, Oddities
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.records import Haystack, Survey, ignore
from recallbench.corpora.stream import Stream
from recallbench.protocol.rules import CorpusRules, Rules


class FileCorpus(ABC):
    """A list of items in one file, hashed before it is parsed. A reader gives `read`, and overrides what differs."""

    clustered: ClassVar[bool] = False
    clarifications: ClassVar[tuple[int, ...]] = ()
    denominators: ClassVar[tuple[str, ...]] = ("all",)
    """The denominators that `read` counts questions under, the protocol's first."""
    small: ClassVar[bool] = False
    """Keep the haystacks that `survey` read, so that the file is parsed once."""
    matching: ClassVar[Matching | None] = None

    def __init__(self, path: Path, facts: CorpusRules, rules: Rules) -> None:
        self.name = facts.name
        self.facts = facts
        self.rules = rules
        self._stream = Stream(path, facts.name)
        self._haystacks: tuple[Haystack, ...] = ()

    @property
    def path(self) -> Path:
        return self._stream.path

    @property
    def sha256(self) -> str:
        return self._stream.sha256

    def survey(self, listen: Callable[[Haystack], None] = ignore) -> Survey:
        sha256 = self.sha256
        census, oddities = Census(), Oddities()
        haystacks = self.read(self._stream, oddities)
        if self.small:
            self._haystacks = tuple(haystacks)
            haystacks = iter(self._haystacks)
        for haystack in haystacks:
            census.count(haystack)
            listen(haystack)
        return census.survey(self.path, sha256, self.facts, oddities, self.denominators)

    def haystacks(self) -> Iterator[Haystack]:
        return iter(self._haystacks) if self._haystacks else self.read(self._stream, Oddities())

    @abstractmethod
    def read(self, stream: Stream, oddities: Oddities) -> Iterator[Haystack]:
        """Yield each haystack in file order; accepted oddities are counted in `oddities`."""
