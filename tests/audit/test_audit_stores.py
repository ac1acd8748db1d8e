"""Genuine results of every store pass, and changed ones fail by what the store declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mutations import Mutation
from store_mutations import STORES
from test_audit_mutations import assert_seen, audited

from bolt import bolt_server
from commandline import recallbench
from example_server import example_server
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.registry import SCHEMES, store_class
from recallbench.stores.registry import STORES as REGISTERED
from stages import sampled
from stores.standin import database, standin_server

MEMORY = """
__version__ = "7.2"

def open_memory(items, vectors):
    words = {item.id: set(item.text.lower().split()) for item in items}
    def search(query, k):
        query_words = set(query.text.lower().split())
        scored = [(id, float(len(query_words & known))) for id, known in words.items()]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]
    return search
open_memory.needs_vectors = False
open_memory.settings = {"function": "as its user calls it"}

def open_relative(items, vectors):
    search = open_memory(items, vectors)
    def relative(query, k):
        # The last hit scores 0, so that scores depend on k.
        best = search(query, k)
        return [(id, score - best[-1][1]) for id, score in best]
    return relative
open_relative.needs_vectors = False

def open_candid(items, vectors):
    return open_relative(items, vectors)
open_candid.needs_vectors = False
open_candid.scores_depend_on_k = True
"""
HASH = ("--embedder", "hash")


@contextmanager
def store_options(store: str, folder: Path) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Start a store of this kind, and return the options and variables that name it."""
    if store == "pgmnemo":
        with standin_server() as server, database(server.dsn, "2.0") as dsn:
            yield ("--store", "pgmnemo", "--dsn", dsn, *HASH), {}
    elif store == "pgvector by DSN":
        with EmbeddedServer() as running:
            yield ("--store", "pgvector", "--weights", "cosine=1,graph=2", *HASH), {"PGMNEMO_DSN": running.dsn}
    elif store == "graph":
        with bolt_server(folder) as environ:
            yield ("--store", "graph"), environ
    elif store == "http":
        with example_server() as address:
            yield ("--store", address.replace("//", "//joe:s3cret@"), *HASH), {}
    elif store in ("python", "callable"):
        (folder / "my_memory.py").write_text(MEMORY)
        name = "my_memory:open_memory"
        yield ("--store", f"python:{name}") if store == "python" else ("--store", "callable", "--call", name), {}
    else:
        yield ("--store", store, *(HASH if store == "pgvector" else ())), {}


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the result of a store, which is run at the first call."""
    folders: dict[str, Path] = {}

    def result(store: str) -> Path:
        if store not in folders:
            folder = tmp_path_factory.mktemp("store")
            with store_options(store, folder) as (words, variables):
                run = ("run", "canary-locomo", "--limit", "9999", "--folder", "result", "-q", *words)
                assert recallbench(*run, cwd=folder, env=variables).returncode == 0
            folders[store] = folder / "result"
        return folders[store]

    return result


SLOW = ("pgmnemo", "graph", "callable", "pgvector by DSN")


def staged(store: str, *more: Any, id: str) -> Any:
    return pytest.param(store, *more, marks=[pytest.mark.marked] if store in SLOW else [], id=id)


@pytest.mark.parametrize("store", [staged(store, id=store) for store in (*STORES, "callable", "pgvector by DSN")])
def test_a_genuine_result_passes(genuine: Callable[[str], Path], tmp_path: Path, store: str) -> None:
    report = audited(genuine(store), tmp_path, None)
    assert [(check.code, check.observed) for check in report.checks if check.status != "pass"] == []
    assert report.verdict.label == "VERIFIED"


@pytest.mark.parametrize(
    ("store", "mutation"),
    [
        *sampled([(store, mutation) for store, all in STORES.items() if store not in SLOW for mutation in all], each=6),
        *(
            staged(store, mutation, id=f"{store}-{mutation.name}")
            for store in SLOW
            for mutation in STORES.get(store, ())
        ),
    ],
)
def test_a_change_is_seen(genuine: Callable[[str], Path], tmp_path: Path, store: str, mutation: Mutation) -> None:
    assert_seen(audited(genuine(store), tmp_path, mutation), mutation)


def test_scores_that_depend_on_k_are_refused_unless_the_memory_says_so(tmp_path: Path) -> None:
    (tmp_path / "my_memory.py").write_text(MEMORY)
    failures = {}
    for name in ("open_relative", "open_candid"):
        run = ("run", "canary-locomo", "--limit", "20", "--folder", name, "--store", f"python:my_memory:{name}")
        done = recallbench(*run, cwd=tmp_path)
        assert done.returncode == 0
        assert ("which an audit refuses; where that is right, say scores_depend_on_k" in done.stderr) == (
            name == "open_relative"
        )
        (folder := tmp_path / f"of {name}").mkdir()
        failures[name] = [
            (check.code, check.observed)
            for check in audited(tmp_path / name, folder, None).checks
            if check.status == "fail"
        ]
    assert failures["open_candid"] == []
    ((code, observed),) = failures["open_relative"]
    assert code == "RB-CALLS"
    assert "; a memory that is right to do so says scores_depend_on_k" in observed


def test_every_store_declares_what_an_audit_checks() -> None:
    for name in (*REGISTERED, *(f"{scheme}://h" for scheme in SCHEMES)):
        kind = store_class(name)
        assert kind.states(name, {"call": "a:b"}), name
        lowest, highest = kind.score_range({})
        assert lowest < highest
        assert kind.scores_alike(10, 10, {}, {})


def test_scores_of_pgmnemo_agree_between_calls_where_its_pool_holds_the_whole_scope() -> None:
    kind = store_class("pgmnemo")
    assert kind.scores_alike(40, 10, {}, {})
    assert not kind.scores_alike(41, 10, {}, {})
    assert not kind.scores_alike(40, 10, {"dates": "dataset"}, {})
