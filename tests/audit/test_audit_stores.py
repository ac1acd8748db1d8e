"""Genuine results of every store pass, and what a store declares finds out what was changed in them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mutations import Mutation
from store_mutations import STORES
from test_audit_mutations import audited, seen

from bolt import bolt_server
from commandline import recallbench
from recallbench.stores.postgres.embedded import EmbeddedServer
from recallbench.stores.registry import SCHEMES, store_class
from recallbench.stores.registry import STORES as REGISTERED
from stages import sampled
from stores.standin import database, standin_server

SERVER = Path(__file__).resolve().parents[2] / "examples" / "http_memory.py"
MEMORY = """
__version__ = "7.2"

def open_memory(items, vectors):
    words = {item.id: set(item.text.lower().split()) for item in items}
    def search(query, k):
        asked = set(query.text.lower().split())
        scored = [(id, float(len(asked & known))) for id, known in words.items()]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]
    return search
open_memory.needs_vectors = False
open_memory.settings = {"function": "as its user calls it"}

def open_relative(items, vectors):
    search = open_memory(items, vectors)
    def relative(query, k):
        # The last of what came back scores 0, so that a score depends on k.
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
def named(store: str, place: Path) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """The options and variables that name a store of this kind, while it is there."""
    if store == "pgmnemo":
        with standin_server() as server, database(server.dsn, "2.0") as dsn:
            yield ("--store", "pgmnemo", "--dsn", dsn, *HASH), {}
    elif store == "pgvector by DSN":
        with EmbeddedServer() as running:
            yield ("--store", "pgvector", "--weights", "cosine=1,graph=2", *HASH), {"PGMNEMO_DSN": running.dsn}
    elif store == "graph":
        with bolt_server(place) as environ:
            yield ("--store", "graph"), environ
    elif store == "http":
        process = subprocess.Popen([sys.executable, SERVER, "--port", "0"], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            yield ("--store", address.replace("//", "//joe:s3cret@"), *HASH), {}
        finally:
            process.terminate()
            process.communicate()
    elif store in ("python", "callable"):
        (place / "my_memory.py").write_text(MEMORY)
        name = "my_memory:open_memory"
        yield ("--store", f"python:{name}") if store == "python" else ("--store", "callable", "--call", name), {}
    else:
        yield ("--store", store, *(HASH if store == "pgvector" else ())), {}


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The result of a store, made when it is first asked for."""
    made: dict[str, Path] = {}

    def result(store: str) -> Path:
        if store not in made:
            place = tmp_path_factory.mktemp("store")
            with named(store, place) as (words, variables):
                run = ("run", "canary-locomo", "--limit", "9999", "--folder", "result", "-q", *words)
                assert recallbench(*run, cwd=place, env=variables).returncode == 0
            made[store] = place / "result"
        return made[store]

    return result


SLOW = ("pgmnemo", "graph", "callable", "pgvector by DSN")


def staged(store: str, *more: Any, id: str) -> Any:
    return pytest.param(store, *more, marks=[pytest.mark.marked] if store in SLOW else [], id=id)


@pytest.mark.parametrize("store", [staged(one, id=one) for one in (*STORES, "callable", "pgvector by DSN")])
def test_a_genuine_result_passes(genuine: Callable[[str], Path], tmp_path: Path, store: str) -> None:
    found = audited(genuine(store), tmp_path, None)
    assert [(check.code, check.observed) for check in found.checks if check.status != "pass"] == []
    assert found.verdict.label == "VERIFIED"


@pytest.mark.parametrize(
    ("store", "mutation"),
    [
        *sampled([(store, one) for store, all in STORES.items() if store not in SLOW for one in all], each=6),
        *(staged(store, one, id=f"{store}-{one.name}") for store in SLOW for one in STORES.get(store, ())),
    ],
)
def test_a_change_is_seen(genuine: Callable[[str], Path], tmp_path: Path, store: str, mutation: Mutation) -> None:
    seen(audited(genuine(store), tmp_path, mutation), mutation)


def test_scores_that_depend_on_k_are_refused_unless_the_memory_says_so(tmp_path: Path) -> None:
    (tmp_path / "my_memory.py").write_text(MEMORY)
    told = {}
    for name in ("open_relative", "open_candid"):
        run = ("run", "canary-locomo", "--limit", "20", "--folder", name, "--store", f"python:my_memory:{name}")
        done = recallbench(*run, cwd=tmp_path)
        assert done.returncode == 0
        assert ("which an audit refuses; where that is right, say scores_depend_on_k" in done.stderr) == (
            name == "open_relative"
        )
        (place := tmp_path / f"of {name}").mkdir()
        told[name] = [
            (one.code, one.observed) for one in audited(tmp_path / name, place, None).checks if one.status == "fail"
        ]
    assert told["open_candid"] == []
    ((code, observed),) = told["open_relative"]
    assert code == "RB-CALLS"
    assert "; a memory that is right to do so says scores_depend_on_k" in observed


def test_every_store_says_what_its_results_are_held_to() -> None:
    for name in (*REGISTERED, *(f"{scheme}://h" for scheme in SCHEMES)):
        kind = store_class(name)
        assert kind.states(name, {"call": "a:b"}), name
        lowest, highest = kind.score_range({})
        assert lowest < highest
        assert kind.scores_alike(10, 10, {}, {})


def test_scores_of_pgmnemo_are_held_to_each_other_where_its_pool_holds_the_scope_whole() -> None:
    kind = store_class("pgmnemo")
    assert kind.scores_alike(40, 10, {}, {})
    assert not kind.scores_alike(41, 10, {}, {})
    assert not kind.scores_alike(40, 10, {"dates": "dataset"}, {})
