"""The queries of those that somebody named which wait for their label, told by their id or their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recallbench.corpora.labelled_sets.label_book import Question, UnlabelledQuery, question_of, stated_id


class WaitingQueries(NamedTuple):
    """Queries that wait for their label, and those that don't."""

    waiting: Sequence[UnlabelledQuery]
    done: Sequence[UnlabelledQuery]
    otherwise: Sequence[tuple[UnlabelledQuery, str]]
    """The part of `done` whose id is labelled with other words, each with these."""


def waiting_queries(named: Sequence[UnlabelledQuery], records: Mapping[str, Mapping[str, Any]]) -> WaitingQueries:
    """Return which of these queries wait; `records` are the lines that are there, by their ids.

    A query is labelled where a line says its id, or else its words and its scope. Words of another query that was named
    with an id of its own are that one's. A query that is named twice counts once.
    """
    own = {query.id for query in named if query.id}
    said = {id: question_of(record) for id, record in records.items() if stated_id(record)}
    asked = {question_of(record) for id, record in records.items() if id not in said or id not in own}
    by_anyone = asked | set(said.values())
    waiting: list[UnlabelledQuery] = []
    done: list[UnlabelledQuery] = []
    otherwise: list[tuple[UnlabelledQuery, str]] = []
    seen: set[tuple[str, Question]] = set()
    for query in named:
        if (query.id, query.question) in seen:
            continue
        seen.add((query.id, query.question))
        if query.id in said:
            if said[query.id] != query.question:
                otherwise.append((query, said[query.id][0]))
            done.append(query)
        elif query.question in (asked if query.id else by_anyone):
            done.append(query)
        else:
            waiting.append(query)
    return WaitingQueries(waiting, done, otherwise)
