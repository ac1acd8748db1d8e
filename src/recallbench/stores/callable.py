"""A retriever of the user's own, named as `module:function`.

The function is called once per scope with the scope's items and their vectors, and returns a searcher:

    def open_memory(items: Sequence[Item], vectors: Matrix | None):
        def search(query: Query, k: int) -> list[tuple[int, float]]:   # (item id, score), at most k, each id once
            ...
        return search

`open_memory.needs_vectors = False` says that it works on text alone: then nothing is embedded and `vectors` is None.
Hits are ranked by score, highest first, ties by id, in whatever order they are returned.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import checked_rows

Searcher = Callable[[Query, int], Iterable[tuple[int, float]]]
EXAMPLE = "recallbench run … --store callable --call my_module:open_memory"


class CallableStore(Store):
    """Searches with the user's function, and accepts no answer that would make a number wrong."""

    name: ClassVar[str] = "callable"
    one_scope_at_a_time: ClassVar[bool] = True

    def __init__(self, call: str) -> None:
        self._call = call
        self._module, self._open = _loaded(call)
        self.needs_vectors = bool(getattr(self._open, "needs_vectors", True))
        self._dims = 0
        self._scopes: dict[int, tuple[Searcher, frozenset[int]]] = {}

    def prepare(self, dims: int) -> None:
        self._dims = dims

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        rows = checked_rows(items, vectors, self._dims) if self.needs_vectors else None
        for scope in dict.fromkeys(item.scope for item in items):
            chosen = [row for row, item in enumerate(items) if item.scope == scope]
            own = [items[row] for row in chosen]
            try:
                searcher = self._open(own, None if rows is None else rows[chosen])
            except (Exception, SystemExit) as error:
                raise self._failed(f"taking the {len(own)} segments of scope {scope}", error) from error
            if not callable(searcher):
                raise self._wrong("must return a function (query, k)", f"a {type(searcher).__name__}")
            self._scopes[scope] = (searcher, frozenset(item.id for item in own))

    def search(self, query: Query, k: int) -> list[Hit]:
        if query.scope not in self._scopes:
            return []
        searcher, known = self._scopes[query.scope]
        try:
            answer = list(searcher(query, k))
        except (Exception, SystemExit) as error:
            raise self._failed(f"searching for `{query.text[:60]}`", error) from error
        if len(answer) > k:
            raise self._wrong(f"must return at most k = {k} hits", f"{len(answer)} hits")
        hits: dict[int, Hit] = {}
        for pair in answer:
            hit = self._hit(pair)
            if hit.id not in known:
                raise self._wrong("must return ids of the items it was given", f"the id {hit.id}")
            if hit.id in hits:
                raise self._wrong("must return each id once", f"the id {hit.id} twice")
            hits[hit.id] = hit
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.id))

    def forget(self, scope: int) -> None:
        self._scopes.pop(scope, None)

    def version(self) -> str:
        return f"{self._call} ({getattr(self._module, '__version__', 'no __version__')})"

    def settings(self) -> Mapping[str, str]:
        return {"callable.function": self._call}

    def evidence(self) -> Mapping[str, str]:
        file = getattr(self._module, "__file__", None)
        source = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else "built in"
        return {"index": "the callable's own", "plan": "the callable's own", "module_sha256": source}

    def close(self) -> None:
        self._scopes.clear()

    def _hit(self, pair: Any) -> Hit:
        try:
            identity, score = pair
            hit = Hit(int(identity), float(score))
            whole = hit.id == identity
        except (TypeError, ValueError):
            raise self._wrong("must return pairs of item id and score", repr(pair)[:80]) from None
        if not whole:
            raise self._wrong("must return whole numbers as ids", repr(identity)[:80])
        if not math.isfinite(hit.score):
            raise self._wrong("must give each hit a finite score", f"{score} for the id {hit.id}")
        return hit

    def _failed(self, doing: str, error: BaseException) -> RecallBenchError:
        if isinstance(error, RecallBenchError):
            return error
        return InputError(
            f"`{self._call}` failed while {doing}",
            found=f"{type(error).__name__}: {error}",
            remedy="mend the function; nothing of this run was written",
        )

    def _wrong(self, expected: str, found: str) -> InputError:
        problem = f"`{self._call}` broke its contract"
        return InputError(problem, expected=f"it {expected}", found=found, remedy="mend the function")


def _loaded(call: str) -> tuple[Any, Callable[..., Any]]:
    module_name, _, function_name = call.partition(":")
    if not module_name or not function_name:
        raise UsageError(f"`{call}` names no function", expected="module:function", remedy=EXAMPLE)
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise UsageError(
            f"the module `{module_name}` can't be imported",
            found=f"{type(error).__name__}: {error}",
            remedy=f"run from its folder, or install it; then {EXAMPLE}",
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        found = "no such name" if function is None else f"a {type(function).__name__}"
        raise UsageError(f"`{function_name}` of the module `{module_name}` is no function", found=found, remedy=EXAMPLE)
    return module, function
