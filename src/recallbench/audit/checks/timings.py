"""timings.jsonl against environment.json, the questions, and the length of the run."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeGuard

from recallbench.audit.declared import keeps_going, recorded_legs, recorded_pipeline
from recallbench.audit.examination import CannotTell, Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.errors import InputError
from recallbench.reading import is_finite, objects
from recallbench.results.answers import read_answers
from recallbench.results.answers_part import AnswersPart
from recallbench.results.latency import NAME, NO_OP
from recallbench.retrieval.round_trips import NO_OPS
from recallbench.retrieval.timing import COLD_SAMPLE, SAMPLE, SLOW_SAMPLE, sample_evenly

_DIGITS = 1e-4
"""environment.json has its seconds to four digits, timings.jsonl to six."""
SLACK = 6.0
"""Seconds of tolerance: start and end are recorded to the second, and a clock may be set during a run."""

_Rows = Sequence[dict[str, Any]]


def timings(subject: AuditSubject) -> Finding:
    rows = [row for _, row in objects(subject.folder / NAME)]
    phases, answers = [row for row in rows if "phase" in row], [row for row in rows if "stage" in row]
    queries = [row for row in rows if "question_id" in row and "stage" not in row]
    trips = [row for row in rows if row.get("state") == NO_OP]
    problems = [*_phases(subject, phases), *_sample(subject, queries), *_answers(subject, answers)]
    problems += [*_parts(subject, queries, trips), *_length(subject, phases, [*queries, *trips])]
    timed = f"{len(phases)} phases and {len(queries)} queries" + (f" and {len(answers)} answers" if answers else "")
    return pass_unless(problems, f"{timed}, as the run takes them, within its length")


def _phases(subject: AuditSubject, phases: _Rows) -> Iterator[str]:
    named = [str(row["phase"]) for row in phases]
    yield from (f"the phase {name} twice" for name in sorted({name for name in named if named.count(name) > 1}))
    metrics = subject.metrics
    expected = {
        "survey": True,
        "ingest": True,
        "search": True,
        "score": True,
        "embed": metrics.embedder is not None,
        "control": not subject.is_control,
        "static control": metrics.control_static is not None,
        "reproduce": metrics.reproduction is not None,
        "stages compared": metrics.pipeline is not None,
        "answer": metrics.answers is not None and len(metrics.retrieval.failed) < metrics.retrieval.asked,
        "judge": bool(metrics.answers and metrics.answers.judges and _answered(metrics.answers)),
    }
    with suppress(CannotTell):  # RB-CALLS reports it
        expected["ready"] = not all(leg.kind.one_scope_at_a_time for leg in recorded_legs(subject))
    for name, required in expected.items():
        if (name in named) != required:
            yield f"{'no' if required else 'a'} phase {name}"
    # The report has a row for each.
    yield from (f"a phase {name[:60]}, which no run has" for name in named if name not in (*expected, "ready"))
    stated = subject.environment.get("seconds")
    if not isinstance(stated, dict) or list(stated) != named:
        yield f"environment.json tells of other phases than {NAME}"
        return
    for row in phases:
        seconds, other = row.get("seconds"), stated[str(row["phase"])]
        if not (_number(seconds) and _number(other) and abs(seconds - other) < _DIGITS):
            yield f"{row['phase']} took {seconds} s in {NAME}, {other} in environment.json"


def _answered(answers: AnswersPart) -> int:
    return answers.questions - len(answers.failed)


def _sample(subject: AuditSubject, queries: _Rows) -> Iterator[str]:
    """Check that the timed queries are the ones every run times, so that none is left out."""
    ids = [question.id for question in subject.questions]
    timed = [ids[i] for i in sorted(sample_evenly(len(ids), _most_timed(subject)))]
    first = len(queries) - len(timed)
    if [row.get("question_id") for row in queries] != timed[: max(first, 0)] + timed or (0 < first < _fewest(timed)):
        yield f"{len(queries)} queries were timed, and not the {len(timed)} of {len(ids)} that a run takes"
        return
    stated = subject.environment.get("cold_queries")
    if timed and (first > 0) != (stated == "timed"):
        yield f"{first} cold queries, where environment.json tells of `{stated}`"
    with suppress(CannotTell):  # RB-CALLS reports it
        reasons = [leg.kind.never_cold for leg in recorded_legs(subject)]
        if timed and stated != (should := next(filter(None, reasons), "timed")):
            yield f"cold queries told as `{stated}`, where {subject.metrics.store.name} has them as `{should}`"
    unanswered, may_fail = set(subject.metrics.retrieval.failed), keeps_going(subject)
    for place, row in enumerate(queries):
        state = "cold" if place < first else "warm"
        if row.get("state") not in (state, "failed"):
            yield f"{row['question_id']} is told as {row.get('state')}, in the place of a {state} one"
        elif state == "warm" and row["question_id"] in unanswered and row["state"] != "failed":
            yield f"{row['question_id']} was answered when it was timed, and is declared failed"
        elif row["state"] == "failed" and not may_fail:
            yield f"{row['question_id']} failed, and the run was not to keep going"


def _answers(subject: AuditSubject, answers: _Rows) -> Iterator[str]:
    """Check that every answer is timed and every verdict, or none: earlier releases timed them together alone."""
    if not answers:
        return
    try:
        pipeline = recorded_pipeline(subject.metrics)
        given = read_answers(subject.folder) if subject.metrics.answers is not None else []
    except (CannotTell, InputError):  # RB-PIPELINE and RB-ANSWERS report it
        return
    expected = []
    for spec in () if pipeline is None else pipeline.of_kind("generate", "judge"):
        for row in given:
            judged = next((each for each in row.judged if each.judge == spec.name), None)
            if spec.kind == "generate" and row.question_id not in subject.metrics.retrieval.failed:
                expected.append((spec.name, row.question_id, row.answer is None))
            elif judged is not None:
                expected.append((spec.name, row.question_id, judged.failed or bool(judged.unasked)))
    stated = [(row["stage"], row.get("question_id"), row.get("state") == "failed") for row in answers]
    if stated != expected:
        yield f"{len(answers)} answers and verdicts were timed, which are not the {len(expected)} of the result"


def _parts(subject: AuditSubject, queries: _Rows, trips: _Rows) -> Iterator[str]:
    """Check that the store's calls are timed where the run says so, and that no more than a run's no-ops are there."""
    stated = subject.environment.get("store_calls")
    answered = [row for row in queries if row.get("state") != "failed"]
    split = [row for row in answered if "store_ms" in row]
    if split and (stated != "timed" or len(split) < len(answered)):
        yield f"{len(split)} of {len(answered)} queries tell the store's calls, told as `{stated}`"
    if answered and not split and stated == "timed":
        yield "no query tells the store's calls, which environment.json calls timed"
    with suppress(CannotTell):  # RB-PIPELINE reports it
        pipeline = recorded_pipeline(subject.metrics)
        ranking = {s.name for s in pipeline if s.kind not in ("generate", "judge")} if pipeline is not None else set()
        if any(row.get("stages", {}).keys() != ranking for row in answered):
            yield f"not every query tells the time of {', '.join(sorted(ranking)) or 'no stage'}"
    if len(trips) > NO_OPS or (trips and stated is None):
        yield f"{len(trips)} round trips without work, where a run makes up to {NO_OPS}"


def _most_timed(subject: AuditSubject) -> int:
    with suppress(CannotTell):  # RB-PIPELINE reports it
        pipeline = recorded_pipeline(subject.metrics)
        if pipeline is not None and pipeline.is_slow:
            return SLOW_SAMPLE
    return SAMPLE


def _fewest(timed: Sequence[str]) -> int:
    return min(COLD_SAMPLE, len(timed))


def _length(subject: AuditSubject, phases: _Rows, queries: _Rows) -> Iterator[str]:
    environment = subject.environment
    try:
        started, ended = (datetime.fromisoformat(str(environment.get(name))) for name in ("started", "ended"))
        lasted = (ended - started).total_seconds()
    except (ValueError, TypeError):
        return  # RB-RANGES reports it
    # The time of a kept answer is that of the run that asked for it.
    own = [] if _may_keep_answers(subject) else queries
    spent = [(row.get("seconds"), 1) for row in phases] + [(row.get("ms"), 1000) for row in own]
    total = math.fsum(time / of for time, of in spent if _number(time))
    if total > lasted + SLACK:
        yield f"{total:.1f} s of work in a run of {lasted:.0f} s"
    account = environment.get("embedding")
    parts = account.get("seconds") if isinstance(account, Mapping) else None
    embedding = math.fsum(filter(_number, parts.values())) if isinstance(parts, Mapping) else 0.0
    if embedding > lasted + SLACK:
        yield f"{embedding:.1f} s of embedding in a run of {lasted:.0f} s"


def _may_keep_answers(subject: AuditSubject) -> bool:
    with suppress(CannotTell):  # RB-PIPELINE reports it
        pipeline = recorded_pipeline(subject.metrics)
        return pipeline is not None and pipeline.asks_endpoint
    return False


def _number(value: Any) -> TypeGuard[float]:
    return is_finite(value)


TIMINGS = Examination(
    "RB-TIMINGS", "timings", "the phases and queries that a run times, within the length of the run", timings
)
