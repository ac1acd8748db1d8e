"""The answers in `metrics.json`: how many are right, and how many the context supports."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


class TokensPart(MetricsPart):
    """Tokens by what they cost, of the answers that say it."""

    fresh: int
    cache_read: int = Field(description="of prompts, that the endpoint had kept")
    cache_write: int = Field(description="of prompts, that it read anew and kept")
    output: int
    uncounted: int = Field(description="answers that do not say what they cost")


class AnswerSharePart(MetricsPart):
    """A mean over answers."""

    value: float | None
    n: int
    low: float | None = Field(description="lower end of the 95% interval")
    high: float | None
    method: str = Field(description="how the interval was made")
    design_effect: float | None = Field(description="clustered variance over the variance of independent questions")


class JudgePart(MetricsPart):
    """What one judge found."""

    name: str = Field(description="of its stage")
    correct: dict[str, AnswerSharePart] = Field(description="by slice; of questions whose right answer is known")
    faithful: dict[str, AnswerSharePart] = Field(description="by slice; empty where it was not asked for that")
    with_gold: AnswerSharePart = Field(description="correct, of answers that had a gold segment in their context")
    without_gold: AnswerSharePart = Field(description="correct, of answers to questions with gold that had none of it")
    undecided: int = Field(description="verdicts that say neither yes nor no: no mean counts them")
    failed: list[str] = Field(
        description="questions that it could not be asked all about: what is missing counts as the worst"
    )
    tokens: TokensPart | None


class JudgesPart(MetricsPart):
    """The agreement of two judges."""

    first: str
    second: str
    of: str = Field(description="correct or faithful")
    n: int = Field(description="answers that both decided")
    agreement: float | None = Field(description="the share on which they agree; a value of one half or more is a yes")
    kappa: float | None = Field(description="Cohen's; null where each always said the same")


class AnswersPart(MetricsPart):
    """What was answered from the rankings."""

    generator: str = Field(description="the name of the stage that answered")
    questions: int
    unknown: int = Field(description="of these, how many have no known right answer")
    failed: list[str] = Field(description="questions that got no answer: they count as the worst one")
    cut: int = Field(description="answers that end because they were long enough")
    context: float | None = Field(description="segments that an answer was given from, on average")
    tokens: TokensPart | None = Field(description="of answering; null where no answer says what it cost")
    judges: list[JudgePart]
    agreement: list[JudgesPart]
