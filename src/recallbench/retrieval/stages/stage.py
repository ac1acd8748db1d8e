"""The interface of a stage: what it declares, what it is given, what it hands on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from recallbench.progress import Progress
from recallbench.retrieval.stages.candidates import Candidates, Memory
from recallbench.stores.options import StoreOption
from recallbench.stores.store import Query
from recallbench.usage import Usage

Kind = Literal["rewrite", "search", "fuse", "diversify", "rerank", "generate", "judge"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of stages, in the order in which a pipeline has them; diversify and rerank may change places."""


@dataclass(frozen=True, slots=True)
class StageOption(StoreOption):
    """An option of a stage, as in `name = value` of its table in a pipeline's file."""

    required: bool = False
    """Whether a stage without it can't be made."""
    secret: bool = False
    """Whether it may hold a password (an address): it is recorded without."""
    decides: bool = True
    """Whether it decides what comes out; what does not, such as an address, is neither in words nor in the hash."""
    record: Callable[[str], str] = str
    """Turns a value into what results have of it, such as a folder into its name."""

    @property
    def typed(self) -> str:
        return f"`{self.name}`"

    @property
    def description(self) -> str:
        return self.help + (f" [default: {self.default}]" if self.default else " [required]" if self.required else "")


@dataclass(frozen=True, slots=True)
class StageRequest:
    """A stage to be opened: its own name, its options as text, and its surroundings."""

    name: str
    """The name of the stage in its pipeline, for messages."""
    options: Mapping[str, str]
    environ: Mapping[str, str] = field(repr=False, default_factory=dict)
    cache_dir: Path = Path()
    """The folder under which a stage may keep what it need not ask for twice."""
    progress: Progress | None = None
    legs: Sequence[str] = ()
    """The names of the pipeline's legs, in their order."""

    def note(self, text: str) -> None:
        """Say one line to whoever listens, with the stage's name before it."""
        if self.progress is not None:
            self.progress.note(f"{self.name}: {text}")


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    """Some questions of one store, as every stage is given them."""

    queries: Sequence[Query]
    memory: Memory
    timed: bool = False
    """Whether these questions are timed one by one: nothing may be remembered from before."""

    def __len__(self) -> int:
        return len(self.queries)


@dataclass(frozen=True, slots=True)
class Variant:
    """A text that is searched for in place of the question or beside it."""

    text: str
    as_passage: bool = False
    """Whether it is embedded as what is searched, and not as a question."""


class Stage(ABC):
    """One stage of a pipeline."""

    kind: ClassVar[Kind]
    method: ClassVar[str]
    """The name in a pipeline's file, unique among the methods of its kind."""
    summary: ClassVar[str]
    """What it does, in a few words."""
    options: ClassVar[tuple[StageOption, ...]] = ()
    needs_texts: ClassVar[bool] = False
    """Whether it reads the texts of candidates."""
    needs_vectors: ClassVar[bool] = False
    """Whether it reads the vectors of candidates and questions."""
    asks_endpoint: ClassVar[bool] = False
    """Whether it asks a server that may fail on a question."""
    slow: ClassVar[bool] = False
    """Whether it takes milliseconds or more for a question: what it did is then kept and not done twice."""

    @classmethod
    @abstractmethod
    def open(cls, request: StageRequest) -> Self:
        """Return the stage, ready to work; raises Blocked where something it needs is missing."""

    @classmethod
    def endpoint_status(cls, request: StageRequest) -> tuple[bool, str, str]:
        """Return whether the server that it asks could be asked now, what was seen, and what would help if not."""
        return True, "asks no server", ""

    @classmethod
    def check(cls, options: Mapping[str, str]) -> None:
        """Raise UsageError where options don't go together; each value was checked by itself before."""
        return

    @classmethod
    def most_looked_at(cls, options: Mapping[str, str], given: int) -> int:
        """Return how many of `given` candidates it can move at most."""
        return given

    @classmethod
    def states(cls, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return what `settings` say in every run with these options: an audit holds results to it."""
        return {}

    def settings(self) -> Mapping[str, str]:
        """Return what decides its answers beside its options, such as hashes of weights or a prompt."""
        return {}

    @property
    def usage(self) -> Usage:
        """The tokens that it used since it was opened."""
        return Usage()

    @property
    def waited(self) -> float:
        """Seconds that kept answers took when they were asked for: in timed batches they are part of its time."""
        return 0.0

    @property
    def at_once(self) -> int:
        """How many questions it may be given at a time, each by a thread of its own."""
        return 1

    def circumstances(self) -> Mapping[str, Any]:
        """Return what may differ from run to run, such as how often a cache had the answer."""
        return {}

    def close(self) -> None:
        """Release everything; may be called twice."""
        return


class RewriteStage(Stage):
    """A stage that searches for other texts than the question's own."""

    kind: ClassVar[Kind] = "rewrite"

    @classmethod
    def most_texts(cls, options: Mapping[str, str]) -> int:
        """Return how many texts it gives for one question at most."""
        return 1

    @abstractmethod
    def rewrite(self, batch: QuestionBatch) -> list[list[Variant]]:
        """Return for each question the texts to search for; at least one each."""


class FuseStage(Stage):
    """A stage that makes one list of several."""

    kind: ClassVar[Kind] = "fuse"

    @classmethod
    def check_legs(cls, options: Mapping[str, str], legs: Sequence[str]) -> None:
        """Raise UsageError where the options don't fit these legs."""
        return

    @abstractmethod
    def fuse(self, batch: QuestionBatch, lists: Sequence[Candidates], legs: Sequence[str]) -> Candidates:
        """Return one list for each question; `legs` names the lists, one leg may have several."""


class CandidateStage(Stage):
    """A stage that gives candidates another order, or hands fewer of them on; it adds none."""

    @abstractmethod
    def apply(self, batch: QuestionBatch, candidates: Candidates) -> Candidates:
        """Return the candidates in their new order, with new scores that descend."""


MOST = 10**9
"""The greatest number that an option may count: more than any corpus has, and no more than every store can read."""


def positive(text: str) -> int:
    """Return a whole number from 1 to MOST; raises ValueError for another text."""
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{text[:40]}, which is no whole number") from None
    if not 1 <= number <= MOST:
        raise ValueError(f"{text[:40]}, which is not from 1 to {MOST:,}")
    return number


KEEP = StageOption("keep", "How many candidates it hands on; all where it is left out", parse=positive)
"""An option of every stage that fuses, diversifies or reranks: the pipeline sees to it."""
