"""Cases and their answers as the arrays that every measure reads."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.cases.answer import Answer
from recallbench.cases.case import SHOWN, Case
from recallbench.errors import InputError
from recallbench.scoring.judgement import Judged, judge


def judge_by_id(cases: Sequence[Case], answers: Sequence[Answer], depth: int, candidates: int | None) -> Judged:
    """Judge each answer by the relevant ids of its case; `candidates` is how many items could come back, if known."""
    rankings, gold, grades, sizes = [], [], [], []
    graded = any(case.grades is not None for case in cases)
    firsts: dict[int, frozenset[int]] = {}
    for case, answer in zip(cases, answers, strict=True):
        # The relevant ids are the first positions; what else came back follows, in any order.
        number = {id: n for n, id in enumerate(case.relevant)}
        count = len(number)
        gold.append(firsts.get(count) or firsts.setdefault(count, frozenset(range(count))))
        if graded:
            for id in case.grades or ():
                number.setdefault(id, len(number))
            grades.append({number[id]: grade for id, grade in (case.grades or {}).items()})
        if candidates is None:
            known, place = len(number), number.get
            rankings.append([place(id, n) for n, id in enumerate(answer.ids, known)])
            sizes.append(known + len(answer.ids))
            continue
        rankings.append([number.setdefault(id, len(number)) for id in answer.ids])
        sizes.append(candidates)
        if len(number) > candidates:
            raise case.wrong("more items than there are candidates", f"at most {candidates}", f"{len(number)}")
    judged = judge(rankings, gold, sizes, depth, grades if graded else None)
    if not judged.first.any():
        _refuse_unlike_ids(cases, answers)
    return judged


def _refuse_unlike_ids(cases: Sequence[Case], answers: Sequence[Answer]) -> None:
    """Raise InputError for strings on one side and numbers on the other: they never match, like a recall of 0."""
    relevant = [id for case in cases for id in case.relevant]
    returned = [id for answer in answers for id in answer.ids]
    if not relevant or not returned:
        return
    strings = [{isinstance(id, str) for id in ids} for ids in (relevant, returned)]
    if strings[0].isdisjoint(strings[1]):
        relevant_id, returned_id = relevant[0], returned[0]
        raise InputError(
            "no id that came back can ever be a relevant one",
            expected=f"ids such as {relevant_id!r}, a {type(relevant_id).__name__}"[: 2 * SHOWN],
            found=f"ids such as {returned_id!r}, a {type(returned_id).__name__}"[: 2 * SHOWN],
            remedy="give both as strings, or both as numbers",
        )
