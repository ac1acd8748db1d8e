"""Endless downloads end at the limits: real sockets on the loopback interface, small limits."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import create_server, socket

import httpx2
import pytest

from recallbench import hub, waiting
from recallbench.corpora.registry import fetch
from recallbench.errors import Blocked
from recallbench.progress import Silent
from recallbench.protocol import load
from recallbench.waiting import Deadline, Pace, TooSlow, limit_waiting
from recallbench.web_client import web_client

LOCOMO = replace(load().corpora["locomo"], sha256="0" * 64)
REVISION = "a" * 40
HEAD = b'HTTP/1.1 200 OK\r\nETag: "b"\r\nX-Repo-Commit: ' + b"a" * 40 + b"\r\nContent-Length: 1000000\r\n\r\n"
"""The head of the hub's answer for a file of a megabyte; the body is the test's."""

Talk = Callable[[socket, bytes], None]


@contextmanager
def talking(talk: Talk) -> Iterator[str]:
    """A server that answers each request as the function does; its address."""
    ended = threading.Event()

    def serve(peer: socket) -> None:
        with contextlib.suppress(OSError), peer:
            while request := peer.recv(65536):
                talk(peer, request)

    def accept() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    with create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


def drip(peer: socket, text: bytes) -> None:
    for _ in range(200):
        peer.sendall(text)
        time.sleep(0.02)


def silent(peer: socket, request: bytes) -> None:
    time.sleep(4)


def dripping_headers(peer: socket, request: bytes) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    drip(peer, b"a")


def dripping_body(peer: socket, request: bytes) -> None:
    peer.sendall(HEAD)
    if not request.startswith(b"HEAD"):
        drip(peer, b"a")


def hanging_up(peer: socket, request: bytes) -> None:
    """One byte for each connection: the hub's library would come back for the next for days."""
    peer.sendall(HEAD if request.startswith(b"HEAD") else HEAD + b"a")
    if not request.startswith(b"HEAD"):
        peer.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SILENCE", 0.4), ("WINDOW", 0.5)):
        monkeypatch.setattr(waiting, name, value)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("talk", "complaint"),
    [
        (silent, "not a byte in 0.4 s"),
        (dripping_headers, "where at least 10 kB/s are expected"),
        (dripping_body, "where at least 10 kB/s are expected"),
    ],
)
@pytest.mark.parametrize("source", ["hub", "web"])
def test_a_download_that_hardly_moves_ends(talk: Talk, complaint: str, source: str, tmp_path: Path) -> None:
    with talking(talk) as url:
        environ = {
            "HF_ENDPOINT": url,
            "HF_HOME": str(tmp_path / "hf"),
            "RECALLBENCH_DATA_DIR": str(tmp_path / "data"),
            "RECALLBENCH_LOCOMO_URL": f"{url}/locomo10.json",
        }
        if source == "web":
            with pytest.raises(Blocked) as caught:
                fetch(LOCOMO, environ)
            assert "recallbench fetch locomo" in caught.value.remedy
            assert caught.value.expected == f"the file with sha256 {LOCOMO.sha256}"
            reason = caught.value.found
            assert list((tmp_path / "data").iterdir()) == []
        else:
            with pytest.raises(hub.Unreachable) as caught:
                hub.download("team/model", "config.json", REVISION, environ, Silent())
            reason = str(caught.value)
    assert reason.startswith("the download is too slow: ")
    assert complaint in reason


@pytest.mark.usefixtures("small")
def test_a_peer_that_hangs_up_after_each_byte_is_given_up(tmp_path: Path) -> None:
    with talking(hanging_up) as url:
        environ = {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path / "hf")}
        with pytest.raises(hub.Unreachable, match="too slow"):
            hub.download("team/model", "config.json", REVISION, environ, Silent())


def test_a_slow_download_that_keeps_the_pace_is_waited_for() -> None:
    """Forty pieces over a second, in windows of half a second: each has its thousand bytes."""

    def steady(peer: socket, request: bytes) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n")
        for _ in range(40):
            peer.sendall(b"a" * 1000)
            time.sleep(0.025)

    with talking(steady) as url, limit_waiting(Pace(5.0, 1_000, 0.5)), web_client() as client:
        assert len(client.get(url).content) == 40_000


def test_sending_has_a_time_limit_too() -> None:
    """A peer that reads nothing: the socket takes some megabytes, and then no more."""
    with create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with (
            limit_waiting(Deadline(0.4)),
            web_client() as client,
            pytest.raises((TooSlow, httpx2.WriteTimeout)),
        ):
            client.post(url, content=b"a" * (64 << 20))


def test_without_a_limit_the_clients_own_timeout_counts() -> None:
    with talking(silent) as url, web_client(timeout=0.2) as client, pytest.raises(httpx2.ReadTimeout):
        client.get(url)


def test_the_limits_are_those_of_the_messages() -> None:
    assert (waiting.SILENCE, waiting.WINDOW, waiting.SLOWEST) == (60, 60, 10_000)
