"""A corpus that is counted while it is read: the part that all readers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

from recallbench.corpora.census import Census, Oddities
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.records import Haystack, Survey, ignore
from recallbench.protocol.rules import CorpusRules, Rules


class SurveyedCorpus(ABC):
    """Haystacks from files that are hashed before they are parsed."""

    clustered: ClassVar[bool] = False
    clarifications: ClassVar[tuple[int, ...]] = ()
    denominators: ClassVar[tuple[str, ...]] = ("all",)
    """The denominators that questions are counted under, the protocol's first."""
    small: ClassVar[bool] = False
    """Keep the haystacks that `survey` read, so that files are parsed once."""
    matching: ClassVar[Matching | None] = None

    def __init__(self, facts: CorpusRules, rules: Rules) -> None:
        self.name = facts.name
        self.facts = facts
        self.rules = rules
        self._haystacks: tuple[Haystack, ...] = ()

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where it lies."""

    @property
    @abstractmethod
    def file(self) -> str:
        """What results call its file."""

    @property
    @abstractmethod
    def sha256(self) -> str:
        """The hash of all that it consists of."""

    @abstractmethod
    def read_haystacks(self, oddities: Oddities) -> Iterator[Haystack]:
        """Yield each haystack in the corpus' own order; accepted oddities are counted in `oddities`."""

    def survey(self, listen: Callable[[Haystack], None] = ignore) -> Survey:
        sha256 = self.sha256
        census, oddities = Census(), Oddities()
        haystacks = self.read_haystacks(oddities)
        if self.small:
            self._haystacks = tuple(haystacks)
            haystacks = iter(self._haystacks)
        for haystack in haystacks:
            census.count(haystack)
            listen(haystack)
        return census.survey(self.path, self.file, sha256, self.facts, oddities, self.denominators)

    def haystacks(self) -> Iterator[Haystack]:
        return iter(self._haystacks) if self._haystacks else self.read_haystacks(Oddities())
