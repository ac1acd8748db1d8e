"""From one result to the next: how far the protocol's metrics moved, and whether that can be told from chance."""

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
    found: Paired | None
    reason: str = ""
    """Why nothing is compared; empty where it is."""

    @property
    def word(self) -> str:
        """What may be said of it: an improvement has its whole interval above zero."""
        return movement_word(self.found.low, self.found.high) if self.found else movement_word(None, None)


def movements(before: Result, after: Result) -> tuple[Movement, ...]:
    """Each metric of the second result beside the first; raises InputError where rankings don't give the figures."""
    stated = {one.measure: one.value for one in before.metrics.estimates.get(OVERALL, [])}
    headline = [one for one in after.headline if one.estimate.measure in stated]
    reason = _incomparable(before, after)
    if headline and not reason:
        reason = _other_questions(before.rankings, after.rankings)
    pairs: list[Paired] | list[None] = [None] * len(headline)
    if headline and not reason:
        pairs = pair(before.rankings, after.rankings, [parse(one.estimate.measure) for one in headline])
    return tuple(
        Movement(
            one.protocol_name,
            one.estimate.measure,
            stated[one.estimate.measure],
            one.estimate.value,
            found,
            reason,
        )
        for one, found in zip(headline, pairs, strict=True)
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
