"""What matching by text found: exact and fuzzy matches apart, and what another threshold would have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallbench.evaluation.answer import Answer
from recallbench.evaluation.case import Case
from recallbench.evaluation.judging import Texts, Way, judged_by_text, text_of
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.recall_frac import RecallFrac
from recallbench.scoring.text_matching import (
    SENSITIVITY,
    Likeness,
    Matching,
    RandomMatches,
    Read,
    first_match,
    random_matches,
)


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """The same rankings at one threshold of token F1; None stands for exact matches alone."""

    threshold: float | None
    recall: float
    """`recall_frac@k`."""
    mrr: float
    random: float | None
    """The share of random texts that match and should not; None where there were none to draw."""


@dataclass(frozen=True, slots=True, eq=False)
class TextFindings:
    """By case how near each retrieved text came; of those alone that a text decides."""

    cases: tuple[Case, ...]
    ways: tuple[Way, ...]
    likenesses: tuple[tuple[Likeness, ...], ...]
    matching: Matching
    random: RandomMatches

    def found(self, k: int) -> tuple[int, int, int]:
        """Cases whose first match in the top k is exact, those where it is fuzzy, and those without any."""
        exact = fuzzy = 0
        asked = [likes for way, likes in zip(self.ways, self.likenesses, strict=True) if way == "text"]
        for likes in asked:
            place = first_match(likes[:k], self.matching)
            exact += place is not None and likes[place].exact
            fuzzy += place is not None and not likes[place].exact
        return exact, fuzzy, len(asked) - exact - fuzzy

    def sensitivity(self, k: int) -> list[AtThreshold]:
        """Exact matches alone, then each threshold from 0.1 to 0.6 and the method's own."""
        thresholds: list[float | None] = [None, *sorted(self.random.rates or SENSITIVITY)]
        return [self._at(threshold, k) for threshold in thresholds]

    def select(self, chosen: Sequence[int]) -> TextFindings:
        """Those cases alone; the random match rate stays that of all."""
        return replace(
            self,
            cases=tuple(self.cases[i] for i in chosen),
            ways=tuple(self.ways[i] for i in chosen),
            likenesses=tuple(self.likenesses[i] for i in chosen),
        )

    def _at(self, threshold: float | None, k: int) -> AtThreshold:
        way = Matching("exact", chunk=self.matching.chunk) if threshold is None else Matching("tokens", threshold)
        asked = [i for i, one in enumerate(self.ways) if one == "text"]
        judged = judged_by_text([self.cases[i] for i in asked], [self.likenesses[i] for i in asked], way, k)
        random = self.random.exact if threshold is None else self.random.rates.get(threshold)
        return AtThreshold(threshold, _mean(RecallFrac(k), judged), _mean(Mrr(k), judged), random)


def text_findings(
    cases: Sequence[Case],
    answers: Sequence[Answer],
    ways: Sequence[Way],
    found: Sequence[Sequence[Likeness]],
    matching: Matching,
    texts: Texts | None,
) -> TextFindings:
    """With the match rate of texts that came back for other cases, and not for this one."""
    pool: dict[str, int] = {}
    own: list[set[int]] = []
    for case, answer, way in zip(cases, answers, ways, strict=True):
        said = [text_of(case, id, texts) for id in answer.ids] if way == "text" else []
        own.append({pool.setdefault(text, len(pool)) for text in said})
    asked = [i for i, way in enumerate(ways) if way == "text"]
    thresholds = sorted({*SENSITIVITY, matching.threshold}) if matching.method == "tokens" else list(SENSITIVITY)
    random = random_matches(
        [Read(cases[i].expected or "") for i in asked],
        [Read(text, matching.chunk) for text in pool],
        [own[i] for i in asked],
        thresholds,
    )
    return TextFindings(tuple(cases), tuple(ways), tuple(map(tuple, found)), matching, random)


def _mean(measure: RecallFrac | Mrr, judged: Judged) -> float:
    values = measure.values(judged)[judged.gold > 0]
    return float(values.mean()) if len(values) else float(np.nan)
