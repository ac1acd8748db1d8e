"""Questions shared out among callers: every ranking in its place, every failure noted once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from recallbench.corpora.records import Question
from recallbench.errors import InputError
from recallbench.retrieval.callers import ask_together
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.opaque import ScopeIds
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.request import Request
from recallbench.stores.store import Query

STORES = cast(Any, ["first", "second", "third"])
BAD = ("q2", "q5")


def requests(count: int) -> list[Request]:
    scope = ScopeIds(0, 0, 10)
    return [
        Request(Question("c", f"q{number}", "who?", frozenset({0}), "kind"), Query(0, f"q{number}", None), scope)
        for number in range(count)
    ]


def asking(store: Any, some: Sequence[Request], failures: Failures) -> Iterator[Ranking]:
    """Ranks by which caller asked, and fails on some questions."""

    def answer(id: str) -> Ranking:
        if failures.keep_going and id in BAD:
            raise InputError(f"{id} is bad")
        return Ranking(id, (STORES.index(store),), ())

    for request in some:
        id = request.question.id
        yield failures.attempt([id], lambda id=id: answer(id), Ranking(id, (), ()))


def test_rankings_come_in_the_order_of_the_questions() -> None:
    found = ask_together(STORES, requests(7), asking, Failures())
    assert [ranking.question_id for ranking in found] == [f"q{number}" for number in range(7)]
    assert [ranking.positions for ranking in found] == [(0,), (1,), (2,), (0,), (1,), (2,), (0,)]
    assert [ranking.positions for ranking in ask_together(STORES[:1], requests(2), asking, Failures())] == [(0,), (0,)]


def test_failures_are_noted_in_the_order_of_the_questions() -> None:
    failures = Failures(keep_going=True)
    found = ask_together(STORES, requests(6), asking, failures)
    assert list(failures.reasons) == list(BAD)
    assert [ranking.question_id for ranking in found if not ranking.positions] == list(BAD)
    assert failures.seconds.keys() == set(BAD)


def test_the_failure_of_one_caller_ends_all() -> None:
    def breaking(store: Any, some: Sequence[Request], failures: Failures) -> Iterator[Ranking]:
        if store == "second":
            raise InputError("the second is away")
        yield from asking(store, some, failures)

    with pytest.raises(InputError, match="the second is away"):
        ask_together(STORES, requests(6), breaking, Failures())
