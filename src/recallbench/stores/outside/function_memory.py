"""A function of the user's that opens a memory: called once per scope, it returns a searcher."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from recallbench.errors import InputError, UsageError
from recallbench.stores.outside.answer import GO_ON, question_of
from recallbench.stores.outside.held_bytes import held_bytes
from recallbench.stores.outside.method import OF_QUERIES
from recallbench.stores.outside.own_code import OwnCode
from recallbench.stores.outside.parameters import Parameters
from recallbench.stores.outside.sources import until_too_many
from recallbench.stores.store import Item, Matrix, Query

Searcher = Callable[[Query, int], Iterable[tuple[int, float] | tuple[int | str, float, int]]]
QUESTIONS = ("query", "question", "q")
"""Names of a first parameter that takes what is asked, and not what a memory holds."""


class FunctionMemory:
    """Calls the function, with the parameters of `--set`."""

    noun = "function"
    description = "a function, called for each scope"
    scored = True
    one_caller = ""
    timed = False
    """Whether questions see a part of their scope."""

    def __init__(self, code: OwnCode, texts: Mapping[str, str]) -> None:
        """`texts` are the values of `--set`; raises UsageError for a function that opens nothing, or takes no such."""
        self._code = code
        self._refuse_searches()
        self.parameters = Parameters(code, texts, leading=2)
        self.needs_vectors = bool(getattr(code.object, "needs_vectors", True))

    def open(self, items: Sequence[Item], vectors: Matrix | None) -> FunctionSearcher:
        """Return a memory that holds these items of one scope."""
        return FunctionSearcher(self._code, self._opened, items, vectors)

    def _opened(self, items: Sequence[Item], vectors: Matrix | None) -> Searcher:
        searcher: Searcher = self._code.call(
            f"taking the {len(items)} segments of scope {items[0].scope}",
            lambda: self._code.object(items, vectors, **self.parameters.values),
        )
        if not callable(searcher):
            raise InputError(
                f"`{self._code.name}` broke its contract",
                expected="a function (query, k)",
                found=f"a {type(searcher).__name__}",
                remedy="mend the function, or name the class itself where it has add and search",
            )
        return searcher

    def _refuse_searches(self) -> None:
        """Raise UsageError where the function can't take items and vectors, or is the search itself."""
        try:
            taken = inspect.signature(self._code.object).parameters.values()
        except (TypeError, ValueError):
            return  # made by an extension, it says itself what it takes
        names = [p.name for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        enough = len(names) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in taken)
        searches = names[:1] and (names[0] in QUESTIONS or "k" in map(OF_QUERIES.get, names[1:2]))
        if enough and not searches:
            return
        found = f"{self._code.name.rpartition(':')[2]}({', '.join(p.name for p in taken)})"
        raise UsageError(
            f"`{self._code.name}` opens no memory",
            expected="a function that is given what to remember, (items, vectors), and returns the search (query, k)",
            found=f"{found}, which {'searches' if searches else 'does not take both'}",
            remedy="put it into one that opens the memory, or name a class with add and search:\n"
            "def open_memory(items, vectors):  # each item has an id and a text\n"
            "    def search(query, k): ...  # by query.text; (id, score) pairs, best first\n"
            "    return search\n"
            "open_memory.needs_vectors = False",
        )

    def close(self) -> None:
        """Do nothing: each scope has a searcher of its own."""


class FunctionSearcher:
    """Searches one scope by the function that was returned for it."""

    def __init__(
        self,
        code: OwnCode,
        opening: Callable[[Sequence[Item], Matrix | None], Searcher],
        items: Sequence[Item],
        vectors: Matrix | None,
    ) -> None:
        self._code, self._opening, self._items, self._vectors = code, opening, items, vectors
        self._searcher: Searcher | None = opening(items, vectors)
        """None while items came that it was not opened with."""

    def add(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        """Have it opened again, with these items as well, before the next search."""
        self.close()
        self._searcher, self._items = None, [*self._items, *items]
        if vectors is not None and self._vectors is not None:
            self._vectors = np.concatenate([self._vectors, vectors])

    def search(self, query: Query, k: int) -> Any:
        """Return the answer, as pairs of item id and score if it keeps its promise."""
        searcher = self._current

        def answered() -> Any:
            answer = searcher(query, k)
            # An answer may do its work only while it is walked. One more than may come tells that there are too
            # many, of an endless one too.
            if isinstance(answer, Iterable) and not isinstance(answer, (list, tuple, str, bytes, Mapping)):
                return list(until_too_many(answer, k))
            return answer

        return self._code.call(
            f"searching for {question_of(query)}",
            answered,
            otherwise=f"; {GO_ON}",
        )

    def stored_bytes(self) -> int | None:
        """Return how many bytes the scope takes up, as far as the searcher says so."""
        return held_bytes(self._code.name, self._current, self._code.call)

    def round_trip(self) -> bool:
        """Return that a function has no transport that is known of."""
        return False

    def close(self) -> None:
        """Close the searcher, where it can be closed."""
        if callable(close := getattr(self._searcher, "close", None)):
            self._code.call("being closed", close)

    @property
    def _current(self) -> Searcher:
        if self._searcher is None:
            self._searcher = self._opening(self._items, self._vectors)
        return self._searcher
