"""Neither a hostile hub nor links in its cache make, move or remove anything outside the cache."""

from __future__ import annotations

import gzip
import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from loopback_hub import LoopbackHub
from recallbench import hub
from recallbench.corpora.labelled_sets import hub_set
from recallbench.corpora.labelled_sets.hub_set import HubSet, obtain_set
from recallbench.corpora.registry import fetch
from recallbench.errors import InputError, UsageError
from recallbench.hub_leftovers import sweep_downloads
from recallbench.progress import Silent
from recallbench.protocol import load

BODY = b'{"_id": "a", "text": "b"}\n' * 9
REVISION = "a" * 40
CORPUS = replace(load().corpora["longmemeval"], sha256="0" * 64, revision=REVISION)
FILES = {
    f"datasets/{CORPUS.source}/{CORPUS.file}": BODY,
    "datasets/team/set/corpus.jsonl.gz": b"no gzip: what can't be unpacked is removed from the cache",
    "team/model/config.json": BODY,
}
Way = Callable[[Mapping[str, str]], object]
WAYS: Mapping[str, Way] = {
    "a corpus": lambda environ: fetch(CORPUS, environ),
    "a set": lambda environ: obtain_set(HubSet("team/set", REVISION), "test", {}, environ, Silent()),
    "weights": lambda environ: hub.download("team/model", "config.json", REVISION, environ, Silent()),
    "weights again": lambda environ: hub.download("team/model", "config.json", REVISION, environ, Silent(), again=True),
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


class Home:
    """A user's files beside the hub's cache, in the folders that `../` leads to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cache = path / "hf" / "hub"
        for folder in (path, path / "hf"):
            folder.mkdir(exist_ok=True)
            (folder / "mine").write_text("the user's own")

    def outside(self) -> dict[str, str]:
        """Return path and content of everything outside the cache, locks and drafts included."""
        return {
            str(path): path.read_text() if path.is_file() else "a folder"
            for path in sorted(self.path.rglob("*"))
            if not path.is_relative_to(self.cache) and not path.is_relative_to(self.path / "data")
        }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def served() -> Iterator[LoopbackHub]:
    with LoopbackHub(FILES) as server:
        yield server


@pytest.fixture
def environ(home: Home, served: LoopbackHub) -> dict[str, str]:
    return {
        "HF_ENDPOINT": served.url,
        "HF_HOME": str(home.path / "hf"),
        "RECALLBENCH_DATA_DIR": str(home.path / "data"),
    }


def hostile(served: LoopbackHub, **headers: str) -> None:
    honest = served.answer

    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        status, sent, body = honest(path)
        return status, {**sent, **{name.replace("_", "-"): value for name, value in headers.items()}}, body

    served.answer = answer  # type: ignore[method-assign]


@ways
@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": '"../../../mine"'},
        {"ETag": '"../../../../mine"'},
        {"ETag": "W/../../../../new"},
        {"ETag": '"{home}/mine"'},
        {"X_Linked_Etag": '"../../../../mine"'},
        {"X_Linked_Etag": '".."'},
        {"ETag": '"' + "a" * 4000 + '"'},
        {"X_Repo_Commit": "../../../../new"},
        {"X_Repo_Commit": "{home}/new"},
        {"X_Repo_Commit": "b" * 40},
        {"X_Repo_Commit": ""},
        {"X_Repo_Commit": "b" * 40, "X_Error_Code": "RevisionNotFound"},
    ],
    ids=lambda headers: "".join(f"{name} {value[:30]}" for name, value in headers.items()),
)
def test_a_hostile_header_is_refused_before_anything_is_written(
    home: Home, served: LoopbackHub, environ: dict[str, str], way: Way, headers: dict[str, str]
) -> None:
    hostile(served, **{name: value.replace("{home}", str(home.path)) for name, value in headers.items()})
    before = home.outside()
    with pytest.raises(InputError, match="can't be a file of its cache") as caught:
        way(environ)
    assert home.outside() == before
    name = next(iter(headers)).replace("_", "-")
    assert caught.value.found.startswith(name)
    assert caught.value.expected.startswith(name)
    assert len(caught.value.found) < 120


def test_a_hostile_header_of_a_file_that_is_not_there_is_refused_too(
    home: Home, served: LoopbackHub, environ: dict[str, str]
) -> None:
    """The hub's library notes absent files in a folder named by the commit."""
    hostile(served, X_Repo_Commit=str(home.path / "new"))
    before = home.outside()
    with pytest.raises(InputError, match="can't be a file of its cache"):
        hub.download("team/model", "absent.json", REVISION, environ, Silent())
    assert home.outside() == before


def test_an_etag_with_a_nul_is_no_answer(home: Home, served: LoopbackHub, environ: dict[str, str]) -> None:
    hostile(served, ETag='"a\0b"')
    before = home.outside()
    with pytest.raises(hub.Unreachable):
        hub.download("team/model", "config.json", REVISION, environ, Silent())
    assert home.outside() == before


def test_later_answers_are_checked_as_well(home: Home, served: LoopbackHub, environ: dict[str, str]) -> None:
    honest, requests = served.answer, iter(range(9))

    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        status, sent, body = honest(path)
        return status, sent if next(requests) == 0 else {**sent, "ETag": '"../../../../new"'}, body

    served.answer = answer  # type: ignore[method-assign]
    before = home.outside()
    with pytest.raises(InputError, match="can't be a file of its cache"):
        hub.download("team/model", "config.json", REVISION, environ, Silent())
    assert home.outside() == before


def test_the_quotes_and_forms_of_etag_that_hubs_send_are_taken(served: LoopbackHub, environ: dict[str, str]) -> None:
    for number, tag in enumerate(('"abc-12"', 'W/"' + "f" * 64 + '"', "d41d8cd98f00b204e9800998ecf8427e")):
        hostile(served, ETag=tag)
        own = {**environ, "HF_HOME": f"{environ['HF_HOME']}{number}"}
        assert hub.download("team/model", "config.json", REVISION, own, Silent()).read_bytes() == BODY


@ways
@pytest.mark.parametrize("subfolder", ["blobs", "snapshots", f"snapshots/{REVISION}", ".no_exist", "refs", ".locks"])
def test_a_folder_of_the_cache_that_leads_elsewhere_is_refused(
    home: Home, environ: dict[str, str], way: Way, subfolder: str
) -> None:
    elsewhere = home.path / "elsewhere"
    elsewhere.mkdir()
    for name in ("models--team--model", "datasets--team--set", f"datasets--{CORPUS.source.replace('/', '--')}"):
        link = home.cache / (f".locks/{name}" if subfolder == ".locks" else f"{name}/{subfolder}")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(elsewhere)
    before = home.outside()
    with pytest.raises(InputError, match=r"(?s)leads out of the hub's cache.*remove that link"):
        way(environ)
    assert home.outside() == before


@ways
def test_a_cached_file_that_leads_elsewhere_is_neither_read_nor_removed(
    home: Home, environ: dict[str, str], way: Way
) -> None:
    for name, file in (
        ("models--team--model", "config.json"),
        ("datasets--team--set", "corpus.jsonl.gz"),
        (f"datasets--{CORPUS.source.replace('/', '--')}", CORPUS.file),
    ):
        link = home.cache / name / "snapshots" / REVISION / file
        link.parent.mkdir(parents=True)
        link.symlink_to(home.path / "mine")
    before = home.outside()
    with pytest.raises(InputError, match="leads out of the hub's cache"):
        way(environ)
    assert home.outside() == before


def test_links_that_go_in_circles_are_refused(home: Home, environ: dict[str, str]) -> None:
    link = home.cache / "models--team--model" / "blobs" / "round"
    link.parent.mkdir(parents=True)
    link.symlink_to("round")
    with pytest.raises(InputError, match="leads out of the hub's cache"):
        hub.download("team/model", "config.json", REVISION, environ, Silent())


def test_a_lock_that_is_another_file_as_well_is_not_emptied(home: Home, environ: dict[str, str]) -> None:
    lock = home.cache / ".locks" / "models--team--model" / f"{hashlib.sha256(BODY).hexdigest()[:40]}.lock"
    lock.parent.mkdir(parents=True)
    lock.hardlink_to(home.path / "mine")
    with pytest.raises(InputError, match=r"(?s)leads out of the hub's cache.*another name elsewhere"):
        hub.download("team/model", "config.json", REVISION, environ, Silent())
    assert (home.path / "mine").read_text() == "the user's own"


def test_a_tag_of_the_cache_that_leads_elsewhere_is_not_written(home: Home, environ: dict[str, str]) -> None:
    home.cache.mkdir(parents=True)
    (home.cache / "CACHEDIR.TAG").symlink_to(home.path / "new")
    with pytest.raises(InputError, match="leads out of the hub's cache"):
        hub.download("team/model", "config.json", REVISION, environ, Silent())
    assert not (home.path / "new").exists()


def test_a_cache_that_is_itself_a_link_is_used(home: Home, environ: dict[str, str]) -> None:
    (home.path / "big-disk").mkdir()
    home.cache.symlink_to(home.path / "big-disk")
    path = hub.download("team/model", "config.json", REVISION, environ, Silent())
    assert path.read_bytes() == BODY
    assert hub.cached_file("team/model", "config.json", REVISION, environ) == home.cache / path.relative_to(
        home.path / "big-disk"
    )
    hub.forget(path, environ)
    assert hub.cached_file("team/model", "config.json", REVISION, environ) is None


@pytest.mark.parametrize("endpoint", ["nowhere", "ftp://a.b", "http://", "http://h:99999", "http://[::1", "http://a b"])
def test_an_endpoint_that_is_no_address_is_wrong_usage(environ: dict[str, str], endpoint: str) -> None:
    with pytest.raises(UsageError, match=r"(?s)HF_ENDPOINT is no address.*https://huggingface.co"):
        hub.download("team/model", "config.json", REVISION, {**environ, "HF_ENDPOINT": endpoint}, Silent())


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Linked_Size": str(1 << 30)},
        {"Content_Range": "bytes 0-5/*"},
        {"Location": "http://127.0.0.1:99999/"},
        {"Location": "file:///etc/passwd"},
    ],
    ids=lambda headers: next(iter(headers.values()))[:20],
)
def test_meaningless_headers_are_no_crash(
    served: LoopbackHub, environ: dict[str, str], headers: dict[str, str]
) -> None:
    hostile(served, **headers)
    if "Location" in headers:
        honest = served.answer
        served.answer = lambda path: (302, *honest(path)[1:])  # type: ignore[method-assign]
    with pytest.raises(hub.Unreachable):
        hub.download("team/model", "config.json", REVISION, environ, Silent())


@pytest.mark.parametrize("body", [b"[1]", b'{"errors": 5}', b"[" * 100_000], ids=["list", "number", "deep"])
def test_a_malformed_refusal_is_no_crash(served: LoopbackHub, environ: dict[str, str], body: bytes) -> None:
    honest = served.answer

    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        response = honest(path)
        return (
            (403, {**response[1], "X-Error-Message": "closed"}, body)
            if served.requests[-1].startswith("GET")
            else response
        )

    served.answer = answer  # type: ignore[method-assign]
    with pytest.raises(hub.Unreachable, match="403 Forbidden: closed"):
        hub.download("team/model", "config.json", REVISION, environ, Silent())


def test_more_bytes_than_announced_are_refused(
    served: LoopbackHub, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four kilobytes, sent with gzip as their encoding, unpack to a megabyte."""
    packed = gzip.compress(b"a" * (1 << 20))
    hostile(served, Content_Encoding="gzip", X_Linked_Size="5000", X_Linked_Etag='"b"')
    served.repos["team/model"]["config.json"] = packed
    with pytest.raises(InputError, match=r"(?s)config.json does not end where it should.*at most 5000 bytes"):
        hub.download("team/model", "config.json", REVISION, environ, Silent())


def test_a_set_that_unpacks_to_far_more_than_text_does_is_refused(
    served: LoopbackHub, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, home: Home
) -> None:
    monkeypatch.setattr(hub_set, "UNPACKED_ALWAYS", 1 << 20)
    line = b'{"_id": "a", "text": "b"}\n'
    queries = b'{"_id": "q", "text": "b"}\n'
    for size, fits in ((1 << 15, True), (1 << 22, False)):
        body = gzip.compress(line * (size // len(line)))
        served.repos["datasets/team/set"] = {"corpus.jsonl.gz": body, "queries.jsonl": queries}
        revision = hashlib.sha1(body).hexdigest()
        if fits:
            obtain_set(HubSet("team/set", revision), None, {}, environ, Silent())
            continue
        with pytest.raises(InputError) as caught:
            obtain_set(HubSet("team/set", revision), None, {}, environ, Silent())
        assert caught.value.problem == "corpus.jsonl.gz of team/set is too large when unpacked"
        assert caught.value.expected == f"at most 1 MiB of text in {len(body)} packed bytes"
        assert "unpack it yourself" in caught.value.remedy


def test_files_of_a_killed_download_are_swept_and_those_of_a_living_one_stay(
    home: Home, served: LoopbackHub, environ: dict[str, str]
) -> None:
    honest, hang = served.answer, threading.Event()

    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        if served.requests[-1].startswith("GET"):
            hang.wait(60)
        return honest(path)

    served.answer = answer  # type: ignore[method-assign]
    child = os.fork()
    if child == 0:
        try:
            hub.download("team/model", "config.json", REVISION, environ, Silent())
        finally:
            os._exit(0)
    blobs, deadline = home.cache / "models--team--model" / "blobs", time.monotonic() + 60
    try:
        while not list(blobs.glob("*.incomplete")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert sweep_downloads(home.cache, "models--team--model") == []
        assert len(list(blobs.iterdir())) == 1
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        hang.set()
    (blobs / "unlocked.01234567.incomplete").write_text("whose lock nobody knows")
    (blobs / "mine.incomplete").write_text("of no form that the library gives")
    hub.download("team/model", "config.json", REVISION, environ, Silent())
    assert sorted(path.name for path in blobs.iterdir()) == [
        hashlib.sha256(BODY).hexdigest()[:40],
        "mine.incomplete",
        "unlocked.01234567.incomplete",
    ]
