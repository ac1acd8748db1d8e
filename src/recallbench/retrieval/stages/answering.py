"""The interface of the stages behind the ranking: one answers from what was retrieved, others judge the answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from recallbench.corpora.records import Question, Segment
from recallbench.errors import Blocked, InputError
from recallbench.retrieval.stages.stage import Kind, Stage
from recallbench.usage import Usage

CORRECT, FAITHFUL = "correctness", "faithfulness"
"""What a judge may be asked, by the names of its own words."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a stage came by the words of its models."""

    kept: bool = False
    """Whether any of them had been kept."""
    waited: float = 0.0
    """The seconds that those took when they were asked for."""
    cold: bool = False
    """Whether any of them was asked for before the first had come in its run."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What a stage answered to a question."""

    text: str
    context: tuple[str, ...]
    """The ids of the segments that it was given, best first."""
    usage: Usage | None = None
    """What it cost; None where that was not said."""
    cut: bool = False
    """Whether it ends because it was long enough."""
    asking: Asking = field(default=Asking(), compare=False)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge found of an answer."""

    correct: float | None = None
    """How far it says what the right answer says, from 0 to 1; None where that is not known or was not decided."""
    faithful: float | None = None
    """How far the context supports it, from 0 to 1; None where that was not asked or not decided."""
    raw: Mapping[str, str] = field(default_factory=dict)
    """The judge's own words, by what it was asked."""
    usage: Usage | None = None
    failures: Mapping[str, InputError | Blocked] = field(default_factory=dict)
    """Why it could not be asked, by what it could not be asked."""
    asking: Asking = field(default=Asking(), compare=False)


class AnswerStage(Stage):
    """A stage that answers questions."""

    kind: ClassVar[Kind] = "generate"

    @classmethod
    @abstractmethod
    def context_of(cls, options: Mapping[str, str]) -> int:
        """Return how many of the segments of a ranking it is given at most."""

    @abstractmethod
    def answer(self, question: Question, context: Sequence[Segment]) -> GivenAnswer:
        """Return its answer from these segments, best first; raises InputError or Blocked where it gets none."""


class JudgeStage(Stage):
    """A stage that says how good an answer is."""

    kind: ClassVar[Kind] = "judge"
    in_steps: ClassVar[bool] = True
    """Whether it finds an answer right or wrong, and nothing between."""

    @abstractmethod
    def judge(self, question: Question, context: Sequence[Segment], answer: str) -> Judgement:
        """Return what it finds; `context` is what the answer was given from.

        Raises InputError or Blocked where it can't be asked anything.
        """

    @classmethod
    @abstractmethod
    def again(cls, question: Question, answer: str, raw: Mapping[str, str]) -> Judgement | None:
        """Return the judgement that follows from what a result has of it; None where that takes the right answer, and
        the question has none."""
