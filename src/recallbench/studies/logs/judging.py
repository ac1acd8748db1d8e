"""Logged recalls judged by their labels: by the ids that came back, or by their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from recallbench.cases.case import Case
from recallbench.cases.text_judging import judge_by_text
from recallbench.corpora.matching.method import SENSITIVITY, Matching
from recallbench.corpora.matching.text_matching import (
    Likeness,
    ParsedText,
    first_match,
    likeness,
    random_matches,
    refuse_random_matches,
)
from recallbench.corpora.recall_log import Recall
from recallbench.corpora.records import RandomMatches
from recallbench.errors import InputError
from recallbench.reports.log_scores import MatchedPart
from recallbench.scoring.judgement import Floats, judge
from recallbench.scoring.measures.measure import Measure
from recallbench.studies.logs.labels import QueryLabel


class RecallJudge(Protocol):
    """Judges logged recalls, each a row of values."""

    @property
    def columns(self) -> int:
        """The number of values for each query: the measures first."""

    def can_judge(self, label: QueryLabel, recall: Recall) -> bool:
        """Whether the recall can be judged at all."""

    def values(self, block: Sequence[tuple[QueryLabel, Recall]]) -> Floats:
        """A row for each recall."""


class IdJudge:
    """Judges by ids: those that the label names are gold."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures

    @property
    def columns(self) -> int:
        return len(self._measures)

    def can_judge(self, label: QueryLabel, recall: Recall) -> bool:
        return True

    def values(self, block: Sequence[tuple[QueryLabel, Recall]]) -> Floats:
        rankings, gold, sizes, grades = [], [], [], []
        for label, recall in block:
            places = {id: place for place, id in enumerate(label.grades)}
            rankings.append([places.setdefault(id, len(places)) for id in recall.ids])
            gold.append(frozenset(places[id] for id in label.relevant))
            grades.append({places[id]: grade for id, grade in label.grades.items()})
            sizes.append(len(places))
        depth = max(measure.k for measure in self._measures)
        judged = judge(rankings, gold, sizes, depth, grades)
        return np.column_stack([measure.values(judged) for measure in self._measures])


class TextJudge:
    """Judges by texts: those that say the expected text are gold; where a label has ids, these are.

    Behind the measures stands the first of them at each threshold.
    """

    def __init__(self, measures: Sequence[Measure], matching: Matching, allow_random_matches: bool) -> None:
        self._measures, self._matching = measures, matching
        self._allow_random_matches = allow_random_matches
        own = {matching.threshold} if matching.method == "tokens" else set()
        self._thresholds = sorted({*SENSITIVITY, *own})
        self._by_id = self._exact = self._fuzzy = self._without = 0
        self._random: RandomMatches | None = None

    @property
    def columns(self) -> int:
        return len(self._measures) + 1 + len(self._thresholds)

    def can_judge(self, label: QueryLabel, recall: Recall) -> bool:
        return bool(recall.texts) or not recall.ids or not label.expected

    def values(self, block: Sequence[tuple[QueryLabel, Recall]]) -> Floats:
        by_id = [i for i, (label, _) in enumerate(block) if not label.expected]
        by_text = [i for i, (label, _) in enumerate(block) if label.expected]
        values = np.empty((len(block), self.columns))
        if by_id:
            of_ids = IdJudge(self._measures).values([block[i] for i in by_id])
            # No threshold changes what an id decides.
            values[by_id] = np.column_stack([of_ids, *[of_ids[:, 0]] * (self.columns - len(self._measures))])
        if by_text:
            values[by_text] = self._values([block[i] for i in by_text])
        self._by_id += len(by_id)
        return values

    def _values(self, block: Sequence[tuple[QueryLabel, Recall]]) -> Floats:
        read: dict[str, ParsedText] = {}
        for _, recall in block:
            for text in recall.texts.values():
                if text not in read:
                    read[text] = ParsedText(text, self._matching.chunk)
        answers = [ParsedText(label.expected) for label, _ in block]
        likenesses = [
            [likeness(expected, read[recall.texts[id]]) for id in recall.ids]
            for expected, (_, recall) in zip(answers, block, strict=True)
        ]
        if self._random is None:
            places = {text: place for place, text in enumerate(read)}
            own = [{places[text] for text in recall.texts.values()} for _, recall in block]
            self._random = random_matches(answers, list(read.values()), own, self._thresholds)
            if not self._allow_random_matches:
                refuse_random_matches(self._random, self._matching, "the log")
        self._count(likenesses)
        cases = [Case(label.query, expected=label.expected) for label, _ in block]
        depth = max(measure.k for measure in self._measures)
        judged = judge_by_text(cases, likenesses, self._matching, depth)
        columns = [measure.values(judged) for measure in self._measures]
        exact = Matching("exact", chunk=self._matching.chunk)
        for way in (exact, *(Matching("tokens", threshold, self._matching.chunk) for threshold in self._thresholds)):
            columns.append(self._measures[0].values(judge_by_text(cases, likenesses, way, depth)))
        return np.column_stack(columns)

    def matched_part(self, means: Sequence[float | None]) -> MatchedPart:
        """Return the matches, also at other thresholds; `means` are those of the columns behind the measures."""
        random = self._random or RandomMatches(0, None, {})
        rates = [random.exact, *(random.rates.get(threshold) for threshold in self._thresholds)]
        thresholds: list[float | None] = [None, *self._thresholds]
        return MatchedPart.model_validate(
            {
                "by_id": self._by_id,
                "exact": self._exact,
                "fuzzy": self._fuzzy,
                "without": self._without,
                "measure": str(self._measures[0]),
                "random_pairs": random.pairs,
                "sensitivity": [
                    {"threshold": threshold, "value": value, "random": rate}
                    for threshold, value, rate in zip(thresholds, means, rates, strict=True)
                ],
            }
        )

    def _count(self, likenesses: Sequence[Sequence[Likeness]]) -> None:
        for likes in likenesses:
            place = first_match(likes[: self._measures[0].k], self._matching)
            self._exact += place is not None and likes[place].exact
            self._fuzzy += place is not None and not likes[place].exact
            self._without += place is None


def choose_judge(measures: Sequence[Measure], matching: Matching, *, allow_random_matches: bool) -> IdJudge | TextJudge:
    """Return the judge that the method asks for."""
    return TextJudge(measures, matching, allow_random_matches) if matching.by_text else IdJudge(measures)


def missing_texts(recall: Recall) -> InputError:
    """The error of a recall that can't be judged by text."""
    return InputError(
        f"a recall of {recall.query[:60]!r} has no texts",
        expected="`texts` in each line whose query is judged, one for each id",
        found=f"{len(recall.ids)} {'id' if len(recall.ids) == 1 else 'ids'} alone",
        remedy="log the texts, or --match id; --skip-bad leaves such recalls out, and counts them",
    )
