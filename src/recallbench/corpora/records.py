"""The records of a corpus: segments, questions, and the haystacks that they belong to."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recallbench.corpora.matching.method import Matching

if TYPE_CHECKING:
    from recallbench.corpora.labelled_sets.canary_record import CanaryRecord


@dataclass(frozen=True, slots=True)
class Segment:
    """One session of a haystack, known in artefacts as `<scope>/<position>`."""

    scope: str
    position: int
    text: str
    occurred_at: datetime | None = None
    session: str = ""
    """The dataset's own id of the session. It may give the answer away: a store never sees it."""
    gold_turns: tuple[int, ...] = ()
    """The start, in characters of `text`, of each turn labelled as evidence."""
    importance: float = 0.5

    @property
    def id(self) -> str:
        return f"{self.scope}/{self.position}"


class NearSegments(Mapping[int, float]):
    """The nearness of segments to an expected text, by position. A large set has millions: 16 bytes each."""

    __slots__ = ("f1", "positions")

    def __init__(self, positions: Iterable[int] = (), values: Iterable[float] = ()) -> None:
        """Positions rise; `values` are of the same length."""
        self.positions = array("q", positions)
        self.f1 = array("d", values)

    def __getitem__(self, position: int) -> float:
        i = bisect_left(self.positions, position)
        if i == len(self.positions) or self.positions[i] != position:
            raise KeyError(position)
        return self.f1[i]

    def __iter__(self) -> Iterator[int]:
        return iter(self.positions)

    def __len__(self) -> int:
        return len(self.positions)

    def moved(self, offset: int) -> NearSegments:
        """The same, each position further on."""
        return NearSegments((offset + position for position in self.positions), self.f1)


_NO_GRADES: Mapping[int, float] = {}
_NOTHING_NEAR = NearSegments()


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with the positions of the segments of its scope that answer it."""

    scope: str
    id: str
    text: str
    gold: frozenset[int]
    kind: str
    asked_at: datetime | None = None
    grades: Mapping[int, float] = field(default_factory=lambda: _NO_GRADES)
    """Graded relevance by position; empty means each gold segment counts 1."""
    cluster: str = ""
    """The questions that the statistics treat as dependent; empty means that this one stands alone."""
    abstention: bool = False
    denominators: frozenset[str] = frozenset()
    """The named denominators that count this question."""
    tenant: str = ""
    """The tenant whose question it is, in a labelled set that has tenants."""
    labelled_at: datetime | None = None
    """The time at which its gold was last looked at."""
    expected: str = ""
    """The text of an answer, where the gold follows from that and not from ids."""
    exact: frozenset[int] = frozenset()
    """Segments that say exactly that."""
    by_id: frozenset[int] = frozenset()
    """The part of such gold that is known by id."""
    one_find: bool = False
    """Its gold segments say one thing: the first that comes back has found it."""
    answer: str = field(default="", compare=False)
    """The right answer in words, as its corpus has it; empty where that has none."""
    declined: bool = field(default=False, compare=False)
    """The right answer is that it can't be answered."""
    name: str = field(default="", compare=False)
    """What people read of it, where its id only counts lines: its text."""
    line: str = field(default="", compare=False)
    """The id by which results of earlier releases may know it; empty where there is none but its own."""
    visible: int | None = None
    """The number of segments, the first of its haystack, that were there when it was asked; None for all of them.

    A corpus says so of all its questions or of none."""
    later: frozenset[int] = frozenset()
    """The positions of segments that its corpus lets it see though they are dated after it."""
    likeness: NearSegments = field(default_factory=lambda: _NOTHING_NEAR)
    """Token F1 between it and the segments that come near, by position; or their relative BM25, where that decides."""

    @property
    def label(self) -> str:
        """The question, for whoever reads of it."""
        return self.name or self.id

    def candidates(self, size: int) -> int:
        """Return how many segments of a haystack of this size it may be answered from."""
        return size if self.visible is None else min(self.visible, size)

    @property
    def is_asked(self) -> bool:
        """Whether it is asked. Without gold, where nothing is to be found, or another threshold may have given it
        some."""
        return bool(self.gold) or self.abstention or bool(self.expected)


@dataclass(frozen=True, slots=True)
class Haystack:
    """A scope: its segments in order, and the questions that may only be answered from it."""

    scope: str
    segments: tuple[Segment, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class CountCheck:
    """One registered fact of a corpus file, beside the file's own."""

    name: str
    expected: str
    found: str

    @property
    def holds(self) -> bool:
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class RandomMatches:
    """The share of texts, drawn at random and not relevant, that match an expected one all the same."""

    pairs: int
    """Pairs of an expected and a drawn text; 0 where there was nothing to draw from."""
    exact: float | None
    rates: Mapping[float, float]
    """The share at each threshold of token F1; empty without pairs."""


@dataclass(frozen=True, slots=True)
class HubFiles:
    """Files of the hub: from which commit they are, and the sha256 of each."""

    repo: str
    revision: str
    qrels_repo: str
    """The dataset of the judgements; empty where it is the same."""
    qrels_revision: str
    files: Mapping[str, str]
    """The hash of each file, by its name here, and by the one it is published under."""
    pinned: frozenset[str]
    """The files whose hash was known beforehand; the others' were recorded at first use."""
    task: str = ""
    """The task of the dataset that they are; empty for a dataset that is one set."""

    def is_pinned(self, name: str) -> bool:
        return name in self.pinned or f"{name}.gz" in self.pinned


@dataclass(frozen=True, slots=True)
class Survey:
    """The counts of one reading of the whole corpus."""

    corpus: str
    file: str
    sha256: str
    registered_sha256: str
    scopes: int
    segments: int
    turns: int
    questions: int
    """Questions in the file, whether or not they have evidence."""
    with_evidence: int
    asked: int
    """Questions that a whole run asks: those with evidence, and those that should find nothing."""
    kinds: Mapping[str, int]
    denominators: Mapping[str, int]
    """Each named denominator with its count, the protocol's first."""
    checks: tuple[CountCheck, ...]
    """Every registered count beside the one of the file."""
    repeated_sessions: int
    empty_turns: int
    repaired_evidence: int
    """Evidence strings that needed an explicit repair."""
    missing_turns: int
    """Evidence references whose turn does not exist though its session does."""
    segments_per_scope: tuple[int, ...] = ()
    unseen_gold: int = 0
    """References to sessions that were not yet there when the question was asked: they are left out of its gold."""
    unjudged: int = 0
    """Queries of a labelled set that its judgements say nothing of: they are passed over."""
    irrelevant: int = 0
    """Queries whose judgements are all of grade 0: they are passed over too."""
    unanswerable: int = 0
    """Queries whose judgements name no document that they may be answered from: they are passed over as well."""
    unknown_gold: int = 0
    """Judgements of others that name no such document."""
    unknown_candidates: int = 0
    """Candidates that name no document."""
    unlisted: int = 0
    """Queries without a list of candidates, in a set that has lists: they may be answered from its whole corpus."""
    published_counts: tuple[CountCheck, ...] = ()
    """The counts that were published of a task of the hub, beside those of its files."""
    matching: Matching | None = None
    """The way in which gold follows from expected texts; None where it is known by id."""
    random_matches: RandomMatches | None = None
    """None where gold is known by id."""
    published: HubFiles | None = None
    """None for files that are not of the hub."""
    canary: tuple[CanaryRecord, str] | None = None
    """The record of a canary of one's own, and its sha256; None for any other corpus."""

    @property
    def registered(self) -> bool:
        """The file is the registered one, byte for byte."""
        return self.sha256 == self.registered_sha256


def ignore(haystack: Haystack) -> None:
    """Listen to no haystack."""


class Corpus(Protocol):
    """A corpus on disk, read as often as asked; a large one is a stream each time and stays out of memory."""

    name: str

    @property
    def clarifications(self) -> tuple[int, ...]:
        """Numbers of the protocol's clarifications that reading this corpus applies."""

    @property
    def matching(self) -> Matching | None:
        """The way in which gold follows from expected texts; None where it is known by id."""

    @property
    def clustered(self) -> bool:
        """Whether questions of one scope are dependent, so that statistics cluster by it."""

    @property
    def path(self) -> Path: ...

    @property
    def sha256(self) -> str:
        """sha256 of the file, computed once."""

    def survey(self, listen: Callable[[Haystack], None] = ignore) -> Survey:
        """Hash the file before parsing it, then read it once and count; `listen` is handed each haystack on the way.

        Raises InputError on bad input.
        """

    def haystacks(self) -> Iterator[Haystack]:
        """Each haystack in file order."""
