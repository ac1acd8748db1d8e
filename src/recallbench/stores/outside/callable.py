"""A retriever of the user's own: `--store python:module:factory`, or `--store callable --call module:factory`.

The factory is called once per scope with the scope's items and their vectors, and returns a searcher:

    def open_memory(items: Sequence[Item], vectors: Matrix | None):
        def search(query: Query, k: int) -> list[tuple[int, float]]:   # (item id, score), best first, at most k
            ...
        return search

`open_memory.needs_vectors = False` says that it works on text alone: then nothing is embedded and `vectors` is None.
`open_memory.settings`, a mapping, is written into results; so is the module's `__version__`. A searcher that has a
method `close` is closed when its scope is no longer asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

from recallbench.addresses import PYTHON, recorded_name, scheme_of
from recallbench.confidential import without_secrets
from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.interruption import TimeLimitExceeded, time_limit
from recallbench.patience import PATIENCE, patience_of
from recallbench.stores.options import StoreOption
from recallbench.stores.outside.answer import ALIKE, BY_K, GO_ON, SCORES, Contract, question_of
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import checked_rows
from recallbench.user_function import load_function

Searcher = Callable[[Query, int], Iterable[tuple[int, float]]]
EXAMPLE = "recallbench run … --store python:my_module:open_memory"


# The function is the store itself, and stands in its version.
CALL = StoreOption("call", "Your function, as `module:function`", deviation="", flag="call")


class CallableStore(Store):
    """Searches with the user's function, and accepts no answer that would make a number wrong."""

    summary: ClassVar[str] = "a retriever of your own, as module:function"
    options: ClassVar[tuple[StoreOption, ...]] = (CALL,)
    outside: ClassVar[bool] = True
    one_scope_at_a_time: ClassVar[bool] = True

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        call = CALL.read(request.options)
        if call is None:
            raise UsageError("the store `callable` needs a function", expected="--call module:function", remedy=EXAMPLE)
        return cls(call, patience=patience_of(request.environ))

    @classmethod
    def asks_vectors(cls, request: StoreRequest) -> bool:
        return cls.open(request).needs_vectors

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        call = re.escape(name.removeprefix(f"{PYTHON}:") if scheme_of(name) else str(options.get("call")))
        # An earlier release called the function a callable.
        own = "the (function|callable)'s own"
        evidence = {"index": own, "plan": own, "module_sha256": "[0-9a-f]{64}|built in"}
        settings = {"callable.function": call}
        later = {SCORES: f"{ALIKE}|{BY_K}"}
        return (Statement(rf"{call} \(.*\)", settings, evidence, {r"callable\..*": ".*"}, later),)

    @classmethod
    def scores_alike(cls, size: int, k: int, options: Mapping[str, Any], evidence: Mapping[str, str]) -> bool:
        return evidence.get(SCORES) != BY_K

    def __init__(self, call: str, name: str = "callable", patience: float = PATIENCE) -> None:
        """`name` is how results call it; `patience` the seconds that one call of the function may take."""
        self.name = name
        self._call = call
        self._patience = patience
        self._module, self._open = load_function(call, EXAMPLE)
        self._contract = Contract(f"`{call}`", f"mend the function; {GO_ON}")
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
                with time_limit(self._patience):
                    searcher = self._open(own, None if rows is None else rows[chosen])
            except (Exception, SystemExit, TimeLimitExceeded) as error:
                raise self._failed(f"taking the {len(own)} segments of scope {scope}", error) from error
            if not callable(searcher):
                raise InputError(
                    f"`{self._call}` broke its contract",
                    expected="a function (query, k)",
                    found=f"a {type(searcher).__name__}",
                    remedy="mend the function",
                )
            self._scopes[scope] = (searcher, frozenset(item.id for item in own))

    def search(self, query: Query, k: int) -> list[Hit]:
        if query.scope not in self._scopes:
            return []
        searcher, known = self._scopes[query.scope]
        try:
            with time_limit(self._patience):
                answer = searcher(query, k)
                # An answer may do its work only while it is walked. One more than may come tells that there are too
                # many, of an endless one too.
                if isinstance(answer, Iterable) and not isinstance(answer, (list, tuple, str, bytes, Mapping)):
                    answer = list(islice(answer, k + 1))
        except (Exception, SystemExit, TimeLimitExceeded) as error:
            raise self._failed(f"searching for {question_of(query)}", error, f"; {GO_ON}") from error
        return self._contract.hits(answer, query, k, known)

    def forget(self, scope: int) -> None:
        searcher, _ = self._scopes.pop(scope, (None, frozenset()))
        close = getattr(searcher, "close", None)
        if callable(close):
            try:
                with time_limit(self._patience):
                    close()
            except (Exception, SystemExit, TimeLimitExceeded) as error:
                raise self._failed(f"closing scope {scope}", error) from error

    def version(self) -> str:
        return f"{self._call} ({getattr(self._module, '__version__', 'no __version__')})"

    def settings(self) -> Mapping[str, str]:
        own = getattr(self._open, "settings", None)
        stated = without_secrets(
            {str(name): str(value) for name, value in own.items()} if isinstance(own, Mapping) else {}
        )
        function = {"callable.function": self._call}
        # Whatever else the user's settings are called, this one is ours.
        return function | {f"callable.{name}": value for name, value in stated.items()} | function

    def evidence(self) -> Mapping[str, str]:
        file = getattr(self._module, "__file__", None)
        source = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else "built in"
        scores = BY_K if getattr(self._open, "scores_depend_on_k", False) else ALIKE
        return {"index": "the function's own", "plan": "the function's own", "module_sha256": source, SCORES: scores}

    def close(self) -> None:
        for scope in tuple(self._scopes):
            self.forget(scope)

    def _failed(self, doing: str, error: BaseException, otherwise: str = "") -> RecallBenchError:
        if isinstance(error, RecallBenchError):
            return error
        if isinstance(error, TimeLimitExceeded):
            return InputError(
                f"`{self._call}` did not come back while {doing}",
                expected=f"an answer within {self._patience:g} s",
                found="none in that time",
                remedy=f"mend the function, or allow more seconds with RECALLBENCH_STORE_TIMEOUT{otherwise}",
            )
        return InputError(
            f"`{self._call}` failed while {doing}",
            expected="a list of (id, score) pairs" if otherwise else "",
            found=f"{type(error).__name__}: {error}",
            remedy=f"mend the function; nothing of this run was written{otherwise}",
        )


class PythonStore(CallableStore):
    """The same function, named by the store's address."""

    summary: ClassVar[str] = "a retriever of your own: python:module:factory"
    options: ClassVar[tuple[StoreOption, ...]] = ()

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        name = recorded_name(request.name)
        return cls(name.removeprefix(f"{PYTHON}:"), name, patience_of(request.environ))

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        cls.open(request)
        return StoreStatus(True, "in this process")
