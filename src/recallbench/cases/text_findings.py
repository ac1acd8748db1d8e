"""The outcome of matching by text: exact and fuzzy matches apart, and the figures of other thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallbench.cases.nearness import Near
from recallbench.cases.text_judging import MatchedCase, judge_by_text
from recallbench.corpora.matching.method import SENSITIVITY, Matching
from recallbench.corpora.matching.text_matching import ParsedText, first_match, random_matches
from recallbench.corpora.records import RandomMatches
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.recall_frac import RecallFrac


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """The figures of the same rankings at one threshold; None is for exact matches alone."""

    threshold: float | None
    rule: str
    """The method at it."""
    recall: float
    """`recall_frac@k`."""
    mrr: float
    random: float | None
    """The share of random texts that match and should not; None where there were none to draw."""


@dataclass(frozen=True, slots=True, eq=False)
class TextFindings:
    """The cases, with the nearness of each retrieved text where a text decides.

    What hybrid took by its id is neither an exact nor a fuzzy find.
    """

    cases: tuple[MatchedCase, ...]
    matching: Matching
    random: RandomMatches

    def count_first_matches(self, k: int) -> tuple[int, int, int]:
        """Count the cases whose first match in the top k is exact, those where it is fuzzy, and those without any."""
        exact = fuzzy = none = 0
        for likes in (entry.likenesses for entry in self._by_text):
            place = first_match(likes[:k], self.matching)
            by_id = place is not None and likes[place].step(self.matching) == "id"
            exact += place is not None and not by_id and likes[place].exact
            fuzzy += place is not None and not by_id and not likes[place].exact
            none += place is None
        return exact, fuzzy, none

    def sensitivity(self, k: int) -> list[AtThreshold]:
        """Return the figures of exact matches alone, then at each threshold from 0.1 to 0.6 and the method's own."""
        thresholds: list[float | None] = [None, *sorted(self.random.rates or SENSITIVITY)]
        return [self._at(threshold, k) for threshold in thresholds]

    def select(self, chosen: Sequence[int]) -> TextFindings:
        """Return those cases alone; the random match rate stays that of all."""
        return replace(self, cases=tuple(self.cases[i] for i in chosen))

    @property
    def _by_text(self) -> list[MatchedCase]:
        return [case for case in self.cases if case.decided_by == "text"]

    def _at(self, threshold: float | None, k: int) -> AtThreshold:
        way = self.matching.at(threshold)
        likenesses = [entry.likenesses for entry in self._by_text]
        judged = judge_by_text([entry.case for entry in self._by_text], likenesses, way, k)
        random = self.random.exact if threshold is None else self.random.rates.get(threshold)
        return AtThreshold(threshold, way.rule, _mean(RecallFrac(k), judged), _mean(Mrr(k), judged), random)


def text_findings(matched: Sequence[MatchedCase], matching: Matching, near: Near) -> TextFindings:
    """Return the findings, with the match rate of texts that came back for other cases alone."""
    by_text = [entry for entry in matched if entry.decided_by == "text"]
    places: dict[str, int] = {}
    own = [{places.setdefault(text, len(places)) for text in entry.texts} for entry in by_text]
    texts, expected = list(places), [entry.case.expected or "" for entry in by_text]
    random = random_matches(
        [ParsedText(text) for text in expected],
        [ParsedText(text, matching.chunk) for text in texts],
        own,
        matching.thresholds,
        matching=matching,
        near=lambda i, j: near(expected[i], texts[j]),
    )
    return TextFindings(tuple(matched), matching, random)


def _mean(measure: RecallFrac | Mrr, judged: Judged) -> float:
    values = measure.values(judged)[judged.gold > 0]
    return float(values.mean()) if len(values) else float(np.nan)
