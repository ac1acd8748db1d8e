"""Gold that follows from expected texts, in `metrics.json`."""

from __future__ import annotations

from pydantic import Field

from recallbench.results.metrics_part import MetricsPart


class ThresholdPart(MetricsPart):
    """The same rankings at one threshold, of relative BM25 where the method is bm25, else of token F1."""

    threshold: float | None = Field(description="null stands for exact matches alone")
    questions: int = Field(description="that something matches")
    gold: int = Field(description="segments that match, over all questions")
    recall_frac_10: float | None = Field(description="recall_frac@10 of the questions that something matches")
    recall_frac_10_of_all: float | None = Field(description="the same over all questions, the others as 0")
    random: float | None = Field(
        description="share of random segments that match: drawn over the whole set, leaving out what says the expected "
        "text exactly and what comes nearest to it; null where there were none to draw"
    )


class DecidedPart(MetricsPart):
    """The questions of a mixed set whose gold is known in one way."""

    questions: int
    recall_any_10: float | None
    mrr: float | None = Field(description="at the depth of the rankings")


class SharePart(MetricsPart):
    """One step of hybrid matching."""

    step: str = Field(description="id, exact or tokens, in the order in which they are tried")
    gold: int = Field(description="segments that are gold by it, and by no step before it")
    found_10: int = Field(description="questions whose first gold segment among the first 10 is gold by it")
    share: float | None = Field(description="of the questions that have gold")


class MatchingPart(MetricsPart):
    """Gold that follows from expected texts."""

    method: str = Field(description="what makes a segment gold, with its threshold and chunk")
    questions: int = Field(description="that say what they expect")
    by_id: DecidedPart | None = Field(
        default=None, description="questions whose gold is known by id; null where texts decide all"
    )
    by_text: DecidedPart | None = Field(default=None, description="the others that have gold, apart")
    shares: list[SharePart] | None = Field(
        default=None, exclude_if=lambda value: value is None, description="of hybrid, what each step did"
    )
    exact: int = Field(description="gold segments that say it word by word")
    fuzzy: int = Field(description="gold segments that come near")
    exact_questions: int = Field(description="questions with an exact match")
    fuzzy_questions: int = Field(description="questions with fuzzy matches alone")
    without: int = Field(description="questions that nothing matches: 0 in the denominator, and in no mean")
    unmatched: list[str] = Field(description="their ids, at most 20")
    random_pairs: int = Field(description="pairs of an expected and a random text behind the random match rates")
    sensitivity: list[ThresholdPart]
