"""Answers without a file: their body is not read, and a long Retry-After is not obeyed."""

from __future__ import annotations

import gzip
import itertools
from http.server import BaseHTTPRequestHandler

import pytest

from recallbench.corpora.registry import fetch
from recallbench.downloading import download_client
from recallbench.errors import Blocked
from recallbench.protocol import load
from scripted_server import scripted_server

BOMB = gzip.compress(bytes(16 << 20))


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(500)
    handler.end_headers()
    for _ in itertools.count():
        handler.wfile.write(bytes(1 << 16))


@pytest.mark.parametrize("answer", [(500, BOMB, {"Content-Encoding": "gzip"}), (404, BOMB, {}), endless])
def test_the_body_of_a_refusal_is_not_read(answer: object) -> None:
    with scripted_server() as script, download_client(timeout=10) as client:
        script.answer = lambda path, body: answer
        response = client.get(script.address)
        assert response.is_error
        assert response.content == b""


def test_the_body_of_a_redirection_is_not_read_and_it_is_followed() -> None:
    with scripted_server() as script, download_client(timeout=10, follow_redirects=True) as client:
        there = {"Location": "/there", "Content-Encoding": "gzip"}
        script.answer = lambda path, body: b"the file" if path == "/there" else (302, BOMB, there)
        response = client.get(script.address)
        assert response.content == b"the file"
        assert [len(redirection.content) for redirection in response.history] == [0]


@pytest.mark.parametrize(
    ("name", "value", "passed_on"),
    [
        ("Retry-After", "5", True),
        ("Retry-After", "60", True),
        ("Retry-After", "61", False),
        ("Retry-After", "9" * 5000, False),
        ("Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT", False),
        ("RateLimit", '"api";r=0;t=55', True),
        ("RateLimit", '"api";r=0;t=31536000', False),
    ],
)
def test_a_server_can_not_ask_for_a_wait_of_over_a_minute(name: str, value: str, passed_on: bool) -> None:
    with scripted_server() as script, download_client(timeout=10) as client:
        script.answer = lambda path, body: (429, b"", {name: value})
        assert (name in client.get(script.address).headers) is passed_on


@pytest.mark.parametrize("location", ["//127.0.0.1:99999/", "http://[::1", "file:///etc/passwd", "//\u00fc/"])
def test_a_redirection_to_nowhere_blocks(location: str, tmp_path: object) -> None:
    with scripted_server() as script:
        script.answer = lambda path, body: (302, b"", {"Location": location})
        with pytest.raises(Blocked, match="recallbench fetch locomo"):
            fetch(
                load().corpora["locomo"],
                {"RECALLBENCH_LOCOMO_URL": script.address, "RECALLBENCH_DATA_DIR": str(tmp_path)},
            )


@pytest.mark.parametrize("proxy", ["nonsense://joe:hunter-2@h", "socks5://joe:hunter-2@127.0.0.1:9", "http://["])
def test_a_proxy_that_is_none_blocks_without_its_password(
    proxy: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(Blocked) as caught:
        fetch(
            load().corpora["locomo"],
            {"RECALLBENCH_LOCOMO_URL": "http://a.invalid/x", "RECALLBENCH_DATA_DIR": str(tmp_path)},
        )
    assert "hunter-2" not in str(caught.value)
