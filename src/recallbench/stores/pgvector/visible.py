"""Statements for questions that see a part of their scope: $6 is the first id that each of them does not see."""

from __future__ import annotations

from recallbench.stores.pgvector.statements import sql

_TIMED = {":moments": ", $6::bigint[]", ":before": ", before", ":visible": " AND s.id < asked.before"}


def with_time(statement: str, *, timed: bool) -> str:
    """Return a search that looks at the visible segments of each question alone; not `timed`, at the whole scope."""
    for mark, words in _TIMED.items():
        statement = statement.replace(mark, words if timed else "")
    return statement.replace(":lexical", sql("lexical_timed" if timed else "lexical"))


def lexicon(*, timed: bool) -> str:
    """Return the statement that builds the lexical index of a scope."""
    return sql("lexicon_timed" if timed else "lexicon").replace(":words", sql("words"))
