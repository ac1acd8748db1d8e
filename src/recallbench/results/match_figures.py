"""The figures of gold that follows from expected texts: its amount, by step of matching and by threshold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np

from recallbench.corpora.matching.method import Matching, Step
from recallbench.corpora.matching.text_gold import step_of
from recallbench.corpora.records import Question, RandomMatches, Survey
from recallbench.results.matching_part import DecidedPart, MatchingPart, SharePart, ThresholdPart
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval
from recallbench.scoring.judgement import Judged
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.recall_any import RecallAny

UNMATCHED = 20
"""How many unmatched questions are named."""


def match_figures(retrieval: Retrieval, survey: Survey, calls: Sequence[Judged]) -> MatchingPart | None:
    """Return what made segments gold, and the figures at other thresholds; None where gold is known by ids."""
    matching = survey.matching
    if matching is None:
        return None
    questions, k = retrieval.questions, retrieval.calls.k
    # The k-deep call decides where there is one.
    rankings = retrieval.rankings if retrieval.short is None else retrieval.short
    textual = [question for question in questions if question.expected]
    unmatched = [question.id for question in textual if not question.gold]
    mixed = any(question.gold and not question.expected for question in questions)
    random = survey.random_matches
    return MatchingPart(
        method=str(matching),
        questions=len(textual),
        by_id=_decided(questions, calls, k, by_text=False) if mixed else None,
        by_text=_decided(questions, calls, k, by_text=True) if mixed else None,
        exact=sum(len(question.gold & question.exact) for question in textual),
        fuzzy=sum(len(question.gold - question.exact - question.by_id) for question in textual),
        exact_questions=sum(bool(question.gold & question.exact) for question in textual),
        fuzzy_questions=sum(
            bool(question.gold) and not question.gold & (question.exact | question.by_id) for question in textual
        ),
        without=len(unmatched),
        unmatched=unmatched[:UNMATCHED],
        random_pairs=random.pairs if random else 0,
        sensitivity=[
            _at_threshold(questions, rankings, k, matching, random, threshold)
            for threshold in (None, *matching.thresholds)
        ],
        shares=_shares(questions, rankings, k, matching) if matching.method == "hybrid" else None,
    )


def _shares(questions: Sequence[Question], rankings: Sequence[Ranking], k: int, matching: Matching) -> list[SharePart]:
    """Return the gold of each step of hybrid matching, and how often its gold came first."""
    gold: Counter[Step | None] = Counter()
    first_gold: Counter[Step | None] = Counter()
    for question, ranking in zip(questions, rankings, strict=True):
        gold.update(step_of(question, position) for position in question.gold)
        steps = (step_of(question, position) for position in ranking.positions[:k])
        first_gold[next((step for step in steps if step is not None), None)] += 1
    counted = sum(bool(question.gold) for question in questions)
    return [
        SharePart(
            step=step, gold=gold[step], found_10=first_gold[step], share=first_gold[step] / counted if counted else None
        )
        for step in matching.steps
    ]


def _decided(questions: Sequence[Question], calls: Sequence[Judged], k: int, *, by_text: bool) -> DecidedPart:
    chosen = np.array(
        [bool(question.gold) and bool(question.expected) == by_text for question in questions], dtype=bool
    )
    first, last = min(calls, key=lambda call: call.depth), calls[-1]
    recall = RecallAny(min(k, first.depth)).values(first)[chosen]
    reciprocal = Mrr(last.depth).values(last)[chosen]
    return DecidedPart(
        questions=int(chosen.sum()),
        recall_any_10=float(recall.mean()) if len(recall) else None,
        mrr=float(reciprocal.mean()) if len(reciprocal) else None,
    )


def _at_threshold(
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    k: int,
    matching: Matching,
    random: RandomMatches | None,
    threshold: float | None,
) -> ThresholdPart:
    """Return the figures as if this had been the threshold."""
    hybrid = matching.method == "hybrid"
    gold, hits = [], []
    for question, ranking in zip(questions, rankings, strict=True):
        near = question.likeness
        if threshold is None:
            matched: Set[int] = question.exact
        else:
            f1 = np.frombuffer(near.f1)
            matched = set(np.frombuffer(near.positions, dtype=np.int64)[f1 >= threshold].tolist())
            matched |= question.exact | question.by_id if hybrid else set()
        gold.append(len(matched))
        hits.append(sum(position in matched for position in ranking.positions[:k]))
    shares = [
        min(part, 1) if question.one_find else part / whole
        for question, part, whole in zip(questions, hits, gold, strict=True)
        if whole
    ]
    textual = sum(bool(question.expected) for question in questions)
    rate = None if random is None else random.exact if threshold is None else random.rates.get(threshold)
    return ThresholdPart(
        threshold=threshold,
        questions=len(shares),
        gold=sum(gold),
        recall_frac_10=float(np.mean(shares)) if shares else None,
        recall_frac_10_of_all=math.fsum(shares) / textual if textual else None,
        random=rate,
    )
