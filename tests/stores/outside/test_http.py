"""The JSON contract, against real servers on the loopback interface: one that keeps it, and one that does not."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from recallbench.errors import Blocked, InputError
from recallbench.stores.outside.http import HttpStore
from recallbench.stores.store import Hit, Item, Query
from recorded_progress import RecordedProgress
from scripted_server import Scripted, scripted_server

ITEMS = [
    Item(1, 1, "red fox", datetime(2023, 5, 1, tzinfo=UTC), 0.5),
    Item(2, 1, "blue owl \U0001f989 '); DROP", None, 0.25),
    Item(3, 1, "lone \ud800 half", None, 0.5),
]
ELSEWHERE = [Item(4, 2, "green hen", None, 0.5)]
VECTORS = np.array([[1, 0], [0.1, 1], [1, 1]], np.float32)
QUESTION = Query(1, "which owl?", np.array([0, 1], np.float32), datetime(2023, 6, 1, tzinfo=UTC))


@pytest.fixture
def script() -> Iterator[Scripted]:
    with scripted_server() as server:
        yield server


def opened(script: Scripted, *, dims: int = 2, **environ: str) -> HttpStore:
    store = HttpStore(script.address, {"RECALLBENCH_STORE_TIMEOUT": "5", **environ})
    store.prepare(dims)
    store.ingest(ITEMS, VECTORS if dims else None)
    store.ingest(ELSEWHERE, VECTORS[:1] if dims else None)
    return store


def test_items_are_counted_as_they_go(script: Scripted) -> None:
    progress = RecordedProgress()
    store = HttpStore(script.address, {"RECALLBENCH_STORE_TIMEOUT": "5"}, progress)
    store.prepare(0)
    store.ingest(ITEMS, None)
    assert progress.stages == [("sending items", 3, "items", 3)]


def searching(answer: object) -> Callable[[str, Any], Any]:
    return lambda path, body: answer if path == "/search" else {}


def test_items_queries_and_forgetting_are_sent_as_json(script: Scripted) -> None:
    script.answer = lambda path, body: {"hits": [{"id": 2, "score": 0.5}, {"id": 1, "score": 0.5}]}
    store = opened(script)
    assert store.search(QUESTION, 2) == [Hit(1, 0.5), Hit(2, 0.5)]
    first, other = script.requested("/ingest")
    run, _, scope = first["scope"].rpartition("/")
    assert (scope, other["scope"]) == ("1", f"{run}/2")
    assert first["items"][0] == {
        "id": 1,
        "text": "red fox",
        "importance": 0.5,
        "occurred_at": "2023-05-01T00:00:00+00:00",
        "vector": [1.0, 0.0],
    }
    assert first["items"][1]["text"] == ITEMS[1].text
    assert np.float32(first["items"][1]["vector"][0]) == np.float32(0.1)
    assert first["items"][2]["text"] == "lone ? half"
    assert script.requested("/search") == [
        {
            "scope": f"{run}/1",
            "query": "which owl?",
            "k": 2,
            "asked_at": "2023-06-01T00:00:00+00:00",
            "vector": [0.0, 1.0],
        }
    ]
    store.close()
    assert [body["scope"] for body in script.requested("/forget")] == [f"{run}/1", f"{run}/2"]
    store.close()
    assert len(script.requested("/forget")) == 2


def test_two_runs_never_share_a_scope(script: Scripted) -> None:
    for _ in range(2):
        opened(script)
    assert len({body["scope"] for body in script.requested("/ingest")}) == 4


def test_without_vectors_none_are_sent(script: Scripted) -> None:
    script.answer = lambda path, body: {"hits": [], "needs_vectors": False, "version": "3"}
    store = opened(script, dims=0)
    assert not store.needs_vectors
    assert store.search(Query(1, "owl", None), 5) == []
    assert store.search(Query(9, "owl", None), 5) == []
    assert "vector" not in script.requested("/search")[0]
    assert all("vector" not in item for body in script.requested("/ingest") for item in body["items"])


def test_many_items_are_sent_in_requests_of_64(script: Scripted) -> None:
    store = HttpStore(script.address, {})
    store.prepare(0)
    store.ingest([Item(i, 1, "x", None, 0.5) for i in range(1, 151)], None)
    assert [len(body["items"]) for body in script.requested("/ingest")] == [64, 64, 22]
    store.ingest([], None)
    assert len(script.requested("/ingest")) == 3


def test_a_servers_settings_and_version_are_recorded(script: Scripted) -> None:
    settings = {"ef": 40, "index": "hnsw", "db_password": "hunter2secret", "max_tokens": 512}
    script.answer = lambda path, body: {"version": "1.2", "settings": settings}
    store = opened(script)
    assert store.version() == "1.2"
    assert store.settings() == {
        "http.contract": "1", "http.ef": "40", "http.index": "hnsw", "http.max_tokens": "512",
        "http.db_password": "***",  # nobody told of it here, but for its name
    }  # fmt: skip
    assert store.stored_bytes() == {}
    script.answer = lambda path, body: {"version": "1.3", "stored_bytes": 4096}
    assert store.stored_bytes() == {"memory": 4096}  # asked anew
    assert store.version() == "1.3"
    script.answer = lambda path, body: (404, {}, {})
    assert store.version() == "not stated by the server"
    assert store.evidence()["requests"] == "8 sent, 0 of them again"


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {"version": 3},
        {"version": " "},
        {"version": "one\ntwo"},
        {"version": "x" * 301},
        {"needs_vectors": "no"},
        {"scores_depend_on_k": "no"},
        {"stored_bytes": -1},
        {"stored_bytes": "1 MB"},
        {"settings": [1]},
        {"settings": {"a": {}}},
        {"settings": {"a": "one\n| two"}},
    ],
)
def test_a_malformed_description_is_refused(script: Scripted, answer: object) -> None:
    script.answer = lambda path, body: answer
    with pytest.raises(InputError, match="does not say what it is"):
        opened(script)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"hits": [{"id": i, "score": 1} for i in (1, 2, 3)]}, "3 hits"),
        ({"hits": [{"id": 99, "score": 1}]}, "the id 99"),
        ({"hits": [{"id": 4, "score": 1}]}, "the id 4"),
        ({"hits": [{"id": 1, "score": 1}, {"id": 1, "score": 0}]}, "the id 1 twice"),
        ({"hits": [{"id": 1, "score": 0.1}, {"id": 2, "score": 0.2}]}, "the id 2 with 0.2 behind the id 1 with 0.1"),
        ({"hits": [{"id": 1, "score": None}]}, "(1, None)"),
        ({"hits": [{"id": "1", "score": 1}]}, "('1', 1)"),
        ({"hits": [{"id": True, "score": 1}]}, "(True, 1)"),
        ({"hits": [{"id": 1.5, "score": 1}]}, "1.5"),
        ({"hits": [{"id": 1}]}, "{'id': 1}"),
        ({"hits": [1]}, "1"),
        ({"hits": None}, "{'hits': None}"),
        ({"hits": {"id": 1, "score": 1}}, "{'hits': {"),
        ({}, "{}"),
        ([], "[]"),
        (b"null", "None"),
        (b'{"hits": [{"id": 1, "score": 1e999}]}', "inf for the id 1"),
        (b'{"hits": [{"id": 1e999, "score": 1}]}', "(inf, 1)"),
        (b'{"hits": [{"id": 1, "score": ' + b"9" * 400 + b"}]}", "(1, 999"),
        (b'{"hits": [{"id": 1, "score": NaN}]}', "NaN is no JSON"),
        (b'{"hits": [{"id": 1, "sco', "Unterminated"),
        (b"<html>oops</html>", "<html>oops"),
        (b"\xff\xfe\x00", "decode"),
        (b"[" * 100_000, "recursion"),
        (b"", "an empty answer"),
        ((204, b"", {}), "an empty answer"),
        ((302, b"", {"Location": "/elsewhere"}), "status 302"),
        ((400, {"error": "no k"}, {}), 'status 400: {"error": "no k"}'),
        ((200, b"\x1f\x8b", {"Content-Encoding": "gzip"}), "content-encoding gzip"),
        (b" " * (17 << 20), "more than 16 MiB"),
    ],
)
def test_a_wrong_answer_is_refused_with_its_question(script: Scripted, answer: Any, complaint: str) -> None:
    script.answer = searching(answer)
    store = opened(script)
    with pytest.raises(InputError) as caught:
        store.search(QUESTION, 2)
    assert complaint in caught.value.found
    assert "`which owl?`" in caught.value.problem
    assert len(script.requested("/search")) == 1  # none of these gets better by asking again


def test_what_a_service_derived_counts_through_its_source(script: Scripted) -> None:
    facts = [("f1", 0.9, 2), ("f2", 0.8, 2), ("f3", 0.7, 1)]
    script.answer = searching({"hits": [dict(zip(("id", "score", "source"), fact, strict=True)) for fact in facts]})
    store = opened(script)
    assert store.search(QUESTION, 2) == [Hit(2, 0.9), Hit(1, 0.7)]
    assert store.evidence()["derived"] == "each counts through its source, at its first place; at most 3 for 2 hits"
    for other in (None, "chat", ["chat"], 9):
        script.answer = searching({"hits": [{"id": 2, "score": 0.9, "source": other}]})
        assert store.search(QUESTION, 2) == [Hit(2, 0.9)]
    script.answer = searching({"hits": [{"id": 2, "score": 0.9, "source": 1}]})
    assert store.search(QUESTION, 2) == [Hit(1, 0.9)]
    script.answer = searching({"hits": [{"id": "f1", "score": 0.9, "source": "chat"}]})
    with pytest.raises(InputError, match="broke its contract") as caught:
        store.search(QUESTION, 2)
    assert caught.value.found == "the source 'chat' of 'f1'"


@pytest.mark.parametrize("fault", [None, (429, {}, {"Retry-After": "0.01"}), (503, {}, {}), (500, {}, {})])
def test_a_request_that_fails_at_first_is_sent_again(script: Scripted, fault: object) -> None:
    seen: dict[str, int] = {}

    def answer(path: str, body: Any) -> Any:
        key = json.dumps([path, body])
        seen[key] = seen.get(key, 0) + 1
        return fault if seen[key] <= 2 and path != "/version" else {"hits": [{"id": 2, "score": 1}]}

    script.answer = answer
    store = opened(script)
    assert store.search(QUESTION, 2) == [Hit(2, 1.0)]
    assert set(seen.values()) == {1, 3}
    assert store.evidence()["requests"].endswith("6 of them again")


@pytest.mark.parametrize(
    ("fault", "kind", "complaint"),
    [
        (None, InputError, "(5 tries)"),
        ((503, {}, {}), Blocked, "status 503, 5 times"),
        ((429, {}, {"Retry-After": "0.01"}), Blocked, "status 429, 5 times"),
        ((500, b"<b>oops</b>", {}), InputError, "status 500, 5 times: <b>oops</b>"),
        ((401, {}, {}), Blocked, "status 401"),
    ],
)
def test_a_request_that_keeps_failing_ends_the_run(script: Scripted, fault: object, kind: type, complaint: str) -> None:
    script.answer = lambda path, body: fault if path == "/search" else {}
    store = opened(script)
    with pytest.raises(kind) as caught:
        store.search(QUESTION, 2)
    assert complaint in caught.value.found
    assert "`which owl?`" in caught.value.problem


def test_a_server_that_hangs_is_reported_with_its_question(script: Scripted) -> None:
    script.answer = lambda path, body: (lambda handler: time.sleep(2)) if path == "/search" else {}
    store = opened(script, RECALLBENCH_STORE_TIMEOUT="0.2")
    with pytest.raises(InputError, match="while searching for `which owl") as caught:
        store.search(QUESTION, 2)
    assert caught.value.expected == "an answer within 0.2 s"
    assert len(script.requested("/search")) == 2


@pytest.mark.parametrize(
    ("at_once", "drips"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: a\r\n"),
        (b"", b"H"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ],
    ids=["the body", "a header", "many headers", "the status", "answers before the answer", "chunks"],
)
def test_an_answer_that_drips_ends_at_the_time_limit(script: Scripted, at_once: bytes, drips: bytes) -> None:
    """The time is that of the whole answer: with each byte a new one would begin, and it would never end."""

    def drip(handler: Any) -> None:
        with contextlib.suppress(OSError):  # the client has left
            handler.wfile.write(at_once)
            for _ in range(100):
                handler.wfile.write(drips)
                time.sleep(0.05)

    script.answer = lambda path, body: drip if path == "/search" else {}
    store = opened(script, RECALLBENCH_STORE_TIMEOUT="0.3")
    with pytest.raises(InputError, match="while searching") as caught:
        store.search(QUESTION, 2)
    assert "bytes of it" in caught.value.found


def test_an_answer_that_breaks_off_is_asked_for_again(script: Scripted) -> None:
    def cut(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"hits": [')

    answers = iter([cut, {"hits": []}])
    script.answer = lambda path, body: next(answers) if path == "/search" else {}
    assert opened(script).search(QUESTION, 2) == []


def test_a_server_that_is_not_there_blocks() -> None:
    with scripted_server() as gone:
        address = gone.address
    store = HttpStore(address, {})
    with pytest.raises(Blocked, match="does not answer") as caught:
        store.prepare(2)
    assert "start the server" in caught.value.remedy
    store.close()


def test_a_server_that_goes_away_does_not_spoil_the_end(script: Scripted) -> None:
    store = opened(script)
    script.answer = lambda path, body: (500, {}, {})
    store.close()
    assert len(script.requested("/forget")) == 1


def test_credentials_are_sent(script: Scripted) -> None:
    store = HttpStore(script.address.replace("//", "//joe:p%40ss@"), {"RECALLBENCH_STORE_TOKEN": "abc"})
    assert store.name == script.address.rstrip("/")
    store.prepare(0)
    assert script.requests[-1][3]["authorization"] == "Basic am9lOnBAc3M="
    HttpStore(script.address, {"RECALLBENCH_STORE_TOKEN": "abc"}).prepare(0)
    assert script.requests[-1][3]["authorization"] == "Bearer abc"


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(script: Scripted, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.delenv("NO_PROXY", raising=False)
    HttpStore(script.address, {}).prepare(0)
    assert len(script.requests) == 1
