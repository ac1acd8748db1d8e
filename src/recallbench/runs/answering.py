"""After the rankings: each question is answered from what was retrieved, and each answer judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from recallbench.corpora.records import Haystack, Question, Segment, Survey
from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress
from recallbench.results.answer_figures import answer_figures
from recallbench.results.answers import AnswerRow, JudgedRow, UsageRow
from recallbench.results.answers_part import AnswersPart
from recallbench.retrieval.at_once import Attempt, attempts
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.pipeline.chain import OpenedStage
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Retrieval
from recallbench.retrieval.stages.answer_words import is_known
from recallbench.retrieval.stages.answering import AnswerStage, Asking, GivenAnswer, Judgement, JudgeStage
from recallbench.retrieval.stages.stage import StageRequest
from recallbench.retrieval.timing import AnswerTime, Timings
from recallbench.runs.options import Options

ANSWER, JUDGE = "answer", "judge"
"""The phases of a run in which it answers and judges."""
ROUNDS = 16
"""Where several questions are asked at once, how many times as many go through a stage before the next stage has them:
more would hold more of a corpus in memory, fewer would leave a server without work more often."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answering:
    """The stages of a pipeline behind its ranking, opened."""

    generator: OpenedStage
    judges: tuple[OpenedStage, ...]
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each, over all questions of this run, by its name: what a kept answer took before is no part of it."""

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
        accounts = {opened.spec.name: _Account(opened.spec.name) for opened in self.stages}
        rows: list[AnswerRow] = []
        with progress.stage("answering", len(retrieval.questions), "questions") as advance:
            contexts = _contexts(retrieval, haystacks)
            while some := list(islice(contexts, self._together)):
                rows += self._rows(some, retrieval.failed, accounts, timings)
                advance(len(some))
        for account in accounts.values():
            timings.answers += account.times
            account.tell(len(rows), progress)
        return rows

    @property
    def _together(self) -> int:
        """How many questions go through all stages before the next ones: one, where no stage asks several at once."""
        most = max(opened.stage.at_once for opened in self.stages)
        return 1 if most == 1 else ROUNDS * most

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

    def _rows(
        self,
        some: Sequence[tuple[Question, tuple[Segment, ...]]],
        failed: Sequence[str],
        accounts: Mapping[str, _Account],
        timings: Timings,
    ) -> list[AnswerRow]:
        stage = self.generator.stage
        assert isinstance(stage, AnswerStage)
        asked = {question.id: partial(stage.answer, question, context) for question, context in some}
        given: dict[str, GivenAnswer | None] = self._attempted(
            self.generator, ANSWER, {id: act for id, act in asked.items() if id not in failed}, accounts, timings
        )
        verdicts = []
        for judge in self.judges:
            assert isinstance(judge.stage, JudgeStage)
            acts = {}
            for question, context in some:
                if (answer := given.get(question.id)) is not None:
                    by_id = {segment.id: segment for segment in context}
                    used = [by_id[id] for id in answer.context]
                    acts[question.id] = partial(judge.stage.judge, question, used, answer.text)
            found: dict[str, Judgement | None] = self._attempted(judge, JUDGE, acts, accounts, timings)
            verdicts.append({id: _judged(judge.spec.name, judgement) for id, judgement in found.items()})
        return [
            _row(question, given.get(question.id), [each[question.id] for each in verdicts if question.id in each])
            for question, _ in some
        ]

    def _attempted(
        self,
        opened: OpenedStage,
        phase: str,
        acts: Mapping[str, Callable[[], T]],
        accounts: Mapping[str, _Account],
        timings: Timings,
    ) -> dict[str, T | None]:
        """Return what a stage gives for each question, by its id; None where it fails on it."""
        if not acts:
            return {}
        name = opened.spec.name
        started = time.perf_counter()
        with timings.phase(phase):
            attempted = zip(acts, attempts(list(acts.values()), opened.stage.at_once), strict=True)
            found = {id: accounts[name].noted(id, attempt) for id, attempt in attempted}
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
        return found


class _Account:
    """What became of the questions in one stage."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._failures = Failures(keep_going=True)
        self._in_part: dict[str, InputError | Blocked] = {}
        self.times: list[AnswerTime] = []

    def noted(self, question: str, attempt: Attempt[T]) -> T | None:
        """Return what a stage gave for a question, None where it failed; raises what ends the run."""
        found = self._failures.attempt([question], attempt.result, None)
        asking = found.asking if isinstance(found, GivenAnswer | Judgement) else Asking()
        state = "cold" if asking.cold else "warm"
        if found is None:
            state = "failed"
        elif isinstance(found, Judgement) and found.failures:
            state = "failed"
            self._in_part[question] = next(iter(found.failures.values()))
        milliseconds = 1000 * (attempt.seconds + asking.waited)
        self.times.append(AnswerTime(question, self._name, state, milliseconds, asking.kept))
        return found

    def tell(self, questions: int, progress: Progress) -> None:
        """Say what failed; raises the first failure where everything did."""
        reasons = self._failures.reasons
        if reasons:
            first = next(iter(reasons.values()))
            self._failures.refuse_all_failed(questions)
            progress.note(
                f"{self._name} failed on {len(reasons)} of {questions} questions: the worst answer for each; "
                f"the first: {first.brief}"
            )
        if self._in_part:
            first = next(iter(self._in_part.values()))
            progress.note(
                f"{self._name} could be asked but a part on {len(self._in_part)} of {questions} questions: what is "
                f"missing counts as the worst; the first: {first.brief}"
            )


def _row(question: Question, given: GivenAnswer | None, judged: list[JudgedRow]) -> AnswerRow:
    row = AnswerRow(question_id=question.id, known=is_known(question), declined=question.declined, context=[])
    if given is None:
        return row
    return row.model_copy(
        update={
            "context": list(given.context),
            "answer": given.text,
            "cut": given.cut,
            "usage": UsageRow.of(given.usage),
            "judged": judged,
        }
    )


def _judged(judge: str, found: Judgement | None) -> JudgedRow:
    if found is None:
        return JudgedRow(judge=judge, failed=True)
    return JudgedRow(
        judge=judge,
        correct=found.correct,
        faithful=found.faithful,
        raw=found.raw,
        usage=UsageRow.of(found.usage),
        unasked=list(found.failures),
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
