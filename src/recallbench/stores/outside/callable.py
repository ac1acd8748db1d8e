"""A memory of the user's own, in Python: `--store python:module:name`, or `--store callable --call module:name`.

The name is that of a class with `add` (or `ingest`) and `search` (class_memory.py), or of a function that is called
once per scope with the scope's items and their vectors, and returns a searcher:

    def open_memory(items: Sequence[Item], vectors: Matrix | None):
        def search(query: Query, k: int) -> list[tuple[int, float]]:   # (item id, score), best first, at most k
            ...
        return search

(id, score, source) is a hit on what the memory derived from an item: it counts as that one (sources.py).

`open_memory.needs_vectors = False` says that it works on text alone: then nothing is embedded and `vectors` is None.
`settings`, a mapping, of either is written into results; so is the module's `__version__`. What has a method `close` is
closed when its scope is no longer asked. `--set name=value` is a parameter of the constructor, or of the function.
`several_callers = True`, of class or function, says that searches may run at the same time, in several threads: without
it none ever do. `filters_time = True` says that a search returns nothing but what was there when the question was
asked: the first `visible` items that were added, where `search` takes that, or those whose id is in `query.visible`;
None for all. What does not say so is replayed: a class gets its items one by one and is searched in between, a
function is called again for what is there then. A method `stored_bytes()`, of the class or of what the function
returns, says how many bytes its scope takes up; that of an instance for all scopes, how many it holds so far.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from recallbench.addresses import PYTHON, recorded_name, scheme_of
from recallbench.confidential import without_secrets
from recallbench.errors import UsageError
from recallbench.escaping.terminal import shortened
from recallbench.patience import PATIENCE, patience_of
from recallbench.stores.call_clock import CallClock
from recallbench.stores.options import StoreOption
from recallbench.stores.outside.answer import ALIKE, BY_K, DERIVED_EVIDENCE, GO_ON, RANKS, SCORES, Contract
from recallbench.stores.outside.own_code import EXAMPLE, OwnCode
from recallbench.stores.outside.parameters import recorded_text
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import checked_rows

if TYPE_CHECKING:
    from recallbench.stores.outside.class_memory import ClassMemory, ClassSearcher
    from recallbench.stores.outside.function_memory import FunctionMemory, FunctionSearcher

# The code is the store itself, and stands in its version.
CALL = StoreOption("call", "Your function or class, as `module:name`", deviation="", flag="call")
ONE_CALLER = "its {} does not declare `several_callers = True`"
_NOT_PARAMETERS = (CALL.name, "dsn")


class CallableStore(Store):
    """Searches with the user's class or function, and accepts no answer that would make a number wrong."""

    summary: ClassVar[str] = "a memory of your own that --call names; --store python:module:Class is the usual way"
    options: ClassVar[tuple[StoreOption, ...]] = (CALL,)
    outside: ClassVar[bool] = True
    grows: bool = True
    one_scope_at_a_time: ClassVar[bool] = True

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        call = CALL.read(request.options)
        if call is None:
            raise UsageError("the store `callable` needs a function", expected="--call module:name", remedy=EXAMPLE)
        texts = {name: text for name, text in request.options.items() if name != CALL.name}
        return cls(call, patience=patience_of(request.environ), texts=texts)

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        opened = cls.open(request)
        code = (opened.version(), f"module sha256 {opened.evidence()['module_sha256']}")
        return StoreStatus(True, f"in this process: {opened.description}", decides=code)

    @classmethod
    def find_option(cls, name: str) -> StoreOption | None:
        declared = super().find_option(name)
        if declared is None and name.isidentifier():
            return StoreOption(name, "A parameter of your constructor", parse=_brief)
        return declared

    @classmethod
    def asks_vectors(cls, request: StoreRequest) -> bool:
        return cls.open(request).needs_vectors

    @classmethod
    def asks_time(cls, request: StoreRequest) -> bool:
        return cls.open(request).filters_time

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        call = re.escape(name.removeprefix(f"{PYTHON}:") if scheme_of(name) else str(options.get("call")))
        # An earlier release called the function a callable.
        own = "the (function|callable|class)'s own"
        evidence = {"index": own, "plan": own, "module_sha256": "[0-9a-f]{64}|built in"}
        texts = {option: str(text) for option, text in options.items() if option not in _NOT_PARAMETERS}
        settings = {"callable.function": call, **exactly(_recorded(texts))}
        later = {SCORES: f"{ALIKE}|{BY_K}|{RANKS}", "calls": ".*", **DERIVED_EVIDENCE}
        return (Statement(rf"{call} \(.*\)", settings, evidence, {r"callable\..*|[^\W\d]\w*": ".*"}, later),)

    @classmethod
    def scores_alike(cls, size: int, k: int, options: Mapping[str, Any], evidence: Mapping[str, str]) -> bool:
        return evidence.get(SCORES) not in (BY_K, RANKS)

    def __init__(
        self,
        call: str,
        name: str = "callable",
        patience: float = PATIENCE,
        texts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`name` is how results call it; `patience` the seconds that one call may take; `texts` what --set gives."""
        self.name = name
        self._code = OwnCode(call, patience)
        self._texts = texts
        self._contract = Contract(f"`{call}`", f"mend the {self._code.noun}; {GO_ON}")
        # Imported here: help and completion ask for the options alone.
        from recallbench.stores.outside.class_memory import ClassMemory, is_memory_class
        from recallbench.stores.outside.function_memory import FunctionMemory

        self._memory: ClassMemory | FunctionMemory = (
            ClassMemory(self._code, texts, self._contract)
            if is_memory_class(self._code.object)
            else FunctionMemory(self._code, texts)
        )
        # Asked for at once: from now on the secrets among them are known.
        self._parameters = self._memory.parameters.recorded
        self.needs_vectors = self._memory.needs_vectors
        self.filters_time = self._code.filters_time
        self._clock = CallClock()
        self._dims = 0
        self._scopes: dict[int, tuple[ClassSearcher | FunctionSearcher, frozenset[int]]] = {}
        self._closes = True
        """Whether its end is that of the memories; not that of a handle for another caller."""

    @property
    def description(self) -> str:
        """Return how the code is called, in words."""
        return self._memory.description

    def prepare(self, dims: int) -> None:
        self._dims = dims

    def expect_time(self) -> None:
        self._memory.timed = True

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        rows = checked_rows(items, vectors, self._dims) if self.needs_vectors else None
        for scope in dict.fromkeys(item.scope for item in items):
            chosen = [row for row, item in enumerate(items) if item.scope == scope]
            own = [items[row] for row in chosen]
            own_rows = None if rows is None else rows[chosen]
            searcher, known = self._scopes.get(scope, (None, frozenset()))
            if searcher is None:
                searcher = self._memory.open(own, own_rows)
            else:
                searcher.add(own, own_rows)
            self._scopes[scope] = (searcher, known | {item.id for item in own})

    def search(self, query: Query, k: int) -> list[Hit]:
        if query.scope not in self._scopes:
            return []
        searcher, known = self._scopes[query.scope]
        with self._clock:
            answer = searcher.search(query, k)
        return self._contract.hits(answer, query, k, known)

    @property
    def one_caller(self) -> str:
        if getattr(self._code.object, "several_callers", False) is not True:
            return ONE_CALLER.format(self._memory.noun)
        return self._memory.one_caller

    def another_caller(self) -> CallableStore | None:
        if self.one_caller:
            return None
        handle = copy(self)
        handle._scopes, handle._closes, handle._clock = dict(self._scopes), False, CallClock()
        return handle

    @property
    def call_seconds(self) -> float:
        return self._clock.seconds

    def round_trip(self) -> bool:
        searcher, _ = next(iter(self._scopes.values()), (None, None))
        return searcher is not None and searcher.round_trip()

    def forget(self, scope: int) -> None:
        searcher, _ = self._scopes.pop(scope, (None, None))
        if searcher is not None and self._closes:
            searcher.close()

    def stored_bytes(self) -> Mapping[str, int]:
        told = [searcher.stored_bytes() for searcher, _ in self._scopes.values()]
        stated = [size for size in told if size is not None]
        return {"memory": sum(stated)} if stated else {}

    def version(self) -> str:
        return self._code.version

    def settings(self) -> Mapping[str, str]:
        own = getattr(self._code.object, "settings", None)
        stated = {str(name): str(value) for name, value in own.items()} if isinstance(own, Mapping) else {}
        function = {"callable.function": self._code.name}
        # A function states its parameters where one was set; without that, results are as they always were.
        parameters = self._parameters if self._texts or self._memory.noun == "class" else {}
        settings = {f"callable.{name}": value for name, value in without_secrets(stated).items()}
        # Whatever else the user's settings are called, this one is ours.
        return function | settings | parameters | function

    def evidence(self) -> Mapping[str, str]:
        file = getattr(self._code.module, "__file__", None)
        source = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else "built in"
        own = f"the {self._memory.noun}'s own"
        scores = BY_K if getattr(self._code.object, "scores_depend_on_k", False) else ALIKE
        evidence = {"index": own, "plan": own, "module_sha256": source}
        if self._memory.noun == "class":
            evidence["calls"] = self.description
        return evidence | {SCORES: scores if self._memory.scored else RANKS} | self._contract.evidence()

    def close(self) -> None:
        for scope in tuple(self._scopes):
            self.forget(scope)
        if self._closes:
            self._memory.close()


class PythonStore(CallableStore):
    """The same, named by the store's address."""

    summary: ClassVar[str] = "a memory of your own: python:module:Class, with add and search"
    options: ClassVar[tuple[StoreOption, ...]] = ()

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        name = recorded_name(request.name)
        return cls(name.removeprefix(f"{PYTHON}:"), name, patience_of(request.environ), request.options)


def _brief(text: str) -> str:
    return shortened(recorded_text(text))


def _recorded(texts: Mapping[str, str]) -> dict[str, str]:
    return without_secrets({name: recorded_text(text) for name, text in texts.items()})
