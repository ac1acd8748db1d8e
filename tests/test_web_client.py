"""Requests use the proxies of the environment and heed NO_PROXY; a real server plays the proxy."""

from __future__ import annotations

import base64
import os

import httpx2
import pytest

from recallbench.web_client import environment_proxies, web_client
from scripted_server import scripted_server


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_gets_the_whole_address_and_its_password(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server() as proxy:
        proxy.answer = lambda path, body: path.encode()
        monkeypatch.setenv(variable, proxy.address.replace("//", "//joe:pw%21@"))
        with web_client() as client:
            assert client.get("http://a.invalid/file").text == "http://a.invalid/file"
        sent = proxy.requests[0][3]["proxy-authorization"]
        assert base64.b64decode(sent.removeprefix("Basic ")) == b"joe:pw!"


@pytest.mark.parametrize("exempt", ["127.0.0.1", "x.org, 127.0.0.0/8", "*", "http://127.0.0.1"])
def test_an_exempt_host_is_reached_without_the_proxy(exempt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server() as server:
        server.answer = lambda path, body: path.encode()
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", exempt)
        with web_client() as client:
            assert client.get(f"{server.address}file").text == "/file"


def test_without_the_environment_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server() as server:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        with web_client(trust_env=False) as client:
            assert client.get(server.address).status_code == 200


def test_https_is_tunnelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """This proxy knows no CONNECT, and answers 501."""
    with scripted_server() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address)
        with web_client() as client, pytest.raises(httpx2.ProxyError, match="501"):
            client.get("https://a.invalid/file")


def test_no_proxy_names_hosts_domains_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    named = "localhost, .a.org, b.org, 10.0.0.0/8, ::1, fe80::/10, [::1]:80, c.org:8080, http://d.org"
    monkeypatch.setenv("NO_PROXY", f"{named}, 10.0.0.0/99, 10.0.0.0/255.0.0.0, e.org/f, http://f.org:g")
    exempt = ["all://localhost", "all://*.a.org", "all://*b.org", "all://10.0.0.0/8", "all://[::1]"]
    exempt += ["all://[fe80::]/10", "all://[::1]:80", "all://*c.org:8080", "http://d.org"]
    assert environment_proxies() == {"https://": "http://proxy:3128", **dict.fromkeys(exempt)}
    web_client().close()
