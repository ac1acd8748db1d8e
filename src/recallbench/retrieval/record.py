"""The record of a retrieval: which questions were asked, and every ranking that came back."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from recallbench.corpora.records import Question
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.pipeline.trace import QuestionTrace
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.timing import Timings


def question_labels(questions: Sequence[Question]) -> dict[str, str]:
    """Return what people read of each question, by its id: what its set calls it, if no other is called so."""
    counts = Counter(question.label for question in questions)
    return {question.id: question.label if counts[question.label] == 1 else question.id for question in questions}


@dataclass(frozen=True, slots=True)
class Calls:
    """The depths asked for: recall is scored from a call with k, MRR from one with the full depth."""

    k: int = 10
    depth: int = 50


@dataclass(slots=True)
class SegmentTokens:
    """The number of tokens of each segment, and where the encoder cut it."""

    tokens: array[int] = field(default_factory=lambda: array("i"))
    truncated: bytearray = field(default_factory=bytearray)
    """1 where the encoder did not see all of it."""
    gold_turn_starts: array[int] = field(default_factory=lambda: array("i"))
    gold_turn_cuts: array[int] = field(default_factory=lambda: array("i"))
    """For each labelled turn the character at which the text it stands in was cut."""


@dataclass(slots=True)
class Retrieval:
    """All questions and their rankings, in corpus order: every figure follows from these."""

    calls: Calls = Calls()
    questions: list[Question] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)
    """The number of segments that each question may be answered from."""
    rankings: list[Ranking] = field(default_factory=list)
    short: list[Ranking] | None = None
    """The k-deep calls; None where the store is prefix-stable and one call serves both."""
    control: list[Ranking] = field(default_factory=list)
    static: list[Ranking] | None = None
    """Those of the static control; None where it was not asked for."""
    segments: int = 0
    """The number of segments that the store was given."""
    failed: list[str] = field(default_factory=list)
    """Ids of the questions that the store failed on."""
    characters: dict[str, Sequence[int]] = field(default_factory=dict)
    """By scope, the length of each segment's text."""
    stored: dict[str, int] = field(default_factory=dict)
    """The bytes that the store said it held of all segments, by what they are; empty where it did not say."""
    vectors_sha256: str = ""
    version: str = ""
    """The version that the store stated before the first item went in."""
    tokens: SegmentTokens | None = None
    """None where nothing was embedded."""
    traces: list[QuestionTrace] = field(default_factory=list)
    """What each stage of a pipeline handed on, question by question; empty without a pipeline."""
    time: str = ""
    """How questions were held to what was said before them, `filtered` or `replayed`; empty where none was."""
    timings: Timings = field(default_factory=Timings)
    failures: Failures = field(default_factory=Failures)
