"""Stores that echo secrets: no file, page or printed line repeats them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from commandline import recallbench
from scripted_server import Scripted, scripted_server
from stages import sampled

TOKEN = "s3cr3t/T0ken+for=me"
SPELLINGS = (
    TOKEN,
    quote(TOKEN, safe=""),
    json.dumps(TOKEN)[1:-1],
    json.dumps(TOKEN)[1:-1].replace("/", "\\/"),
    "".join(f"\\u{ord(character):04x}" for character in TOKEN),
    TOKEN.encode().hex(),
    base64.b64encode(TOKEN.encode()).decode()[:-4],
    base64.b64encode(f"joe:{TOKEN}".encode()).decode()[8:-4],
)


class Echo:
    """A memory whose every answer repeats the credentials of the request."""

    def __init__(self, script: Scripted) -> None:
        self.script = script
        self.ids: dict[str, list[int]] = {}
        script.answer = self.answer

    def credentials(self) -> str:
        """Return the authorization header of the last request, and its token in several spellings."""
        header = self.script.requests[-1][3].get("authorization", "none")
        kind, _, value = header.partition(" ")
        plain = base64.b64decode(value).decode() if kind == "Basic" else value
        php, escaped = plain.replace("/", "\\/"), "".join(f"\\u{ord(character):04x}" for character in plain)
        return f"{header} {plain} {quote(plain, safe='')} {plain.encode().hex()} {php} {escaped}"

    def answer(self, path: str, body: Any) -> Any:
        if path == "/version":
            settings = {"asker": self.credentials()[:290], f"by {self.credentials()[:250]}": "1"}
            return {"version": f"echo {self.credentials()}"[:290], "needs_vectors": False, "settings": settings}
        if path == "/ingest":
            self.ids.setdefault(body["scope"], []).extend(item["id"] for item in body["items"])
        if path == "/search":
            ids = self.ids[body["scope"]][: body["k"]]
            return {"hits": [{"id": id, "score": float(-position)} for position, id in enumerate(ids)]}
        return {}


@pytest.fixture
def echo() -> Iterator[Echo]:
    with scripted_server() as script:
        yield Echo(script)


def leaks(folder: Path, *printed: str) -> list[str]:
    """Return each place with a spelling of the token: names and content of files, and printed text."""
    places = [f"printed: {spelling}" for spelling in SPELLINGS for text in printed if spelling in text]
    for path in folder.rglob("*"):
        content = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        places += [f"{path.name}: {spelling}" for spelling in SPELLINGS if spelling in content or spelling in path.name]
    return places


@pytest.fixture(params=["bearer", "basic"])
def way(request: pytest.FixtureRequest, echo: Echo) -> tuple[str, dict[str, str]]:
    """Return the address and the environment that carry the token."""
    if request.param == "bearer":
        return echo.script.address, {"RECALLBENCH_STORE_TOKEN": TOKEN}
    return echo.script.address.replace("//", f"//joe:{quote(TOKEN, safe='')}@"), {}


def test_a_result_holds_no_secret_that_a_store_echoes(
    way: tuple[str, dict[str, str]], echo: Echo, tmp_path: Path
) -> None:
    store, env = way
    done = recallbench("run", "canary-locomo", "--store", store, "--folder", tmp_path / "r", cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert "authorization" in echo.script.requests[-1][3]
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["store"]["version"].startswith("echo B")
    assert "***" in metrics["store"]["version"]
    assert leaks(tmp_path, done.stdout, done.stderr) == []
    audited = recallbench("audit", tmp_path / "r", cwd=tmp_path)
    assert "  fail " not in audited.stdout


def test_a_token_that_is_a_plain_word_is_removed_too(echo: Echo, tmp_path: Path) -> None:
    folder, env = tmp_path / "r", {"RECALLBENCH_STORE_TOKEN": "swordfish"}
    done = recallbench(
        *("run", "canary-locomo", "--store", echo.script.address, "--folder", folder), cwd=tmp_path, env=env
    )
    assert done.returncode == 0
    assert "authorization" in echo.script.requests[-1][3]
    for path in folder.iterdir():
        assert "swordfish" not in path.read_text(), path


@pytest.mark.parametrize("status", sampled([401, 400, 503]))
def test_a_refusal_that_echoes_the_token_is_cleaned(
    status: int, way: tuple[str, dict[str, str]], echo: Echo, tmp_path: Path
) -> None:
    """A status that blocks leaves BLOCKED.md."""
    store, env = way
    echo.script.answer = lambda path, body: (
        (status, f"who is {echo.credentials()}?".encode(), {"Retry-After": "0.01"})
        if path == "/ingest"
        else echo.answer(path, body)
    )
    done = recallbench("run", "canary-locomo", "--store", store, "--out", tmp_path / "o", cwd=tmp_path, env=env)
    assert done.returncode == (2 if status == 400 else 3)
    assert "who is B" in done.stderr
    assert "***" in done.stderr
    assert len(list(tmp_path.rglob("BLOCKED.md"))) == (0 if status == 400 else 1)
    assert leaks(tmp_path, done.stdout, done.stderr) == []


def test_a_refusal_made_of_tokens_is_cleaned(echo: Echo, tmp_path: Path) -> None:
    """Many tokens, the last of them cut off."""
    token = "0123456789abcdef" * 40
    echo.script.answer = lambda path, body: (400, f"{token} ".encode() * 999, {})
    done = recallbench(
        *("run", "canary-locomo", "--store", echo.script.address, "--out", tmp_path / "o"),
        cwd=tmp_path,
        env={"RECALLBENCH_STORE_TOKEN": token},
    )
    assert done.returncode == 2
    assert "***" in done.stderr
    assert token[:16] not in done.stderr


def test_failed_questions_do_not_repeat_the_token(way: tuple[str, dict[str, str]], echo: Echo, tmp_path: Path) -> None:
    store, env = way
    honest = echo.answer
    wrong = iter([True, *[False] * 999])
    echo.script.answer = lambda path, body: (
        {"hits": [{"id": echo.credentials(), "score": 1.0}]}
        if path == "/search" and next(wrong)
        else honest(path, body)
    )
    folder = tmp_path / "r"
    done = recallbench(
        *("run", "canary-locomo", "--store", store, "--folder", folder, "--keep-going"), cwd=tmp_path, env=env
    )
    assert done.returncode == 1
    assert leaks(tmp_path, done.stdout, done.stderr) == []


@pytest.mark.marked
def test_the_plan_of_a_repeat_holds_no_secret(echo: Echo, tmp_path: Path) -> None:
    store = echo.script.address.replace("//", f"//joe:{quote(TOKEN, safe='')}@")
    words = ("repeat", "2", "canary-locomo", "--store", store, "--out", tmp_path / "o")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert len(list((tmp_path / "o").rglob("metrics.json"))) == 2
    assert leaks(tmp_path, done.stdout, done.stderr) == []


def test_a_python_store_cannot_leak_its_environment(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, sys\n"
        "print(os.environ['MY_API_KEY'], file=sys.stderr)\n"
        "def open_memory(items, vectors):\n"
        "    return lambda query, k: [(item.id, 0.0) for item in items[:k]]\n"
        "open_memory.needs_vectors = False\n"
        "open_memory.settings = {'key': os.environ['MY_API_KEY']}\n"
    )
    done = recallbench(
        *("run", "canary-locomo", "--store", "python:mine:open_memory", "--folder", tmp_path / "r"),
        cwd=tmp_path,
        env={"MY_API_KEY": TOKEN},
    )
    assert done.returncode == 0
    assert "***" in done.stderr
    assert leaks(tmp_path / "r", done.stdout, done.stderr) == []


@pytest.mark.parametrize(
    "store",
    sampled(
        [
            f"http:/joe:{TOKEN}@h",
            f"http:joe:{TOKEN}@h",
            f"htp://joe:{TOKEN}@h",
            f"http://joe:{TOKEN}@h",
            f"http://joe:{quote(TOKEN, safe='')}@h:99999/",
            f"http://joe:{quote(TOKEN, safe='')}@[::1/",
            f"http://joe:{quote(TOKEN, safe='')}@127.0.0.1:9/?a=b",
            f"http://joe:{quote(TOKEN, safe='')}@127.0.0.1:9/",
            "http://joe:hush@h:0/",
            "http:/joe:hush@h",
        ],
        5,
    ),
)
def test_a_mistyped_address_is_not_repeated(store: str, tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--store", store, "--out", tmp_path / "o", cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert leaks(tmp_path, done.stdout, done.stderr) == []
    assert "hush" not in done.stderr
    assert "expected" in done.stderr or "what to do" in done.stderr


@pytest.mark.parametrize("proxy", sampled(["nonsense://joe:hunter-2@h", "socks5://joe:hunter-2@127.0.0.1:9"]))
def test_an_invalid_proxy_is_named_without_its_password(proxy: str, tmp_path: Path) -> None:
    done = recallbench(
        *("run", "canary-locomo", "--store", "http://a.invalid/", "--out", tmp_path / "o"),
        cwd=tmp_path,
        env={"HTTP_PROXY": proxy},
    )
    assert done.returncode == 2
    assert "the proxy that the environment names can't be used" in done.stderr
    assert "hunter-2" not in done.stderr


@pytest.mark.parametrize(
    ("words", "env"),
    sampled(
        [
            (("fetch", "locomo"), {"RECALLBENCH_LOCOMO_URL": f"http://joe:{quote(TOKEN, safe='')}@127.0.0.1:9/x"}),
            (("fetch", "locomo"), {"RECALLBENCH_LOCOMO_URL": f"http:/joe:{TOKEN}@127.0.0.1:9/x"}),
            (("fetch", "locomo"), {"RECALLBENCH_LOCOMO_URL": f"https://{quote(TOKEN, safe='')}@127.0.0.1:9/x"}),
            (("fetch", "longmemeval"), {"HF_ENDPOINT": f"http://joe:{quote(TOKEN, safe='')}@127.0.0.1:9"}),
            (("fetch", "bge-m3"), {"HF_ENDPOINT": f"http://joe:{quote(TOKEN, safe='')}@127.0.0.1:9"}),
            (("fetch", "longmemeval"), {"HF_ENDPOINT": f"http:/joe:{TOKEN}@127.0.0.1:9"}),
            (("doctor", "locomo"), {"PGMNEMO_DSN": f"postgresql://joe:{quote(TOKEN, safe='')}@127.0.0.1:9/d"}),
            (
                (
                    "doctor",
                    "locomo",
                    "--dsn",
                    f"host=127.0.0.1 port=9 password='{TOKEN}' options='-c my.token={TOKEN}'",
                ),
                {},
            ),
            (("run", "locomo", "--dsn", f"host=127.0.0.1 port=9 password={TOKEN} nonsense"), {}),
            (("run", "locomo", "--dsn", "host=127.0.0.1", f"password={TOKEN}"), {}),
        ]
    ),
)
def test_credentials_of_other_addresses_are_not_repeated(
    words: tuple[str, ...], env: dict[str, str], tmp_path: Path
) -> None:
    done = recallbench(*words, cwd=tmp_path, env={"HF_HUB_OFFLINE": "0", **env})
    assert leaks(tmp_path, done.stdout, done.stderr) == []
