"""A class of the user's as a memory: `add` (or `ingest`) and `search`, as they are.

A class is made anew for each scope, unless both methods take a `scope`. What they are given follows from the names of
their parameters (`method.py`), how their answers are read from what they were given (`class_answer.py`).
"""

from __future__ import annotations

import inspect
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from recallbench.errors import UsageError
from recallbench.escaping.terminal import shortened
from recallbench.stores.outside.answer import GO_ON, Contract, question_of
from recallbench.stores.outside.class_answer import KnownItems, Reading, read_answer
from recallbench.stores.outside.held_bytes import held_bytes
from recallbench.stores.outside.method import OF_ITEMS, OF_QUERIES, Method
from recallbench.stores.outside.own_code import OwnCode
from recallbench.stores.outside.own_loop import OwnLoop
from recallbench.stores.outside.parameters import Parameters
from recallbench.stores.outside.sources import FoundItem
from recallbench.stores.store import Item, Matrix, Query, Store

ADDING = ("add", "ingest")
ONE_LOOP = "its methods are asynchronous, and all are awaited in one event loop"
NEEDED = "a method add(id, text), add(text) or ingest(items), and a method search(query, k)"
_ALL = re.compile(r"(collections\.abc\.|typing\.)?(Optional\[)?(list|List|Sequence|Iterable|Collection)\b")
_NUMBER = re.compile(r"(.*\W)?int\b")

T = TypeVar("T")


def _unchanged(answer: Any) -> Any:
    return answer


def is_memory_class(own: Any) -> bool:
    """Return whether this is a class that is used by its methods; one whose instances are called opens a memory."""
    if not isinstance(own, type):
        return False
    return hasattr(own, "search") or not any("__call__" in vars(base) for base in own.__mro__)


class ClassMemory:
    """Makes instances of the class, and calls their methods."""

    noun = "class"

    def __init__(self, code: OwnCode, texts: Mapping[str, str], contract: Contract) -> None:
        """`texts` are the values of `--set`; raises UsageError for a class that can't be used or does not take them."""
        self._code, self._contract, kind = code, contract, code.object
        adding = next((name for name in ADDING if callable(getattr(kind, name, None))), None)
        if adding is None or not callable(getattr(kind, "search", None)):
            own = [n for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))]
            raise UsageError(
                f"`{code.name}` can't be used as a memory",
                expected=NEEDED,
                found=(f"the methods {', '.join(own)}" if own else "no methods") + _lacking(adding, kind),
                remedy="add them, or derive a class that has them:\n"
                f"class Memory({kind.__name__}):\n"
                "    def add(self, id, text): ...\n"
                "    def search(self, query, k): ...  # ids, or (id, score) pairs, best first",
            )
        self.parameters = Parameters(code, texts)
        vectors = bool(getattr(kind, "needs_vectors", False))
        self._add = Method(code.name, kind, adding, OF_ITEMS, ("text",), vectors=vectors)
        self._search = Method(code.name, kind, "search", OF_QUERIES, ("query", "k"), vectors=vectors)
        self.needs_vectors = self._add.takes("vector") or self._search.takes("vector")
        if self._add.takes("scope") != self._search.takes("scope"):
            knowing, other = (self._add, self._search) if self._add.takes("scope") else (self._search, self._add)
            raise UsageError(
                f"`{code.name}` knows scopes in one method only",
                expected="a scope in both methods, or in none: then each scope gets an instance of its own",
                found=f"{knowing.text} and {other.text}",
                remedy=f"let `{other.name}` take {knowing.parameter('scope')} too",
            )
        if code.filters_time and not (self._search.takes("visible") or self._takes_query):
            raise UsageError(
                f"`{code.name}` says filters_time, and its search is not told what was there",
                expected="search(query, k, visible): how many items, the first that were added, it may return",
                found=self._search.text,
                remedy="let `search` take `visible`, or leave out filters_time: then it is replayed",
            )
        self._run = f"recallbench-{secrets.token_hex(6)}"
        self._shared: Any = None
        self._loop: OwnLoop | None = None
        self._counted = 0
        """The bytes of a shared instance that were told before."""
        self.timed = False
        """Whether questions see a part of their scope."""
        self.scored = True
        """Whether each answer so far had scores."""

    @property
    def description(self) -> str:
        """Return how the class is used, in words."""
        scopes = "one instance for all scopes" if self._add.takes("scope") else "an instance for each scope"
        return f"{self._add.text}, {self._search.text}, {scopes}"

    @property
    def one_caller(self) -> str:
        """Return why it can't be searched by several callers at once; empty where it can."""
        waits = self._loop is not None or inspect.iscoroutinefunction(self._code.object.search)
        return ONE_LOOP if waits else ""

    def open(self, items: Sequence[Item], vectors: Matrix | None) -> ClassSearcher:
        """Return a memory that holds these items of one scope."""
        scope = items[0].scope
        instance = self._shared
        if instance is None:
            instance = self._call(f"being made for scope {scope}", lambda: self._code.object(**self.parameters.values))
            if isinstance(instance, Store):
                instance.prepare(0 if vectors is None else vectors.shape[1])
                if self.timed:
                    instance.expect_time()
            if self._add.takes("scope"):
                self._shared = instance
        return ClassSearcher(self, instance, items, self.take(instance, items, vectors))

    def known(self, items: Sequence[Item], returned: Sequence[Any]) -> KnownItems:
        """Return these items by all that a hit may call them; `returned` is what `add` answered to them."""
        by_id = self._add.takes("id") or self._add.takes("item")
        return KnownItems(items, by_id=by_id, by_metadata=self._add.takes("metadata"), returned=returned)

    def take(self, instance: Any, items: Sequence[Item], vectors: Matrix | None) -> list[Any]:
        """Put items of one scope into an instance; returns what it answered to them."""
        scope = items[0].scope
        values = [self._values(item, None if vectors is None else vectors[row]) for row, item in enumerate(items)]
        add = self._add
        if self._takes_all():
            together: dict[str, Any] = {name: [value[name] for value in values] for name in values[0]}
            together |= {"vector": vectors, "scope": values[0]["scope"]}
            doing = f"taking the {len(items)} segments of scope {scope}"
            answer: Any = self._call(doing, add.bound(instance, together))
            return list(answer) if isinstance(answer, (list, tuple)) else []
        return [
            self._call(
                f"taking segment {number} of {len(items)} of scope {scope}, `{shortened(item.text)}`",
                add.bound(instance, value),
            )
            for number, (item, value) in enumerate(zip(items, values, strict=True), 1)
        ]

    def search(self, instance: Any, query: Query, k: int, known: KnownItems) -> Reading:
        """Return the hits of an instance."""
        values = {
            "query": query if self._takes_query else query.text,
            "k": k,
            "vector": query.vector,
            "scope": self._scope(query.scope),
            "asked_at": query.asked_at,
            "visible": None if query.visible is None else len(query.visible),
        }
        cut = not self._search.takes("k")
        return self._call(
            f"searching for {question_of(query)}",
            self._search.bound(instance, values),
            lambda answer: read_answer(answer, query, k, known, self._contract, cut=cut),
            otherwise=f"; {GO_ON}",
        )

    @property
    def _takes_query(self) -> bool:
        """Whether `search` is given the question with all that is known of it."""
        return self._search.annotation("query").rpartition(".")[2] == "Query"

    def stored_bytes(self, instance: Any) -> int | None:
        """Return how many bytes an instance says that it holds, of a shared one those that came since it was asked."""
        held = held_bytes(self._code.name, instance, self._call)
        if held is None or instance is not self._shared:
            return held
        more, self._counted = max(held - self._counted, 0), held
        return more

    def round_trip(self, instance: Any) -> bool:
        """Call the method `round_trip` of an instance; return whether it has one."""
        own = getattr(instance, "round_trip", None)
        if not callable(own):
            return False
        self._call("going to its server and back", own)
        return True

    def release(self, instance: Any) -> None:
        """Close an instance, unless other scopes share it."""
        if instance is not self._shared and callable(close := getattr(instance, "close", None)):
            self._call("being closed", close)

    def close(self) -> None:
        """Close what is shared by all scopes."""
        shared, self._shared = self._shared, None
        self.release(shared)
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _takes_all(self) -> bool:
        """Return whether `add` takes the items of a scope at once: by its annotation, else by a name in the plural."""
        role = "item" if self._add.takes("item") else "text" if self._add.takes("text") else "vector"
        annotation = self._add.annotation(role)
        if role != "vector" and (_ALL.match(annotation) or annotation.partition(" ")[0] == "str"):
            return annotation.partition(" ")[0] != "str"
        # mem0 calls a text that, or a list of dicts.
        return self._add.parameter(role).endswith("s") and self._add.parameter(role) != "messages"

    def _values(self, item: Item, vector: Any) -> dict[str, Any]:
        id = item.id if _NUMBER.match(self._add.annotation("id")) else str(item.id)
        date = {} if item.occurred_at is None else {"occurred_at": item.occurred_at.isoformat()}
        return {
            "item": item,
            "id": id,
            "text": item.text,
            "metadata": {"id": id, **date, "importance": item.importance},
            "vector": vector,
            "scope": self._scope(item.scope),
            "occurred_at": item.occurred_at,
            "importance": item.importance,
        }

    def _scope(self, scope: int) -> str:
        return f"{self._run}-{scope}"

    def _call(self, doing: str, act: Callable[[], Any], read: Callable[[Any], T] = _unchanged, **more: str) -> T:
        def finished() -> T:
            answer = act()
            if inspect.isawaitable(answer):
                self._loop = self._loop or OwnLoop()
                answer = self._loop.result(answer)
            return read(answer)

        return self._code.call(doing, finished, **more)


def _lacking(adding: str | None, kind: Any) -> str:
    """Return which of the two methods is missing, where the other one is there."""
    searches = callable(getattr(kind, "search", None))
    return "" if searches == (adding is not None) else "; add is missing" if searches else "; search is missing"


class ClassSearcher:
    """Searches one scope of a class of the user's."""

    def __init__(self, memory: ClassMemory, instance: Any, items: Sequence[Item], returned: Sequence[Any]) -> None:
        """`returned` is what `add` answered to the items."""
        self._memory, self._instance, self._items, self._returned = memory, instance, items, returned
        self._known = memory.known(items, returned)

    def add(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        """Put more items of the scope into the instance."""
        more = self._memory.take(self._instance, items, vectors)
        self._items, self._returned = [*self._items, *items], [*self._returned, *more]
        self._known = self._memory.known(self._items, self._returned)

    def search(self, query: Query, k: int) -> list[FoundItem]:
        """Return the items of the answer."""
        reading = self._memory.search(self._instance, query, k, self._known)
        self._memory.scored = self._memory.scored and reading.scored
        return reading.entries

    def stored_bytes(self) -> int | None:
        """Return how many bytes the scope takes up, as far as the instance says so."""
        return self._memory.stored_bytes(self._instance)

    def round_trip(self) -> bool:
        """Call the instance's own `round_trip`, which does nothing at its end; return whether it has one."""
        return self._memory.round_trip(self._instance)

    def close(self) -> None:
        """Close the instance, unless other scopes share it."""
        self._memory.release(self._instance)
