"""`stages.jsonl`: what each stage of a pipeline handed on for each question, so that its figures can be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_core import to_json

from recallbench.results.rows import RowPart, read_models
from recallbench.retrieval.pipeline.trace import Handed, QuestionTrace

NAME = "stages.jsonl"
"""A file of results that were made by a pipeline; its rows stand in the order of raw_retrievals.jsonl."""


class HandedRow(RowPart):
    """The list that a stage handed on."""

    stage: str
    positions: list[int] = Field(description="places in the question's haystack, best first")
    scores: list[float]


class StageRow(RowPart):
    """What the stages did for one question."""

    question_id: str
    handed: list[HandedRow] = Field(description="of each stage that makes a list, in the order of the pipeline")
    variants: list[str] = Field(default=[], description="sha256 of each text that was searched for in place of it")
    texts: list[str] = Field(default=[], description="those texts, where the result was written with text")
    without: dict[str, list[int]] = Field(description="by stage, the ranking of the same pipeline without it")
    alone: dict[str, list[int]] = Field(
        default={}, description="by leg but the first, the ranking of that leg alone without the fusion"
    )
    again: list[str] = Field(default=[], description="stages whose absence could only be seen by running them again")

    @property
    def trace(self) -> QuestionTrace:
        """The trace that the row was written from; without the texts, if they were not written."""
        return QuestionTrace(
            self.question_id,
            tuple(Handed(each.stage, tuple(each.positions), tuple(each.scores)) for each in self.handed),
            tuple(self.texts),
            {stage: tuple(positions) for stage, positions in self.without.items()},
            frozenset(self.again),
            {leg: tuple(positions) for leg, positions in self.alone.items()},
        )


def rows(traces: Iterable[QuestionTrace], *, with_text: bool) -> Iterator[str]:
    """Yield a JSON line for each question: positions and scores, no corpus text."""
    for trace in traces:
        row: dict[str, Any] = {
            "question_id": trace.question_id,
            "handed": [
                {"stage": handed.stage, "positions": handed.positions, "scores": handed.scores}
                for handed in trace.handed
            ],
        }
        if trace.variants:
            row["variants"] = [hashlib.sha256(text.encode()).hexdigest() for text in trace.variants]
            if with_text:
                row["texts"] = trace.variants
        row["without"] = trace.without
        if trace.alone:
            row["alone"] = trace.alone
        if trace.again:
            row["again"] = sorted(trace.again)
        yield to_json(row).decode() + "\n"


def read_stages(folder: Path) -> list[StageRow]:
    """Return every row, in file order; raises InputError, naming the line, for one that is malformed."""
    return read_models(folder, NAME, StageRow)
