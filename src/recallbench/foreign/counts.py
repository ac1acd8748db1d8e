"""The counts that a foreign folder states, compared with its rows, the dataset and what the protocol registers."""

from __future__ import annotations

from collections import Counter

from recallbench.audit.gate import Check
from recallbench.foreign.case import ForeignCase, abridge, check
from recallbench.foreign.layouts.layout import Count

_SCORED = ("n_questions_with_evidence", "n_with_evidence", "n_evaluated", "n_scored", "num_q", "n_rows", "rows")
_ASKED = (
    *("n", "n_questions", "n_questions_total", "n_items", "n_instances", "n_queries", "n_total", "n_asked", "count"),
    *("num_questions", "num_queries", "num_items", "total_questions", "total", "questions", "queries", "items"),
    *("instances", "question_count", "questions_total"),
)
_LEFT_OUT = ("n_skipped", "n_left_out", "n_excluded", "n_missing")
_SEGMENTS = ("n_corpus_segments", "n_segments", "segments", "num_segments")
_SCOPES = ("n_conversations", "n_scopes", "n_haystacks", "num_conversations")


def check_counts(case: ForeignCase) -> Check:
    """Fail where a count contradicts the rows; counts of an unknown name can't be told."""
    questions = case.imported.questions
    wrong, undecided = [], []
    for count in case.imported.counts:
        text = f"{count.name}{' of ' + count.slice if count.slice else ''} says {count.value}"
        allowed, beside = _allowed(case, count)
        if beside and count.value not in allowed:
            wrong.append(f"{text}, {beside}")
        elif not beside:
            undecided.append(text)
    counted = {
        int((denominator.mask & (view.judged.gold > 0)).sum())
        for denominator in case.rescored.denominators
        for view in case.rescored.views
    }
    everyone = {len(questions), *_totals(case), *counted}
    for claim in case.imported.claims:
        if claim.quoted or claim.n is None:
            continue
        if not claim.slice and claim.n not in everyone:
            wrong.append(f"{claim.where} counts {claim.n} for {claim.name}, there are {len(questions)} rows")
        elif claim.slice and claim.n not in _parts(case):
            wrong.append(f"{claim.where} counts {claim.n} for {claim.name}, no part of the rows has as many")
    if wrong:
        return check("RB-F-COUNTS", "counts", "fail", abridge(wrong))
    if undecided:
        return check("RB-F-COUNTS", "counts", "cannot-tell", f"what they count isn't known: {abridge(undecided)}")
    return check("RB-F-COUNTS", "counts", "pass", "no stated count contradicts the rows")


def _totals(case: ForeignCase) -> set[int]:
    """Return the number of questions of the whole dataset; empty where it is unknown."""
    if case.dataset is not None and case.dataset.registered:
        return {len(case.dataset.questions)}
    return {case.corpus.questions} if case.corpus is not None else set()


def _parts(case: ForeignCase) -> set[int]:
    """Return the sizes of all named parts of the questions, with and without questions that lack gold."""
    golden = case.rescored.views[0].judged.gold > 0
    sizes = {int(mask.sum()) for mask in case.rescored.slices.values()}
    sizes |= {int((mask & golden).sum()) for mask in case.rescored.slices.values()}
    if case.dataset is not None:
        sizes |= set(Counter(known.kind for known in case.dataset.questions).values())
    return sizes


def _allowed(case: ForeignCase, count: Count) -> tuple[set[int], str]:
    """Return the values a count may have, and the text for a wrong one; empty where the count is unknown."""
    questions = case.imported.questions
    rows, golden = len(questions), sum(bool(question.gold) for question in questions)
    totals = _totals(case)
    if count.slice:
        return _parts(case), "no part of the rows has as many"
    if count.name in _SCORED:
        return {rows, golden}, f"there are {rows} rows"
    if count.name in _ASKED:
        # More questions may have been asked than scored: only a dataset tells how many.
        text = "" if count.value > rows and not totals else f"there are {rows} rows"
        return {rows, golden, *totals}, text
    if count.name in _LEFT_OUT and totals:
        return {total - counted for total in (*totals, rows) for counted in (rows, golden)}, f"there are {rows} rows"
    if count.name in _SEGMENTS and case.corpus is not None:
        return {case.corpus.segments}, f"the protocol registers {case.corpus.segments}"
    if count.name in _SCOPES:
        scopes = len({question.scope for question in questions if question.scope})
        return {scopes}, f"the rows name {scopes}"
    return set(), ""
