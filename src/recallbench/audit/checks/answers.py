"""The answers of a result: given from its rankings, judged as their verdicts say, and counted as they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

from recallbench.audit.declared import recorded_pipeline
from recallbench.audit.difference import ROUNDING, differing
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.records import Question
from recallbench.results.answer_figures import ASKED, answer_figures
from recallbench.results.answers import NAME, AnswerRow, JudgedRow, UsageRow, read_answers
from recallbench.results.costs.quantities import read_stage_quantities
from recallbench.results.rows import Row
from recallbench.retrieval.pipeline.pipeline import Pipeline, StageSpec
from recallbench.retrieval.stages.answer_words import is_known
from recallbench.retrieval.stages.answering import AnswerStage, JudgeStage
from recallbench.scoring.editions import EDITIONS
from recallbench.usage import Usage


def answers(subject: AuditSubject) -> Finding:
    stated, pipeline = subject.metrics.answers, recorded_pipeline(subject.metrics)
    generators = () if pipeline is None else pipeline.of_kind("generate")
    if pipeline is None or not generators:
        there = [f"{name} of a pipeline that does not answer" for name in _present(subject)]
        return pass_unless(there, "nothing was answered")
    if stated is None:
        return Finding("fail", "metrics.json says nothing of the answers")
    rows, asked = read_answers(subject.folder), subject.readable_rows
    if [row.question_id for row in rows] != [row.question_id for row in asked]:
        return Finding("fail", f"{len(rows)} rows, which are not of the {len(asked)} questions in their order")
    known = {question.id: question for question in subject.questions} if subject.has_dataset else {}
    problems = [
        f"{row.question_id}: {fault}"
        for row, ranked in zip(rows, asked, strict=True)
        for fault in (
            *_context(row, ranked, generators[0]),
            *_unanswered(row, subject.metrics.retrieval.failed),
            *_verdicts(row, pipeline, known.get(row.question_id)),
        )
    ]
    judges = {spec.name: spec.stage.in_steps for spec in _judges(pipeline) if issubclass(spec.stage, JudgeStage)}
    edition = EDITIONS[subject.metrics.statistics_edition]
    if not problems:
        derived = answer_figures(
            generators[0].name, judges, rows, subject.questions, subject.candidates, subject.survey, edition
        )
        problems += differing(stated, derived, "answers")
        problems += _tokens(subject, rows, generators[0].name)
    held = ", their right answers held to the dataset" if known else ""
    return pass_unless(problems, f"{len(rows)} rows and every figure of them worked out again{held}")


def _present(subject: AuditSubject) -> Iterator[str]:
    if subject.metrics.answers is not None:
        yield "answers in metrics.json"
    if (subject.folder / NAME).exists():
        yield NAME


def _judges(pipeline: Pipeline) -> Sequence[StageSpec]:
    return pipeline.of_kind("judge")


def _context(row: AnswerRow, ranked: Row, generator: StageSpec) -> Iterator[str]:
    assert issubclass(generator.stage, AnswerStage)
    first = [hit.id for hit in ranked.hits[: generator.stage.context_of(generator.options)]]
    if row.context != first[: len(row.context)] or (row.answer is None and row.context):
        yield "answered from other segments than the first of its ranking"


def _unanswered(row: AnswerRow, failed: Sequence[str]) -> Iterator[str]:
    if row.question_id in failed and row.answer is not None:
        yield "answered, although nothing was retrieved for it"
    if row.answer is None and (row.judged or row.cut or row.usage is not None):
        yield "no answer, and yet judged or paid for"


def _verdicts(row: AnswerRow, pipeline: Pipeline, question: Question | None) -> Iterator[str]:
    """Yield what the verdicts of one answer are not; `question` is the dataset's, where that is at hand."""
    if question is not None and (row.known, row.declined) != (is_known(question), question.declined):
        yield "not what the dataset says of its right answer"
        return
    if question is not None and row.right not in (None, question.answer):
        yield "another right answer than the dataset's"
    if row.answer is None:
        return
    judged: Mapping[str, JudgedRow] = {judged.judge: judged for judged in row.judged}
    specs = _judges(pipeline)
    if [judged.judge for judged in row.judged] != [spec.name for spec in specs]:
        yield f"judged by {', '.join(judged) or 'nobody'}"
        return
    for spec in specs:
        stated = judged[spec.name]
        if stated.failed:
            if stated.raw or stated.correct is not None or stated.faithful is not None:
                yield f"{spec.name} failed, and yet has a verdict"
            continue
        if not ({*stated.unasked} <= {*ASKED.values()} - {*stated.raw}) or (stated.unasked and not stated.raw):
            yield f"{spec.name} could not be asked {', '.join(stated.unasked)[:60]}, and yet was"
        assert issubclass(spec.stage, JudgeStage)
        if question is None and not stated.raw:
            continue  # it follows from the right answer, which only the dataset has
        asked = question or Question("", row.question_id, "", frozenset(), "", declined=row.declined)
        again = spec.stage.again(asked, row.answer, stated.raw)
        found = (None, None) if again is None else (again.correct, again.faithful)
        if not all(map(_alike, (stated.correct, stated.faithful), found)):
            yield f"{spec.name} says {found[0]} and {found[1]}, {stated.correct} and {stated.faithful} stated"


def _tokens(subject: AuditSubject, rows: Sequence[AnswerRow], generator: str) -> Iterator[str]:
    """Yield the stages whose tokens in environment.json are not those of the answers.

    Two equal prompts are asked once, so that of equal answers one alone may have been paid for; and where a judge
    failed, one of its two answers may have been paid for and stand nowhere.
    """
    for used in read_stage_quantities(subject.folder):
        of_stage: list[tuple[str, UsageRow | None]] = [
            (row.answer or "", usage)
            for row in rows
            for name, usage in ((generator, row.usage), *((judged.judge, judged.usage) for judged in row.judged))
            if name == used.stage
        ]
        failed = any(judged.failed for row in rows for judged in row.judged if judged.judge == used.stage)
        most, least = Usage(), dict[str, Usage]()
        for answer, usage in of_stage:
            each = Usage() if usage is None else usage.usage
            most += each
            least[answer] = max(least.get(answer, Usage()), each, key=_together)
        low = sum(map(_together, least.values()))
        more = min(astuple(most - used.tokens)) < 0 and not failed
        if of_stage and (more or _together(used.tokens) < low):
            yield f"{used.stage}: {_words(used.tokens)} in environment.json, {_words(most)} in {NAME}"


def _words(usage: Usage) -> str:
    return ", ".join(f"{count} {sort}" for sort, count in usage.document().items() if count) or "no tokens"


def _together(usage: Usage) -> int:
    return usage.prompt + usage.output


def _alike(stated: float | None, found: float | None) -> bool:
    if stated is None or found is None:
        return stated is found
    return abs(stated - found) <= ROUNDING


ANSWERS = Examination(
    "RB-ANSWERS", "answers", "given from the rankings, judged as their verdicts say, counted as they are", answers
)
