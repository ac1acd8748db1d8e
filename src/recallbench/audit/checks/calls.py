"""The calls of a run: as many as the store declares, and with one score for a segment in all of them."""

import re
from collections.abc import Iterator, Sequence

from recallbench.audit.declared import declared_store, recorded_store_options
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.retrieval.ranking import find_unequal_score
from recallbench.scoring.editions import FIRST
from recallbench.stores.outside.answer import SCORES
from recallbench.stores.store import Store

_SENT = re.compile(r"([0-9]+) sent, ([0-9]+) of them again")


def calls(subject: AuditSubject) -> Finding:
    kind, stated = declared_store(subject), subject.metrics.retrieval
    k = subject.rules.default_k
    one_call = subject.metrics.pipeline is not None or kind.keeps_prefix(recorded_store_options(subject))
    declared = [stated.depth] if one_call else [k, stated.depth]
    problems = (
        []
        if stated.calls == declared
        else [f"calls for {stated.calls} hits, {subject.metrics.store.name} is asked for {declared}"]
    )
    problems += [*_requests(subject, declared), *_scored_apart(subject, kind, k)]
    return pass_unless(problems, f"a call for each of {declared} hits, as the store declares it")


def _requests(subject: AuditSubject, declared: Sequence[int]) -> Iterator[str]:
    """Check a store's count of requests: one for each call of each question, and one for each scope."""
    requests = _SENT.fullmatch(subject.metrics.store.evidence.get("requests", ""))
    if requests is None:
        return  # RB-RECORDED reports it
    sent, again = int(requests[1]), int(requests[2])
    answered = len(subject.questions) - len(subject.metrics.retrieval.failed)
    fewest = len(declared) * answered + len({question.scope for question in subject.questions})
    if sent - again < fewest:
        yield f"{sent} requests, {again} of them again, where {answered} questions and their scopes take {fewest}"


def _scored_apart(subject: AuditSubject, kind: type[Store], k: int) -> Iterator[str]:
    """Yield the segments that were scored otherwise in the call for k hits than in the deep call."""
    options, evidence, retrieval = recorded_store_options(subject), subject.metrics.store.evidence, subject.retrieval
    own = not kind.outside
    if retrieval.short is None or (
        not own and SCORES not in evidence and subject.metrics.statistics_edition == FIRST.number
    ):
        return  # the first edition did not ask outside memories whether scores depend on k
    otherwise = "" if own else "; a memory that is right to do so says scores_depend_on_k"
    for question, size, short, deep in zip(
        retrieval.questions, retrieval.candidates, retrieval.short, retrieval.rankings, strict=True
    ):
        apart = find_unequal_score(short, deep) if kind.scores_alike(size, k, options, evidence) else None
        if apart is not None:
            position, short_score, deep_score = apart
            where = f"{question.id}: {subject.name_of(f'{question.scope}/{position}')}"
            yield f"{where} with {short_score} in the call for {k}, with {deep_score} in the other{otherwise}"


CALLS = Examination("RB-CALLS", "calls", "the calls that the store declares, with one score for a segment", calls)
