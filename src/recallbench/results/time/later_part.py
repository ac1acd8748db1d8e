"""Sessions that are dated after the question which they may answer, in a result."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


class LaterFigurePart(MetricsPart):
    """A measure both ways."""

    measure: str
    value: float | None = Field(description="as everywhere in this result: sessions count whatever their date")
    without: float | None = Field(description="with the sessions dated after the question taken out")
    n: int = Field(description="questions that have gold both ways, of which both values are the mean")


class LaterPart(MetricsPart):
    """What sessions are worth that are dated after the question, of a corpus that lets it see them.

    They are taken out of its gold, its haystack and its ranking, in which the hits behind them move up: what would have
    come behind the last hit is not known, and BM25 has counted their words.
    """

    questions: int = Field(description="asked questions that have such sessions")
    segments: int = Field(description="such sessions, over these questions")
    gold: int = Field(description="of these, how many are gold")
    emptied: int = Field(description="questions of which all gold is among them: no figure below counts these")
    of_these: list[LaterFigurePart] = Field(description="over the questions that have such sessions")
    of_all: list[LaterFigurePart] = Field(description="over all questions")
