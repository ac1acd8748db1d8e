"""What a question costs at a point: the time of its search on a processor, and the hits that an answer is made from."""

from __future__ import annotations

from recallbench.scoring.costs import CHARACTERS, Prices
from recallbench.studies.sweep.measuring import PointOutcome
from recallbench.studies.sweep.questions import SweepQuestions

_HOUR_MS, _MILLION = 3.6e6, 1e6


def usd_per_1000(outcome: PointOutcome, questions: SweepQuestions, prices: Prices) -> float | None:
    """Return the dollars for 1,000 questions; None where a part of them is not known.

    One processor works for as long as a single search takes, and the first k hits are sent to the model that answers,
    by four characters a token. What stages ask of other models is not counted here, so that such a point has none.
    """
    answers, pipeline = outcome.answers, outcome.point.plan.pipeline
    model = prices.model(prices.answering) if prices.answering else None
    if answers is None or outcome.failure or prices.currency != "USD" or prices.processor_hour is None or model is None:
        return None
    if not answers.milliseconds or (pipeline is not None and pipeline.asks_endpoint):
        return None
    lengths = {haystack.scope: [len(segment.text) for segment in haystack.segments] for haystack in questions.haystacks}
    k, short = outcome.point.measure.k, answers.short
    asked = [question for question in questions.asked if question.id in answers.deep]
    characters = 0
    for question in asked:
        shallow = short is not None and k <= outcome.point.plan.rules.default_k
        hits = (short or {}).get(question.id, ()) if shallow else answers.deep[question.id]
        of_scope = lengths[question.scope]
        characters += sum(map(of_scope.__getitem__, hits[:k]))
    search = sum(answers.milliseconds.values()) / len(answers.milliseconds) * prices.processor_hour / _HOUR_MS
    context = characters / len(asked) / CHARACTERS * model.fresh / _MILLION
    return round(1000 * (search + context), 6)
