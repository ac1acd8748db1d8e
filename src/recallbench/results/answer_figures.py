"""The figures of answers, worked out from their rows by the run, and again by the audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Literal

import numpy as np

from recallbench.corpora.records import Question, Survey
from recallbench.results.answers import AnswerRow, JudgedRow, UsageRow
from recallbench.results.answers_part import AnswerSharePart, AnswersPart, JudgePart, JudgesPart, TokensPart
from recallbench.results.figures import rounded
from recallbench.results.question_slices import kind_slices
from recallbench.results.rows import position_of
from recallbench.retrieval.stages.answering import CORRECT, FAITHFUL
from recallbench.scoring.calls import clusters_of
from recallbench.scoring.editions import CURRENT, Edition
from recallbench.scoring.intervals import cluster_codes
from recallbench.scoring.judge_agreement import judge_agreement
from recallbench.scoring.judgement import Bools
from recallbench.usage import Usage

Of = Literal["correct", "faithful"]
_BOTH: tuple[Of, Of] = ("correct", "faithful")
ASKED: Mapping[Of, str] = {"correct": CORRECT, "faithful": FAITHFUL}
"""What a judge is asked for each figure, as its own words are kept."""


def answer_figures(
    generator: str,
    judges: Mapping[str, bool],
    rows: Sequence[AnswerRow],
    questions: Sequence[Question],
    candidates: Sequence[int],
    survey: Survey,
    edition: Edition = CURRENT,
) -> AnswersPart:
    """Return every figure that follows from these rows, one for each question; `judges` says of each by name whether it
    knows nothing between right and wrong."""
    slices = kind_slices(questions, survey)
    with_gold = np.array(
        [
            not question.gold.isdisjoint(position_of(id, question.scope, size) for id in row.context)
            for row, question, size in zip(rows, questions, candidates, strict=True)
        ],
        dtype=bool,
    )
    has_gold = np.array([bool(question.gold) for question in questions], dtype=bool)
    clusters = clusters_of(questions)
    codes = None if clusters is None else cluster_codes(clusters)

    def share(values: Sequence[float | None], mask: Bools, binary: bool) -> AnswerSharePart:
        counted = mask & np.array([value is not None for value in values], dtype=bool)
        column = np.array([value or 0.0 for value in values])[counted]
        (bounds,) = edition.means(column[:, None], [binary], None if codes is None else codes[counted])
        value = float(column.mean()) if len(column) else None
        return AnswerSharePart(value=value, n=len(column), **asdict(bounds))

    def part(name: str, in_steps: bool) -> JudgePart:
        of = {each: _values(rows, name, each) for each in _BOTH}
        judged = [given for row in rows if row.answer is not None and (given := _judged(row, name)) is not None]

        def unasked(each: Of) -> bool:
            return any(ASKED[each] in given.unasked for given in judged)

        by_slice = {
            each: {label: share(of[each], mask, in_steps) for label, mask in slices.items()}
            for each in _BOTH
            if each == "correct" or any(value is not None for value in _decided(rows, name, each)) or unasked(each)
        }
        return JudgePart(
            name=name,
            correct=by_slice["correct"],
            faithful=by_slice.get("faithful", {}),
            with_gold=share(of["correct"], with_gold, in_steps),
            without_gold=share(of["correct"], has_gold & ~with_gold, in_steps),
            undecided=sum(_is_undecided(row, name) for row in rows),
            failed=[row.question_id for row in rows if _failed(_judged(row, name), *ASKED.values())],
            tokens=_tokens([given.usage for given in judged if given.raw]),
        )

    answered = [row for row in rows if row.answer is not None]
    whole = AnswersPart(
        generator=generator,
        questions=len(rows),
        unknown=sum(not row.known for row in rows),
        failed=[row.question_id for row in rows if row.answer is None],
        cut=sum(row.cut for row in answered),
        context=sum(len(row.context) for row in answered) / len(answered) if answered else None,
        tokens=_tokens([row.usage for row in answered]),
        judges=[part(name, in_steps) for name, in_steps in judges.items()],
        agreement=_agreements(rows, list(judges)),
    )
    return AnswersPart.model_validate(rounded(whole).model_dump())


def _judged(row: AnswerRow, judge: str) -> JudgedRow | None:
    return next((judged for judged in row.judged if judged.judge == judge), None)


def _failed(judged: JudgedRow | None, *asked: str) -> bool:
    """Return whether a judge could not be asked one of these."""
    return judged is not None and (judged.failed or any(each in judged.unasked for each in asked))


def _decided(rows: Sequence[AnswerRow], judge: str, of: Of) -> list[float | None]:
    """Return what a judge decided of each answer; None where there is no answer, or no decision."""
    given = [None if row.answer is None else _judged(row, judge) for row in rows]
    return [None if judged is None or judged.failed else getattr(judged, of) for judged in given]


def _values(rows: Sequence[AnswerRow], judge: str, of: Of) -> list[float | None]:
    """Return what counts for each question: 0 where answer or judge failed, None where the question does not count."""
    values = []
    for row, decided in zip(rows, _decided(rows, judge, of), strict=True):
        judged = _judged(row, judge)
        failed = row.answer is None or _failed(judged, ASKED[of])
        counts = row.known or of == "faithful"
        values.append((0.0 if failed else decided) if counts else None)
    return values


def _is_undecided(row: AnswerRow, judge: str) -> bool:
    judged = _judged(row, judge)
    if row.answer is None or judged is None or judged.failed:
        return False
    wanted = row.known and CORRECT not in judged.unasked
    return (wanted and judged.correct is None) or (FAITHFUL in judged.raw and judged.faithful is None)


def _tokens(usages: Sequence[UsageRow | None]) -> TokensPart | None:
    counted = [usage.usage for usage in usages if usage is not None]
    if not counted:
        return None
    return TokensPart(**sum(counted, Usage()).document(), uncounted=len(usages) - len(counted))


def _agreements(rows: Sequence[AnswerRow], judges: Sequence[str]) -> list[JudgesPart]:
    found = []
    for first, second in combinations(judges, 2):
        for of in _BOTH:
            compared = judge_agreement(_decided(rows, first, of), _decided(rows, second, of))
            if compared.n:
                found.append(JudgesPart(first=first, second=second, of=of, **asdict(compared)))
    return found
