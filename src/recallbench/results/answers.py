"""`answers.jsonl`: what was answered to each question, from which segments, and what judges said of it.

Answers and verdicts are a model's own words, which may repeat words of the corpus; the right answers, which are the
corpus's, stand in it only where the result was written with text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field
from pydantic_core import to_json

from recallbench.results.rows import RowPart, read_models
from recallbench.usage import Usage

NAME = "answers.jsonl"
"""A file of results whose pipeline answers; its rows stand in the order of raw_retrievals.jsonl."""


class UsageRow(RowPart):
    """Tokens by what they cost."""

    fresh: int = Field(ge=0)
    cache_read: int = Field(ge=0)
    cache_write: int = Field(ge=0)
    output: int = Field(ge=0)

    @classmethod
    def of(cls, usage: Usage | None) -> UsageRow | None:
        """Return the row of a usage; None where there is none."""
        return None if usage is None else cls(**usage.document())

    @property
    def usage(self) -> Usage:
        """The usage that it was written from."""
        return Usage(self.fresh, self.cache_read, self.cache_write, self.output)


class JudgedRow(RowPart):
    """What one judge said of an answer."""

    judge: str = Field(description="the name of its stage")
    correct: float | None = Field(default=None, ge=0, le=1)
    faithful: float | None = Field(default=None, ge=0, le=1)
    raw: Mapping[str, str] = Field(default={}, description="its own words, by what it was asked")
    usage: UsageRow | None = None
    failed: bool = Field(default=False, description="it could not be asked: that counts as the worst answer")
    unasked: list[str] = Field(default=[], description="what alone it could not be asked: that counts as the worst")


class AnswerRow(RowPart):
    """One question and its answer."""

    question_id: str
    known: bool = Field(description="it is known what the right answer is")
    declined: bool = Field(default=False, description="the right answer is that there is none")
    context: list[str] = Field(description="ids of the segments that it was answered from, best first")
    answer: str | None = Field(default=None, description="null where there is none: that counts as the worst")
    cut: bool = Field(default=False, description="it ends because it was long enough")
    usage: UsageRow | None = None
    judged: list[JudgedRow] = Field(default_factory=list)
    right: str | None = Field(default=None, description="the right answer, where the result was written with text")


def rows(answers: Iterable[AnswerRow], right: Mapping[str, str] | None) -> Iterator[str]:
    """Yield a JSON line for each question; `right` has the right answers where they are to stand in it."""
    for answer in answers:
        row = answer if right is None else answer.model_copy(update={"right": right.get(answer.question_id) or None})
        yield to_json(row.model_dump(exclude_defaults=True)).decode() + "\n"


def read_answers(folder: Path) -> list[AnswerRow]:
    """Return every row, in file order; raises InputError, naming the line, for one that is malformed."""
    return read_models(folder, NAME, AnswerRow)
