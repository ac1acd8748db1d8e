"""A haystack replayed: its items go in one by one, and each question is asked when its moment has come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from recallbench.errors import UsageError
from recallbench.retrieval.failures import Failures
from recallbench.retrieval.request import Request
from recallbench.retrieval.timing import Timings
from recallbench.stores.store import Item, Matrix, Store

FILTERED, REPLAYED = "filtered", "replayed"


def keep_time(store: Store, *controls: Store | None) -> str:
    """Make the stores ready for questions that see a part of their haystack; return how the first is held to that."""
    if not store.filters_time and not store.grows:
        raise cannot_be_held(store.name)
    for each in (store, *controls):
        if each is not None:
            each.expect_time()
    return FILTERED if store.filters_time else REPLAYED


def cannot_be_held(store: str) -> UsageError:
    """Return the refusal of a store that can't be held to what was said before a question."""
    return UsageError(
        f"the store {store} can't be held to what was said before a question",
        expected="a store that filters by time, or takes items into a scope that was searched before: exact, bm25, "
        "pgvector, pgmnemo, or one of your own",
        found=f"{store}, which does neither",
        remedy="--time ignored asks all the same, and shows what the future would have given; a deviation",
    )


def not_while_filling(store: str) -> UsageError:
    """Return the refusal of a store that is to be asked in any order, once it is filled."""
    return UsageError(
        f"the store {store} is asked while it fills, and can't be asked again as it was",
        expected="a store that filters by time: exact, bm25, pgvector, or one of your own that says filters_time",
        found=f"{store}, which is replayed",
        remedy="recallbench run",
    )


def in_order_of_time(requests: Sequence[Request]) -> list[int]:
    """Return the places of requests in the order in which their moments come; those of one moment in their own."""
    return sorted(range(len(requests)), key=lambda place: requests[place].candidates)


def moments(
    store: Store,
    items: Sequence[Item],
    vectors: Matrix | None,
    requests: Sequence[Request],
    failures: Failures,
    timings: Timings,
) -> Iterator[list[Request]]:
    """Yield the requests of one moment after the other, each time with all that was said before it in the store.

    What was said after the last question goes in at the end. Requests say nothing of what is visible: that is all.
    """
    ordered = [requests[place] for place in in_order_of_time(requests)]
    there = 0

    def take_in(until: int) -> int:
        for place in range(there, until):
            row = None if vectors is None else vectors[place : place + 1]
            to_come = [request.question.id for request in ordered if request.candidates > place]
            with timings.phase("ingest"):
                failures.attempt(to_come, partial(store.ingest, items[place : place + 1], row), None)
        return max(there, until)

    for until, together in groupby(ordered, key=lambda request: request.candidates):
        there = take_in(until)
        yield [replace(request, query=replace(request.query, visible=None)) for request in together]
    take_in(len(items))
