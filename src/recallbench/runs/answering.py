"""After the rankings: each question is answered from what was retrieved, and each answer judged."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from recallbench.corpora.records import Haystack, Question, Segment, Survey
from recallbench.progress import Progress
from recallbench.results.answer_figures import answer_figures
from recallbench.results.answers import AnswerRow, JudgedRow, UsageRow
from recallbench.results.answers_part import AnswersPart
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.pipeline.chain import OpenedStage
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.answer_words import is_known
from recallbench.retrieval.stages.answering import AnswerStage, GivenAnswer, Judgement, JudgeStage
from recallbench.retrieval.stages.stage import StageRequest
from recallbench.retrieval.timing import Timings
from recallbench.runs.options import Options

ANSWER, JUDGE = "answer", "judge"
"""The phases of a run in which it answers and judges."""


@dataclass(frozen=True, slots=True)
class Answering:
    """The stages of a pipeline behind its ranking, opened."""

    generator: OpenedStage
    judges: tuple[OpenedStage, ...]
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each, over all questions, by its name."""

    @property
    def stages(self) -> tuple[OpenedStage, ...]:
        """All of them, in their order."""
        return (self.generator, *self.judges)

    def answer(
        self, retrieval: Retrieval, haystacks: Iterable[Haystack], timings: Timings, progress: Progress
    ) -> list[AnswerRow]:
        """Return the answer to each question, judged. One without an answer counts as the worst, and is told.

        Raises the first failure where not one question was answered, or not one answer judged.
        """
        failures = {opened.spec.name: Failures(keep_going=True) for opened in self.stages}
        rows: list[AnswerRow] = []
        with progress.stage("answering", len(retrieval.questions), "questions") as advance:
            for question, context in _contexts(retrieval, haystacks):
                rows.append(self._row(question, context, retrieval, failures, timings))
                advance(1)
        for name, failed in failures.items():
            if failed.reasons:
                first = next(iter(failed.reasons.values()))
                failed.refuse_all_failed(len(rows))
                progress.note(
                    f"{name} failed on {len(failed.reasons)} of {len(rows)} questions: the worst answer for each; "
                    f"the first: {first.brief}"
                )
        return rows

    def figures(self, rows: Sequence[AnswerRow], retrieval: Retrieval, survey: Survey) -> AnswersPart:
        """Return the figures of these answers."""
        judges = {
            opened.spec.name: opened.stage.in_steps for opened in self.judges if isinstance(opened.stage, JudgeStage)
        }
        name = self.generator.spec.name
        return answer_figures(name, judges, rows, retrieval.questions, retrieval.candidates, survey)

    def totals(self) -> list[dict[str, Any]]:
        """Return for each stage its seconds over all questions, its tokens, and what else differs from run to run."""
        return [
            {
                "stage": opened.spec.name,
                "seconds": round(self.seconds.get(opened.spec.name, 0.0), 6),
                **({"tokens": opened.stage.usage.document()} if opened.stage.asks_endpoint else {}),
                **opened.stage.circumstances(),
            }
            for opened in self.stages
        ]

    def close(self) -> None:
        """Close every stage."""
        for opened in self.stages:
            opened.stage.close()

    def _row(
        self,
        question: Question,
        context: Sequence[Segment],
        retrieval: Retrieval,
        failures: dict[str, Failures],
        timings: Timings,
    ) -> AnswerRow:
        stage, name = self.generator.stage, self.generator.spec.name
        assert isinstance(stage, AnswerStage)
        given: GivenAnswer | None = None
        if question.id not in retrieval.failed:
            with self._timed(self.generator, ANSWER, timings):
                given = failures[name].attempt([question.id], partial(stage.answer, question, context), None)
        row = AnswerRow(question_id=question.id, known=is_known(question), declined=question.declined, context=[])
        if given is None:
            return row
        by_id = {segment.id: segment for segment in context}
        used = [by_id[id] for id in given.context]
        judged = []
        for judge in self.judges:
            with self._timed(judge, JUDGE, timings):
                judged.append(self._judged(judge, question, used, given.text, failures))
        return row.model_copy(
            update={
                "context": list(given.context),
                "answer": given.text,
                "cut": given.cut,
                "usage": UsageRow.of(given.usage),
                "judged": judged,
            }
        )

    @contextmanager
    def _timed(self, opened: OpenedStage, phase: str, timings: Timings) -> Iterator[None]:
        started, name = time.perf_counter(), opened.spec.name
        with timings.phase(phase):
            yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

    def _judged(
        self,
        judge: OpenedStage,
        question: Question,
        context: Sequence[Segment],
        answer: str,
        failures: dict[str, Failures],
    ) -> JudgedRow:
        stage, name = judge.stage, judge.spec.name
        assert isinstance(stage, JudgeStage)
        found: Judgement | None = failures[name].attempt(
            [question.id], partial(stage.judge, question, context, answer), None
        )
        if found is None:
            return JudgedRow(judge=name, failed=True)
        return JudgedRow(
            judge=name, correct=found.correct, faithful=found.faithful, raw=found.raw, usage=UsageRow.of(found.usage)
        )


def open_answering(pipeline: Pipeline | None, options: Options, progress: Progress) -> Answering | None:
    """Return the stages that answer and judge, opened; None where there are none."""
    specs = () if pipeline is None else pipeline.of_kind("generate", "judge")
    if not specs:
        return None
    with ExitStack() as closing:
        stages = []
        for spec in specs:
            request = StageRequest(spec.name, spec.options, options.environ, options.cache_dir, progress)
            stages.append(OpenedStage(spec, spec.stage.open(request)))
            closing.callback(stages[-1].stage.close)
        closing.pop_all()
    return Answering(stages[0], tuple(stages[1:]))


def _contexts(retrieval: Retrieval, haystacks: Iterable[Haystack]) -> Iterator[tuple[Question, tuple[Segment, ...]]]:
    rankings: dict[str, Ranking] = {ranking.question_id: ranking for ranking in retrieval.rankings}
    for haystack in haystacks:
        for question in haystack.questions:
            positions = rankings[question.id].positions
            yield question, tuple(haystack.segments[position] for position in positions)
