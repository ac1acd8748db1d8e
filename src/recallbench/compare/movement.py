"""The protocol's metrics from one result to the next, with their paired differences."""

from __future__ import annotations

from dataclasses import dataclass

from recallbench.compare.pairs import pair
from recallbench.compare.rules import movement_word
from recallbench.results.metrics import OVERALL
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.paired import Paired


@dataclass(frozen=True, slots=True)
class Movement:
    """A metric before and after a change."""

    protocol_name: str
    measure: str
    before: float | None
    after: float | None
    paired: Paired | None
    reason: str = ""
    """Why the difference is not known; empty where it is."""

    @property
    def word(self) -> str:
        """The difference in a word: an improvement has its whole interval above zero."""
        return movement_word(self.paired.low, self.paired.high) if self.paired else movement_word(None, None)


def movements(before: Result, after: Result) -> tuple[Movement, ...]:
    """Return each metric of both results; raises InputError where rankings do not give the figures."""
    stated = {estimate.measure: estimate.value for estimate in before.metrics.estimates.get(OVERALL, [])}
    headline = [part for part in after.headline if part.estimate.measure in stated]
    reason = _incomparable(before, after)
    if headline and not reason:
        reason = _other_questions(before.rankings, after.rankings)
    pairs: list[Paired] | list[None] = [None] * len(headline)
    if headline and not reason:
        pairs = pair(before.rankings, after.rankings, [parse(part.estimate.measure) for part in headline])
    return tuple(
        Movement(
            part.protocol_name,
            part.estimate.measure,
            stated[part.estimate.measure],
            part.estimate.value,
            paired,
            reason,
        )
        for part, paired in zip(headline, pairs, strict=True)
    )


def _incomparable(before: Result, after: Result) -> str:
    if before.metrics.corpus.name != after.metrics.corpus.name:
        return f"one is of {before.metrics.corpus.name}, the other of {after.metrics.corpus.name}"
    if before.metrics.dataset_sha256 != after.metrics.dataset_sha256:
        return "the corpus files differ"
    if before.metrics.retrieval.scope != after.metrics.retrieval.scope:
        return f"one scope is {before.metrics.retrieval.scope}, the other {after.metrics.retrieval.scope}"
    return ""


def _other_questions(first: Rankings, second: Rankings) -> str:
    if first.questions != second.questions:
        return f"{len(first.questions)} questions before, {len(second.questions)} after: not the same ones"
    if first.gold != second.gold:
        return "the gold of some questions differs"
    if first.clusters != second.clusters:
        return "some questions belong to other clusters"
    return "" if first.answerable.any() else "no question has gold"
