"""Downloads over real HTTP from the loopback interface."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from loopback_hub import LoopbackHub
from recallbench.corpora.registry import fetch, obtain
from recallbench.errors import Blocked, InputError
from recallbench.progress import Advance, Silent
from recallbench.protocol import load
from recallbench.protocol.rules import CorpusRules

BODY = b"[" + b'"memory",' * 20_000 + b'"end"]'
SHA256 = hashlib.sha256(BODY).hexdigest()
LONGMEMEVAL = replace(load().corpora["longmemeval"], sha256=SHA256)
LOCOMO = replace(load().corpora["locomo"], sha256=SHA256)
DATASET = "datasets/xiaowu0162/longmemeval-cleaned/longmemeval_s_cleaned.json"
REVISION = "98d7416c24c778c2fee6e6f3006e7a073259d48f"

Setting = tuple[LoopbackHub, dict[str, str], Path]


@contextmanager
def hub_with(tmp_path: Path, body: bytes, revision: str = REVISION) -> Iterator[Setting]:
    with LoopbackHub({DATASET: body, "/locomo10.json": body}, revisions=(revision,)) as hub:
        environ = {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "hf"),
            "RECALLBENCH_DATA_DIR": str(tmp_path / "data"),
            "RECALLBENCH_LOCOMO_URL": f"{hub.url}/locomo10.json",
        }
        yield hub, environ, tmp_path / "data"


def closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize("rules", [LONGMEMEVAL, LOCOMO], ids=lambda rules: rules.name)
def test_the_right_body_is_put_in_place_and_nothing_else(tmp_path: Path, rules: CorpusRules) -> None:
    with hub_with(tmp_path, BODY) as (hub, environ, data):
        path = fetch(rules, environ)
        assert path == data / rules.file
        assert path.read_bytes() == BODY
        assert left_in(data) == [rules.file]
        assert path.stat().st_mode & 0o444 == 0o444 & ~_umask()
        requests = len(hub.requests)
        assert fetch(rules, environ) == path
        assert len(hub.requests) == requests


def test_the_hub_dataset_is_requested_at_the_pinned_revision(tmp_path: Path) -> None:
    """Clarification 16: the dataset repository, not a model's."""
    with hub_with(tmp_path, BODY) as (hub, environ, _):
        fetch(LONGMEMEVAL, environ)
    path = f"/datasets/xiaowu0162/longmemeval-cleaned/resolve/{REVISION}/longmemeval_s_cleaned.json"
    assert f"GET {path}" in hub.requests


@pytest.mark.parametrize("rules", [LONGMEMEVAL, LOCOMO], ids=lambda rules: rules.name)
def test_a_wrong_body_of_the_same_size_is_refused_with_both_hashes(tmp_path: Path, rules: CorpusRules) -> None:
    wrong = BODY.replace(b"end", b"END")
    with hub_with(tmp_path, wrong) as (_, environ, data):
        with pytest.raises(InputError) as refused:
            fetch(rules, environ)
        assert SHA256 in refused.value.expected
        assert hashlib.sha256(wrong).hexdigest() in refused.value.found
        assert left_in(data) == []
    # The hub's cache does not return the wrong body the next time either.
    with hub_with(tmp_path, BODY) as (_, environ, data):
        assert fetch(rules, environ).read_bytes() == BODY


@pytest.mark.parametrize("rules", [LONGMEMEVAL, LOCOMO], ids=lambda rules: rules.name)
def test_offline_blocks_and_says_what_to_do(tmp_path: Path, rules: CorpusRules) -> None:
    nowhere = closed_port()
    environ = {
        "HF_ENDPOINT": nowhere,
        "HF_HOME": str(tmp_path / "hf"),
        "RECALLBENCH_DATA_DIR": str(tmp_path / "data"),
        "RECALLBENCH_LOCOMO_URL": f"{nowhere}/locomo10.json",
    }
    with pytest.raises(Blocked) as blocked:
        fetch(rules, environ)
    assert f"recallbench fetch {rules.name}" in blocked.value.remedy
    assert rules.variable in blocked.value.remedy
    with pytest.raises(Blocked, match="unset HF_HUB_OFFLINE"):
        fetch(rules, environ | {"HF_HUB_OFFLINE": "1"})
    assert left_in(tmp_path / "data") == []


def test_the_hub_cache_is_used_offline(tmp_path: Path) -> None:
    with hub_with(tmp_path, BODY) as (_, environ, data):
        fetch(LONGMEMEVAL, environ).unlink()
        environ["HF_HUB_OFFLINE"] = "1"
    assert fetch(LONGMEMEVAL, environ) == data / "longmemeval_s_cleaned.json"


def test_a_revision_or_file_that_the_source_does_not_have_blocks(tmp_path: Path) -> None:
    with hub_with(tmp_path, BODY, revision="a" * 40) as (hub, environ, data):
        with pytest.raises(Blocked, match="Revision Not Found"):
            fetch(LONGMEMEVAL, environ)
        with pytest.raises(Blocked, match="404"):
            fetch(LOCOMO, environ | {"RECALLBENCH_LOCOMO_URL": f"{hub.url}/other.json"})
        assert left_in(data) == []


def test_a_connection_that_ends_early_leaves_nothing(tmp_path: Path) -> None:
    with hub_with(tmp_path, BODY) as (hub, environ, data):
        answer_in_full, cut = hub.answer, {"Content-Length": str(len(BODY)), "Connection": "close"}
        hub.answer = lambda path: (200, cut, BODY[:1000])  # type: ignore[method-assign]
        with pytest.raises(Blocked, match=f"after 1000 of {len(BODY)} bytes"):
            fetch(LOCOMO, environ)
        assert left_in(data) == []
        hub.answer = answer_in_full  # type: ignore[method-assign]
        assert fetch(LOCOMO, environ).exists()


def test_a_file_in_place_with_another_hash_is_not_overwritten(tmp_path: Path) -> None:
    with hub_with(tmp_path, BODY) as (_, environ, data):
        data.mkdir()
        (data / "locomo10.json").write_text("mine")
        with pytest.raises(InputError, match=r"move .* away"):
            fetch(LOCOMO, environ)
        assert (data / "locomo10.json").read_text() == "mine"


def test_a_data_folder_that_cannot_be_made_blocks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        hub_with(tmp_path, BODY) as (_, environ, _data),
        pytest.raises(Blocked, match=r"(?s)can't be written.*RECALLBENCH_DATA_DIR"),
    ):
        fetch(LOCOMO, environ | {"RECALLBENCH_DATA_DIR": str(tmp_path / "file" / "data")})


@pytest.mark.parametrize(("rules", "named"), [(LONGMEMEVAL, "HF_HOME"), (LOCOMO, "RECALLBENCH_DATA_DIR")])
def test_no_room_for_the_file_blocks_and_leaves_nothing(tmp_path: Path, rules: CorpusRules, named: str) -> None:
    """The system refuses to write past 50 kB, as a full disk does."""
    program = """
import os, resource, sys
from dataclasses import replace
from recallbench.corpora.registry import fetch
from recallbench.errors import Blocked
from recallbench.protocol import load
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    fetch(replace(load().corpora[sys.argv[1]], sha256=sys.argv[2]), os.environ)
except Blocked as blocked:
    print(blocked)
"""
    with hub_with(tmp_path, BODY) as (_, environ, data):
        printed = subprocess.run(
            [sys.executable, "-c", program, rules.name, SHA256],
            env=os.environ | environ,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert "can't be written" in printed
    assert "File too large" in printed
    assert named in printed
    assert left_in(data) == []


@pytest.mark.parametrize("rules", [LONGMEMEVAL, LOCOMO], ids=lambda rules: rules.name)
def test_every_byte_is_reported_as_progress(tmp_path: Path, rules: CorpusRules) -> None:
    stages: list[tuple[str, int | None, int]] = []

    class Recorder(Silent):
        @contextmanager
        def stage(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:
            done: list[int] = []
            yield done.append
            stages.append((name, total, sum(done)))

    with hub_with(tmp_path, BODY) as (_, environ, _data):
        fetch(rules, environ, Recorder())
    assert stages == [(f"fetching {rules.file}", len(BODY), len(BODY))]


def test_obtain_downloads_only_when_allowed_and_nothing_was_named(tmp_path: Path) -> None:
    with hub_with(tmp_path, BODY) as (hub, environ, data):
        with pytest.raises(Blocked, match="recallbench fetch locomo"):
            obtain(LOCOMO, None, environ, download=False)
        with pytest.raises(Blocked, match="LOCOMO_DATA_DIR names"):
            obtain(LOCOMO, None, environ | {"LOCOMO_DATA_DIR": str(tmp_path)}, download=True)
        assert hub.requests == []
        assert obtain(LOCOMO, None, environ, download=True) == data / "locomo10.json"


def test_a_corpus_that_is_bundled_is_not_fetched(tmp_path: Path) -> None:
    from recallbench.corpora.canary import facts

    with pytest.raises(InputError, match="recallbench run canary-locomo"):
        fetch(facts()["canary-locomo"], {"RECALLBENCH_DATA_DIR": str(tmp_path)})


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
