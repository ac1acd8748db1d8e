"""The report of a store's answers to a corpus: the figures of its result, at any k, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.cases.answer import Answer
from recallbench.cases.case import ABSTENTION, Case
from recallbench.cases.definitions import USUAL, Definitions
from recallbench.cases.report import Report
from recallbench.cases.shares import Steps
from recallbench.cases.text_judging import DecidedBy
from recallbench.cases.tradeoff import Tradeoff
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_gold import step_of
from recallbench.corpora.records import Question
from recallbench.errors import RecallBenchError, UsageError
from recallbench.results.coverage_figures import coverage_figures
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval, question_labels
from recallbench.scoring.calls import clusters_of, judge_rankings

FIELDS = ("kind", "tenant", "scope")
"""The fields that the queries of a set can be sliced by."""
REMEDY = "ask deeper with --depth, or choose a smaller k"


class StoreRun:
    """Rankings of one or two calls for each question, to be looked at with several k."""

    def __init__(
        self, retrieval: Retrieval, matching: Matching, *, k: int, depth: int, definitions: Definitions = USUAL
    ) -> None:
        """Take the rankings; `k` and `depth` are those of the calls."""
        self._retrieval = retrieval
        self._definitions = definitions
        self._ms = {call.question_id: call.milliseconds for call in retrieval.timings.sample if call.state == "warm"}
        self._matching = matching
        self._clusters = clusters_of(retrieval.questions)
        self._calls = [(depth, retrieval.rankings)]
        if retrieval.short is not None:
            self._calls.insert(0, (k, retrieval.short))

    def report(self, k: int) -> Report:
        """Return every measure at k, from the shallowest call that reaches it (clarification 15)."""
        refuse_beyond([k], self._calls[-1][0])
        depth, rankings = next(call for call in self._calls if call[0] >= k)
        questions = self._retrieval.questions
        labels = question_labels(questions)
        failed: Mapping[str, RecallBenchError] = self._retrieval.failures.reasons
        return Report(
            tuple(_case(question, labels[question.id]) for question in questions),
            tuple(
                _answer(question, ranking, failed.get(question.id), self._ms.get(question.id))
                for question, ranking in zip(questions, self._retrieval.rankings, strict=True)
            ),
            judge_rankings(self._retrieval, rankings, depth),
            k,
            self._matching,
            max(self._retrieval.candidates, default=None),
            ways=tuple(map(_decided_by, questions)) if self._matching.by_text else None,
            clusters=self._clusters,
            definitions=self._definitions,
            steps=tuple(_steps(question, ranking) for question, ranking in zip(questions, rankings, strict=True))
            if self._matching.method == "hybrid"
            else None,
            coverage=coverage_figures(self._retrieval, [k]),
        )

    def tradeoff(self, ks: Sequence[int]) -> Tradeoff:
        """Return recall gained and precision lost by a larger k."""
        tradeoffs = [self.report(k).tradeoff([k]) for k in sorted(set(ks))]
        points = tuple(point for tradeoff in tradeoffs for point in tradeoff.points)
        return Tradeoff(points, tradeoffs[0].matching, tradeoffs[0].n, self._definitions)


def refuse_beyond(ks: Sequence[int], depth: int) -> None:
    """Raise UsageError for a k that is larger than the depth of the rankings."""
    if max(ks) > depth:
        raise UsageError(
            f"k = {max(ks)} is beyond the rankings",
            expected=f"{depth} or less, as deep as the store is asked",
            found=str(max(ks)),
            remedy=REMEDY,
        )


def _decided_by(question: Question) -> DecidedBy:
    if question.abstention:
        return ""
    return "text" if question.expected else "id"


def _steps(question: Question, ranking: Ranking) -> Steps:
    return [step_of(question, position) for position in ranking.positions]


def _case(question: Question, label: str) -> Case:
    scope = question.scope
    labels = {"scope": scope, **({"tenant": question.tenant} if question.tenant else {})}
    grades = {f"{scope}/{position}": grade for position, grade in question.grades.items()}
    return Case(
        question.text,
        [f"{scope}/{position}" for position in sorted(question.gold)],
        grades or None,
        question.expected or None,
        ABSTENTION if question.abstention else question.kind or None,
        label,
        labels,
    )


def _answer(question: Question, ranking: Ranking, failure: RecallBenchError | None, ms: float | None) -> Answer:
    ids = tuple(f"{question.scope}/{position}" for position in ranking.positions)
    return Answer(ids, ranking.scores or None, failure, ms)
