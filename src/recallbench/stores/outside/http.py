"""A memory behind a small JSON contract, wherever it runs: `--store http://host:port/path`.

    POST /ingest   {"scope": "…", "items": [{"id": 1, "text": "…", "occurred_at": "…", "importance": 0.5,
                    "vector": […]}]}
    POST /search   {"scope": "…", "query": "…", "k": 10, "asked_at": "…", "vector": […],
                    "last_visible_id": 105}
                   -> {"hits": [{"id": 1, "score": 0.9}]}, or of items that the memory derived from those it was
                   given {"hits": [{"id": "fact-17", "score": 0.9, "source": 1}]}
    GET  /version  -> {"version": "…", "needs_vectors": true, "scores_depend_on_k": false,
                    "several_callers": true, "filters_time": false, "stored_bytes": 123456, "settings": {…}}
                                                                                 (may be missing)
    POST /forget   {"scope": "…"}                                                (may be missing)

An answer is status 2xx with JSON; that of /ingest and /forget may be empty. Ids are whole numbers, scopes texts that no
other run uses. The same item may come twice, since whatever fails on the way is sent again: the second replaces the
first. `occurred_at`, `asked_at` (ISO 8601) and `vector` are left out where there are none; /ingest comes in pieces.
Searches may come at the same time, over several connections, unless the service says `"several_callers": false`.
Where a question sees only what was said before it, items come one by one and searches between them, unless the service
says `"filters_time": true`: then it returns no id above `last_visible_id`, which is left out where all may be returned.
`stored_bytes`, a whole number of 0 or more, is what it holds then; it is asked once all is in.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import closing
from copy import copy
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

from recallbench.addresses import recorded_name
from recallbench.confidential import without_secrets
from recallbench.errors import InputError, RecallBenchError
from recallbench.progress import Progress, Silent
from recallbench.stores.call_clock import CallClock
from recallbench.stores.outside.answer import ALIKE, BY_K, DERIVED_EVIDENCE, GO_ON, SCORES, Contract, question_of
from recallbench.stores.outside.held_bytes import read_bytes
from recallbench.stores.request import StoreRequest, StoreStatus
from recallbench.stores.statement import Statement, exactly
from recallbench.stores.store import ELSEWHERE, Hit, Item, Matrix, Query, Store
from recallbench.stores.vectors import checked_questions, checked_rows
from recallbench.web_json import Web, encoded

AT_ONCE = 64
"""Items in one request: with vectors about a megabyte."""
FIRST_TRIES = 2
"""Tries of the first request: few, so that a server that was not started is noticed soon."""
ABSENT = (404, 405, 501)
"""The statuses of a server that does not offer an optional part of the contract."""
LONGEST = 300
"""The most characters of a server's statements, which go into reports; also the most settings that it may have."""
CONTRACT = {"http.contract": "1"}
OWN = "the server's own"
ONE_CALLER = 'the service says "several_callers": false in /version'
REMEDY = "mend the server; `recallbench stores http` has the contract"


class ServerInfo(NamedTuple):
    """A server's answer to GET /version."""

    version: str
    needs_vectors: bool
    settings: Mapping[str, str]
    scores_depend_on_k: bool = False
    several_callers: bool = True
    stored_bytes: int | None = None
    filters_time: bool = False


class HttpStore(Store):
    """Asks a server, and accepts no answer that would make a number wrong."""

    summary: ClassVar[str] = "a memory behind a JSON contract: http://host:port/"
    outside: ClassVar[bool] = True
    grows: bool = True
    never_cold: ClassVar[str] = ELSEWHERE

    @classmethod
    def open(cls, request: StoreRequest) -> Self:
        return cls(request.name, request.environ, request.progress)

    @classmethod
    def status(cls, request: StoreRequest) -> StoreStatus:
        with closing(cls.open(request)) as store:
            about = store.about()
        vectors = "is given vectors" if about.needs_vectors else "needs no vectors"
        return StoreStatus(True, f"{store.name}: version {about.version}, {vectors}", decides=(about.version, vectors))

    @classmethod
    def asks_vectors(cls, request: StoreRequest) -> bool:
        with closing(cls.open(request)) as store:
            return store.about().needs_vectors

    @classmethod
    def asks_time(cls, request: StoreRequest) -> bool:
        with closing(cls.open(request)) as store:
            return store.about().filters_time

    @classmethod
    def states(cls, name: str, options: Mapping[str, Any]) -> tuple[Statement, ...]:
        evidence = exactly({"server": name, "index": OWN, "plan": OWN})
        evidence["requests"] = "[0-9]+ sent, [0-9]+ of them again"
        return (
            Statement(
                ".+", exactly(CONTRACT), evidence, {r"http\..*": ".*"}, {SCORES: f"{ALIKE}|{BY_K}", **DERIVED_EVIDENCE}
            ),
        )

    @classmethod
    def scores_alike(cls, size: int, k: int, options: Mapping[str, Any], evidence: Mapping[str, str]) -> bool:
        return evidence.get(SCORES) != BY_K

    def __init__(self, address: str, environ: Mapping[str, str], progress: Progress | None = None) -> None:
        """`address` may carry user and password; results never do."""
        self._progress = progress or Silent()
        self.name = recorded_name(address)
        self._open_web = partial(Web, address, environ)
        self._web = self._open_web()
        self._contract = Contract(self.name, f"{REMEDY}; {GO_ON}")
        self._clock = CallClock()
        self._run = f"recallbench-{secrets.token_hex(6)}"
        self._known: dict[int, range | frozenset[int]] = {}
        self._no_ops = 0
        """Requests of no run: how many are made depends on how long they take."""
        self._forgets = True
        """Whether its end is that of the run's scopes; not that of a handle for another caller."""
        self._dims = 0
        self._about: ServerInfo | None = None

    def prepare(self, dims: int) -> None:
        self._dims = dims
        self.about()

    def about(self) -> ServerInfo:
        """Return the server's description of itself; raises Blocked when it isn't there."""
        if self._about is None:
            doing = "asking for its version"
            status, answer = self._web.ask("GET", "/version", None, doing, missing=ABSENT, tries=FIRST_TRIES)
            self._about = _about(self.name, {} if status in ABSENT else answer)
            self.needs_vectors, self.filters_time = self._about.needs_vectors, self._about.filters_time
        return self._about

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        rows = checked_rows(items, vectors, self._dims) if self._dims else None
        for scope in dict.fromkeys(item.scope for item in items):
            chosen = [row for row, item in enumerate(items) if item.scope == scope]
            self._known[scope] = frozenset(self._known.get(scope, ())) | {items[row].id for row in chosen}
            with self._progress.stage("sending items", len(chosen), "items") as advance:
                for start in range(0, len(chosen), AT_ONCE):
                    piece = [_item(items[row], rows, row) for row in chosen[start : start + AT_ONCE]]
                    doing = f"taking items {piece[0]['id']} to {piece[-1]['id']} of scope {scope}"
                    self._web.ask("POST", "/ingest", {"scope": self._scope(scope), "items": piece}, doing, empty=True)
                    advance(len(piece))

    def search(self, query: Query, k: int) -> list[Hit]:
        if query.scope not in self._known:
            return []
        body: dict[str, Any] = {"scope": self._scope(query.scope), "query": query.text, "k": k}
        if query.asked_at is not None:
            body["asked_at"] = query.asked_at.isoformat()
        if self._dims:
            body["vector"] = checked_questions([query], self._dims)[0].tolist()
        if query.visible is not None:
            body["last_visible_id"] = query.visible.stop - 1
        content, doing = encoded(body), f"searching for {question_of(query)}"
        with self._clock:
            _, answer = self._web.ask("POST", "/search", content, doing)
        return self._contract.hits(self._pairs(answer, query), query, k, self._known[query.scope])

    @property
    def one_caller(self) -> str:
        return "" if self.about().several_callers else ONE_CALLER

    def another_caller(self) -> HttpStore | None:
        if self.one_caller:
            return None
        handle = copy(self)
        handle._web, handle._known, handle._forgets = self._open_web(), dict(self._known), False
        handle._clock = CallClock()
        return handle

    @property
    def call_seconds(self) -> float:
        return self._clock.seconds

    def round_trip(self) -> bool:
        # The shortest request of the contract; a server without it answers that it has none.
        self._no_ops += 1
        self._web.ask("GET", "/version", None, "answering a request without work", missing=ABSENT, tries=1)
        return True

    def version(self) -> str:
        # Asked anew: the gate compares what was there before the run with what is there after it.
        self._about = None
        return self.about().version

    def settings(self) -> Mapping[str, str]:
        # Whatever else the server's settings are called, this one is ours.
        return CONTRACT | {f"http.{name}": value for name, value in self.about().settings.items()} | CONTRACT

    def evidence(self) -> Mapping[str, str]:
        return {
            "server": self.name,
            "index": OWN,
            "plan": OWN,
            SCORES: BY_K if self.about().scores_depend_on_k else ALIKE,
            "requests": f"{self._web.sent - self._no_ops} sent, {self._web.again} of them again",
            **self._contract.evidence(),
        }

    def stored_bytes(self) -> Mapping[str, int]:
        self._about = None  # asked anew: what was said at first was said of an empty memory
        held = self.about().stored_bytes
        return {} if held is None else {"memory": held}

    def close(self) -> None:
        """Ask the server to forget this run; one that can't, or is gone, keeps what it was given."""
        scopes, self._known = tuple(self._known) if self._forgets else (), {}
        try:
            for scope in scopes:
                body = {"scope": self._scope(scope)}
                doing = f"forgetting scope {scope}"
                status, _ = self._web.ask("POST", "/forget", body, doing, missing=ABSENT, empty=True, tries=1)
                if status in ABSENT:
                    break
        except RecallBenchError:
            pass  # the error that ends the run is on its way, and a whole result stays whole
        finally:
            self._web.close()

    def _scope(self, scope: int) -> str:
        return f"{self._run}/{scope}"

    def _pairs(self, answer: Any, query: Query) -> list[tuple[Any, ...]]:
        hits = answer.get("hits") if isinstance(answer, dict) else None
        if not isinstance(hits, list):
            raise self._contract.broken(query, 'an object {"hits": […]}', _shortened(answer))
        for hit in hits:
            if not isinstance(hit, dict) or not {"id", "score"} <= hit.keys():
                raise self._contract.broken(query, 'hits {"id": …, "score": …}', _shortened(hit))
        return [
            (hit["id"], hit["score"], hit["source"]) if self._is_derived(hit, query) else (hit["id"], hit["score"])
            for hit in hits
        ]

    def _is_derived(self, hit: Mapping[str, Any], query: Query) -> bool:
        """Return whether its `source` is one: not where it names nothing, and the hit itself is an item given."""
        own, source = (
            type(name) in (int, float) and name in self._known[query.scope] for name in (hit["id"], hit.get("source"))
        )
        return hit.get("source") is not None and (source or not own)


def _item(item: Item, rows: Matrix | None, row: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": item.id, "text": item.text, "importance": item.importance}
    if item.occurred_at is not None:
        fields["occurred_at"] = item.occurred_at.isoformat()
    if rows is not None:
        fields["vector"] = rows[row].tolist()
    return fields


def _about(name: str, answer: Any) -> ServerInfo:
    if not isinstance(answer, dict):
        raise _unfit(name, "an object", _shortened(answer))
    version, needs = answer.get("version", "not stated by the server"), answer.get("needs_vectors", True)
    settings, by_k = answer.get("settings", {}), answer.get("scores_depend_on_k", False)
    several, filters = answer.get("several_callers", True), answer.get("filters_time", False)
    if not isinstance(version, str) or not version.strip() or not _line(version):
        raise _unfit(name, f"version as a text of one line, at most {LONGEST} characters", _shortened(version))
    if not isinstance(needs, bool):
        raise _unfit(name, "needs_vectors as true or false", _shortened(needs))
    if not isinstance(by_k, bool):
        raise _unfit(name, "scores_depend_on_k as true or false", _shortened(by_k))
    if not isinstance(several, bool):
        raise _unfit(name, "several_callers as true or false", _shortened(several))
    if not isinstance(filters, bool):
        raise _unfit(name, "filters_time as true or false", _shortened(filters))
    if (
        not isinstance(settings, dict)
        or len(settings) > LONGEST
        or not all(isinstance(value, (str, int, float)) for value in settings.values())
        or not all(_line(text) for pair in settings.items() for text in map(str, pair))
    ):
        raise _unfit(name, "settings as an object of numbers and texts of one line", _shortened(settings))
    held = answer.get("stored_bytes")
    if held is not None and read_bytes(held) is None:
        raise _unfit(name, "stored_bytes as a whole number of 0 or more", _shortened(held))
    stated = without_secrets({key: str(value) for key, value in sorted(settings.items())})
    return ServerInfo(version, needs, stated, by_k, several, held, filters)


def _line(text: str) -> bool:
    return len(text) <= LONGEST and text.isprintable()


def _unfit(name: str, expected: str, found: str) -> InputError:
    return InputError(
        f"{name} does not say what it is", expected=f"GET /version with {expected}", found=found, remedy=REMEDY
    )


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
