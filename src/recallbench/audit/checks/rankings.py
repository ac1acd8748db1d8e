"""Every ranking by itself: its ranks, scores, ids and length."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from recallbench.audit.declared import score_range
from recallbench.audit.examination import CannotTell, Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.results.rows import AnyHit, Row, position_of

ROUNDED = 1e-6
"""How far rounding may take a sum in single precision beyond its bound."""


def ranks(subject: AuditSubject) -> Finding:
    problems = []
    for row, hits, _ in _calls(subject):
        stated = [hit.rank for hit in hits]
        if stated != list(range(1, len(hits) + 1)):
            place = next(i for i, rank in enumerate(stated) if rank != i + 1)
            problems.append(f"{row.question_id}: rank {stated[place]} at place {place + 1}")
    return pass_unless(problems, "1, 2, 3, … in every ranking")


def scores(subject: AuditSubject) -> Finding:
    problems = []
    lowest, highest = _range(subject)
    for row, hits, _ in _calls(subject):
        bad = next((hit for hit in hits if not math.isfinite(hit.score)), None)
        if bad is not None:
            problems.append(f"{row.question_id}: {subject.name_of(bad.id)} has the score {bad.score}")
            continue
        far = next((hit for hit in hits if not lowest <= hit.score <= highest), None)
        if far is not None:
            name = subject.name_of(far.id)
            problems.append(
                f"{row.question_id}: {name} with {far.score}, where this store scores {lowest} to {highest}"
            )
        for upper, lower in pairwise(hits):
            if lower.score < upper.score or (lower.score == upper.score and _in_order(row, upper, lower)):
                continue
            above, below = subject.name_of(upper.id), subject.name_of(lower.id)
            if lower.score > upper.score:
                problems.append(
                    f"{row.question_id}: {below} with {lower.score} stands below {above} with {upper.score}"
                )
            else:
                problems.append(f"{row.question_id}: {above} and {below} tie, and are not in haystack order")
    return pass_unless(problems, "finite and falling, ties in haystack order")


def _range(subject: AuditSubject) -> tuple[float, float]:
    """Return the lowest and highest score the store can give; unbounded for an unknown store."""
    try:
        lowest, highest = score_range(subject)
    except CannotTell:
        return -math.inf, math.inf
    return lowest - ROUNDED, highest + ROUNDED


def once(subject: AuditSubject) -> Finding:
    problems = []
    for row, hits, _ in _calls(subject):
        ids = [hit.id for hit in hits]
        twice = next((id for i, id in enumerate(ids) if id in ids[:i]), None) if len(set(ids)) < len(ids) else None
        if twice is not None:
            problems.append(f"{row.question_id}: {subject.name_of(twice)} twice")
    return pass_unless(problems, "no id twice in a ranking")


def scope(subject: AuditSubject) -> Finding:
    problems = []
    sizes = dict(zip((q.id for q in subject.questions), subject.candidates, strict=True))
    scopes = {question.id: question.scope for question in subject.questions}
    for row, hits, _ in _calls(subject):
        own, size = scopes.get(row.question_id, row.scope), sizes.get(row.question_id, row.candidates)
        ids = [hit.id for hit in hits] + row.gold
        problems += [
            f"{row.question_id}: {subject.name_of(id)} is none of the {size} segments of {own}"
            for id in ids
            if position_of(id, own, size) is None
        ]
    return pass_unless(list(dict.fromkeys(problems)), "every id is a segment that its question may be answered from")


def length(subject: AuditSubject) -> Finding:
    problems, missing, short = [], 0, set()
    sizes = dict(zip((q.id for q in subject.questions), subject.candidates, strict=True))
    two_calls = len(subject.metrics.retrieval.calls) > 1
    for row in subject.readable_rows:
        if (row.hits_of_k_call is not None) != two_calls:
            problems.append(f"{row.question_id}: {'no' if two_calls else 'a'} ranking of the k-deep call")
    for row, hits, depth in _calls(subject):
        allowed = min(depth, sizes.get(row.question_id, row.candidates))
        if len(hits) > allowed:
            problems.append(f"{row.question_id}: {len(hits)} hits, where {allowed} are possible")
        elif len(hits) < allowed:
            missing += allowed - len(hits)
            short.add(row.question_id)
    stated = subject.metrics.retrieval
    problems += _failed(subject)
    if (missing, len(short)) != (stated.missing_hits, stated.short_questions):
        problems.append(
            f"{missing} hits are missing from {len(short)} questions ({', '.join(sorted(short)[:3])}), "
            f"declared are {stated.missing_hits} from {stated.short_questions}"
        )
    declared = f", but for {missing} declared missing from {len(short)} questions" if missing else ""
    return pass_unless(problems, f"min({stated.depth}, haystack) in every ranking{declared}")


def _failed(subject: AuditSubject) -> Iterator[str]:
    """Check that the questions declared failed were asked, and have no ranking."""
    stated, question_ids = subject.metrics.retrieval.failed, [question.id for question in subject.questions]
    answered = {row.question_id for row, hits, _ in _calls(subject) if hits}
    yield from (f"{id}: declared failed, but has a ranking" for id in stated if id in answered)
    yield from (f"{id}: declared failed, but was not asked" for id in set(stated) - set(question_ids))
    if stated != [id for id in question_ids if id in stated]:
        yield "the failed questions are not in the order of the questions, each once"


def _calls(subject: AuditSubject) -> Iterator[tuple[Row, Sequence[AnyHit], int]]:
    """Yield each ranking of each row, with the depth that was asked for."""
    for row in subject.readable_rows:
        yield row, row.hits, subject.metrics.retrieval.depth
        if row.hits_of_k_call is not None:
            yield row, row.hits_of_k_call, subject.rules.default_k


def _in_order(row: Row, upper: AnyHit, lower: AnyHit) -> bool:
    first, second = (position_of(hit.id, row.scope, row.candidates) for hit in (upper, lower))
    return first is None or second is None or first <= second


RANKS = Examination("RB-RANKS", "ranks", "ranks count up from 1 without a hole", ranks)
SCORES = Examination("RB-SCORES", "scores", "scores are finite, possible for the store, and in ranking order", scores)
ONCE = Examination("RB-TWICE", "ids once", "no id comes twice in a ranking", once)
SCOPE = Examination("RB-SCOPE", "scope", "every retrieved id lies inside the question's scope", scope)
LENGTH = Examination("RB-LENGTH", "length", "min(depth, haystack) hits, or a declared shortfall", length)
