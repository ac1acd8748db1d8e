"""A chat model behind an endpoint: asked once, kept, tried again where it fails, and never silently left out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import MODEL, ChatServer, chat_server, said
from recallbench.errors import Blocked, InputError, RecallBenchError
from recallbench.model_endpoint import GIVE_UP
from recallbench.retrieval.chat.client import ChatClient, Sampling
from recallbench.usage import Usage

HELLO = [{"role": "user", "content": "the capital of France?"}]
SECRET = "sk-4f9d2a77b1c0"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def client(
    server: ChatServer,
    folder: Path,
    *,
    seconds: float = 20,
    name: str = "",
    give_up: int = GIVE_UP,
    note: Callable[[str], None] = print,
    **environ: str,
) -> ChatClient:
    named, sampling = name or f"{server.address}#{MODEL}", Sampling(max_tokens=64, seed=3)
    return ChatClient(named, environ, folder, sampling, seconds=seconds, give_up=give_up, note=note)


def test_a_model_is_asked_as_stated_and_its_answer_tells_what_it_cost(server: ChatServer, tmp_path: Path) -> None:
    chat = client(server, tmp_path)
    answer = chat.ask(HELLO, "trying")
    assert server.requests == [
        {"model": MODEL, "messages": HELLO, "temperature": 0.0, "seed": 3, "max_tokens": 64},
    ]
    assert (answer.text, answer.model, answer.usage) == ("Paris", "tiny-1-2026", Usage(fresh=10, output=1))
    assert chat.settings() == {
        "endpoint": server.address,
        "model": MODEL,
        "model as answered": "tiny-1-2026",
        "temperature": "0",
        "seed": "3",
        "max_tokens": "64",
    }


def test_where_a_model_lies_on_its_server_is_not_told(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: said("Paris", model="/home/me/models/tiny.gguf")
    chat = client(server, tmp_path, name=f"{server.address}#/home/me/models/tiny.gguf")
    chat.ask(HELLO, "trying")
    assert [chat.settings()[name] for name in ("model", "model as answered")] == ["tiny.gguf", "tiny.gguf"]


def test_a_second_run_costs_nothing_and_has_the_same_answers_and_tokens(server: ChatServer, tmp_path: Path) -> None:
    first = client(server, tmp_path)
    answers = [first.ask(HELLO, "trying"), first.ask(HELLO, "trying")]
    server.faults = [(500, {}, {})] * 100
    second = client(server, tmp_path)
    assert second.ask(HELLO, "trying") == answers[0] == answers[1]
    assert (second.usage, second.settings()) == (first.usage, first.settings())
    assert [first.circumstances()[name] for name in ("answers", "kept", "requests")] == [1, 0, 1]
    assert [second.circumstances()[name] for name in ("answers", "kept", "requests")] == [1, 1, 0]


def test_a_kept_answer_counts_with_the_time_that_it_took(server: ChatServer, tmp_path: Path) -> None:
    first = client(server, tmp_path)
    answer = first.ask(HELLO, "trying", timed=True)
    assert first.waited == 0.0
    chat = client(server, tmp_path)
    assert [chat.ask(HELLO, "trying", timed=timed) for timed in (False, True, True)] == [answer] * 3
    assert chat.waited == 2 * answer.seconds


def test_another_model_seed_or_wording_is_another_question(server: ChatServer, tmp_path: Path) -> None:
    client(server, tmp_path).ask(HELLO, "trying")
    client(server, tmp_path, name=f"{server.address}#other").ask(HELLO, "trying")
    ChatClient(f"{server.address}#{MODEL}", {}, tmp_path, Sampling(64, seed=4), seconds=9).ask(HELLO, "trying")
    client(server, tmp_path).ask([{**HELLO[0], "content": "the capital of france?"}], "trying")
    assert len(server.requests) == 4


def test_a_kept_answer_that_was_damaged_is_asked_for_again(server: ChatServer, tmp_path: Path) -> None:
    client(server, tmp_path).ask(HELLO, "trying")
    (kept,) = (tmp_path / "answers").iterdir()
    kept.write_text(kept.read_text().replace('"finish": "stop"', '"finish": 1'))
    client(server, tmp_path).ask(HELLO, "trying")
    assert len(server.requests) == 2


def test_the_key_goes_along_and_is_never_written(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: f"your key is {SECRET}"
    chat = client(server, tmp_path, RECALLBENCH_CHAT_TOKEN=SECRET)
    assert chat.ask(HELLO, "trying").text == "your key is ***"
    address = server.address.replace("//", "//me:hunter2-hunter2@")
    client(server, tmp_path, name=f"{address}#{MODEL}").ask(HELLO, "trying")  # the same address without its login
    assert server.keys == [f"Bearer {SECRET}"]
    written = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "your key is" in written
    assert SECRET not in written
    assert "hunter2" not in written


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"error": "slow down"}, {"Retry-After": "0.01"}),
        (500, b"oops", {}),
        b'{"choices": [',
        {"choices": []},
        said(""),
        said(None),
        None,  # hangs up
    ],
)
def test_a_fault_that_passes_is_tried_again(server: ChatServer, tmp_path: Path, fault: Any) -> None:
    server.faults = [fault]
    chat = client(server, tmp_path)
    assert chat.ask(HELLO, "trying").text == "Paris"
    assert [chat.circumstances()[name] for name in ("requests", "requests_again")] == [2, 1]


@pytest.mark.parametrize(
    ("fault", "seconds", "kind", "found"),
    [
        ((429, {}, {"Retry-After": "30"}), 20, Blocked, "status 429"),
        ((500, b"oops", {}), 0.3, InputError, ""),
        (b"<html>", 20, InputError, "<html>"),
        ({"choices": []}, 20, InputError, "'choices': []"),
        (said("so " * 70_000), 20, InputError, "'so so so"),
        (said("", finish="length"), 20, InputError, "'finish_reason': 'length'"),
        ((400, {"error": "no such parameter"}, {}), 20, InputError, "no such parameter"),
        ((401, {}, {}), 20, Blocked, "status 401"),
        (lambda handler: time.sleep(0.5), 0.3, InputError, "none"),
    ],
)
def test_a_fault_that_lasts_fails_the_question_by_name(
    server: ChatServer, tmp_path: Path, fault: Any, seconds: float, kind: type[RecallBenchError], found: str
) -> None:
    server.says = lambda asked: fault
    chat = client(server, tmp_path, seconds=seconds)
    with pytest.raises(kind, match="while answering `q1`") as refused:
        chat.ask(HELLO, "answering `q1`")
    assert found in refused.value.found
    assert chat.answers == ()
    assert not (tmp_path / "answers").exists()


def test_an_endpoint_that_is_down_is_named_with_what_helps(server: ChatServer, tmp_path: Path) -> None:
    chat = client(server, tmp_path, seconds=0.2, name="http://127.0.0.1:1/v1#tiny-1")
    with pytest.raises(Blocked, match=r"http://127\.0\.0\.1:1/v1 does not answer while answering `q1`") as refused:
        chat.ask(HELLO, "answering `q1`")
    assert refused.value.remedy == "start the server, or name another endpoint"


def test_an_answer_that_can_not_be_used_is_paid_for_three_times_at_most(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: said(" ")
    with pytest.raises(InputError, match="gave no answer that can be used"):
        client(server, tmp_path).ask(HELLO, "trying")
    assert len(server.requests) == 3


def test_an_endpoint_that_hangs_has_its_seconds_for_each_question_until_it_is_given_up(
    server: ChatServer, tmp_path: Path
) -> None:
    over = threading.Event()
    server.says = lambda asked: lambda handler: over.wait(60)
    told: list[str] = []
    chat = client(server, tmp_path, seconds=0.5, give_up=2, note=told.append)
    refusals = []
    for number in range(4):
        with pytest.raises((InputError, Blocked)) as refused:
            chat.ask([{"role": "user", "content": str(number)}], f"answering q{number}")
        refusals.append(refused.value)
    over.set()
    assert refusals[1].expected == "an answer within 0.5 s"
    assert refusals[1].remedy == "mend the server, or allow more `seconds`"
    assert refusals[2].problem == f"{server.address}#{MODEL} was given up, and not asked while answering q2"
    assert "found no answer to 2 requests in a row, the last: none" in refusals[2].brief
    assert (server.asked, len(told)) == (["0", "1"], 1)
    assert chat.settings()["given up"] == "after 2 requests in a row without an answer; 2 more were not sent"


def test_an_endpoint_that_answers_nonsense_is_there_and_not_given_up(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: (400, {"error": "no"}, {})
    chat = client(server, tmp_path, give_up=2)
    for number in range(4):
        with pytest.raises(InputError, match="refused while trying"):
            chat.ask([{"role": "user", "content": str(number)}], "trying")
    assert len(server.asked) == 4


def test_an_endpoint_that_failed_three_questions_is_tried_once_for_the_next(server: ChatServer, tmp_path: Path) -> None:
    server.says = lambda asked: said("")
    chat = client(server, tmp_path, seconds=0.3)
    for number in range(5):
        with pytest.raises(InputError):
            chat.ask([{"role": "user", "content": str(number)}], "trying")
    assert [server.asked.count(number) for number in "34"] == [1, 1]
    assert server.asked.count("2") > 1
    server.says = lambda asked: "better"
    assert chat.ask(HELLO, "trying").text == "better"
    server.faults = [said("")]
    assert chat.ask([{"role": "user", "content": "5"}], "trying").text == "better"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<think>\nFrance? Easy.\n</think>\n\nParis", "Paris"),
        ("Paris\x00\x1b[31m\n\tindeed", "Paris  [31m\n\tindeed"),
        ("half \ud800 a letter", "half ? a letter"),
    ],
)
def test_an_answer_is_text_that_can_be_written(server: ChatServer, tmp_path: Path, raw: str, text: str) -> None:
    server.says = lambda asked: said(raw, finish="length")
    answer = client(server, tmp_path).ask(HELLO, "trying")
    assert (answer.text, answer.cut) == (text, True)
    assert client(server, tmp_path).ask(HELLO, "trying") == answer
