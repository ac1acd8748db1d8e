"""What matching by text found: exact and fuzzy matches apart, and what another threshold would find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallbench.cases.answer import Answer
from recallbench.cases.case import Case
from recallbench.cases.judging import DecidedBy, Texts, judge_by_text, text_of_hit
from recallbench.cases.nearness import Near
from recallbench.corpora.matching.method import SENSITIVITY, Matching
from recallbench.corpora.matching.text_matching import Likeness, Read, first_match, random_matches
from recallbench.corpora.records import RandomMatches
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.recall_frac import RecallFrac


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """The same rankings at one threshold; None stands for exact matches alone."""

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
    """By case how near each retrieved text came; of those alone that a text decides.

    What hybrid took by its id is neither an exact nor a fuzzy find.
    """

    cases: tuple[Case, ...]
    ways: tuple[DecidedBy, ...]
    likenesses: tuple[tuple[Likeness, ...], ...]
    matching: Matching
    random: RandomMatches

    def found(self, k: int) -> tuple[int, int, int]:
        """Count the cases whose first match in the top k is exact, those where it is fuzzy, and those without any."""
        exact = fuzzy = none = 0
        by_text = [likes for way, likes in zip(self.ways, self.likenesses, strict=True) if way == "text"]
        for likes in by_text:
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
        return replace(
            self,
            cases=tuple(self.cases[i] for i in chosen),
            ways=tuple(self.ways[i] for i in chosen),
            likenesses=tuple(self.likenesses[i] for i in chosen),
        )

    def _at(self, threshold: float | None, k: int) -> AtThreshold:
        way = self.matching.at(threshold)
        by_text = [i for i, one in enumerate(self.ways) if one == "text"]
        judged = judge_by_text([self.cases[i] for i in by_text], [self.likenesses[i] for i in by_text], way, k)
        random = self.random.exact if threshold is None else self.random.rates.get(threshold)
        return AtThreshold(threshold, way.rule, _mean(RecallFrac(k), judged), _mean(Mrr(k), judged), random)


def text_findings(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    ways: Sequence[DecidedBy],
    found: Sequence[Sequence[Likeness]],
    matching: Matching,
    texts: Texts | None,
    near: Near,
) -> TextFindings:
    """Return the findings, with the match rate of texts that came back for other cases alone."""
    pool: dict[str, int] = {}
    own: list[set[int]] = []
    for case, answer, way in zip(cases, answers, ways, strict=True):
        said = [text_of_hit(case, id, matching, texts) for id in answer.ids] if way == "text" else []
        own.append({pool.setdefault(text, len(pool)) for text in said})
    by_text = [i for i, way in enumerate(ways) if way == "text"]
    texts_of_all, wanted = list(pool), [cases[i].expected or "" for i in by_text]
    random = random_matches(
        [Read(text) for text in wanted],
        [Read(text, matching.chunk) for text in texts_of_all],
        [own[i] for i in by_text],
        matching.thresholds,
        matching=matching,
        near=lambda one, other: near(wanted[one], texts_of_all[other]),
    )
    return TextFindings(tuple(cases), tuple(ways), tuple(map(tuple, found)), matching, random)


def _mean(measure: RecallFrac | Mrr, judged: Judged) -> float:
    values = measure.values(judged)[judged.gold > 0]
    return float(values.mean()) if len(values) else float(np.nan)
