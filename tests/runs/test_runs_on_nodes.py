"""A node measures what the machine that sends it a run would: the same store, on the same server."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from recallbench.progress import Silent
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.runs import on_nodes
from recallbench.runs.on_nodes import deciding_facts, differing, received, sent
from recallbench.runs.options import Options
from recallbench.runs.plan import plan_run
from recallbench.scoring.measures.registry import parse
from recallbench.stores.request import StoreStatus
from recallbench.studies.sweep.on_nodes import PointNodes
from recallbench.studies.sweep.points import SweepPoint
from sweeps import TUNED

SERVER = "postgresql://me:secret@db.example:5432/bench"


@pytest.mark.parametrize(
    ("here", "servers"), [({"PGMNEMO_DSN": SERVER, "PYTHONHASHSEED": "7"}, (SERVER,)), ({"HOME": "/nowhere"}, ())]
)
def test_the_server_that_is_named_here_is_measured_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, here: dict[str, str], servers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PGMNEMO_DSN", "postgresql://another.example/bench")
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    options = Options("canary-locomo", store="pgvector", embedder="hash", cache_dir=tmp_path, environ=here)
    there = received(sent(options))
    assert plan_run(there).servers == servers
    assert there.environ["PYTHONHASHSEED"] == "42"


def test_a_node_with_another_store_or_server_is_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fact(store: str, status: StoreStatus, dsn: tuple[str, ...] = (SERVER,)) -> str:
        monkeypatch.setattr(on_nodes, "store_status", lambda *_: status)
        options = Options("canary-locomo", store=store, dsn=dsn, embedder="hash", cache_dir=tmp_path)
        return deciding_facts([plan_run(options)])[f"store {store}"]

    there = fact("pgvector", StoreStatus(True, "", decides=("PostgreSQL 16.4", "pgvector 0.8.0")))
    assert "host=db.example port=5432" in there
    assert "secret" not in there
    assert there.endswith(", PostgreSQL 16.4, pgvector 0.8.0")
    assert fact("pgvector", StoreStatus(False, "refuses the connection")) == "not here (refuses the connection)"
    assert fact("pgvector", StoreStatus(True, ""), ()) == "without a server"
    assert fact("exact", StoreStatus(True, "")) == "without a server"


def test_a_node_with_other_code_of_a_users_own_store_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = tmp_path / "told_apart.py"
    code.write_text(f"{TUNED}\n__version__ = '1.2'\n")
    monkeypatch.syspath_prepend(tmp_path)
    name = "python:told_apart:open_memory"

    def fact() -> str:
        plan = plan_run(Options("canary-locomo", store=name, cache_dir=tmp_path))
        return deciding_facts([plan])[f"store {name}"]

    here = fact()
    assert re.fullmatch(r"told_apart:open_memory \(.*1\.2.*\), module sha256 [0-9a-f]{64}", here)
    code.write_text(f"{code.read_text()}# another line\n")
    assert fact() != here


LEGS = (
    {"kind": "search", "method": "python:searched_there:open_memory"},
    {"kind": "search", "method": "lexical"},
    {"kind": "fuse", "method": "rrf"},
)


def test_each_store_that_is_searched_is_told_with_its_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "searched_there.py").write_text(TUNED)
    monkeypatch.syspath_prepend(tmp_path)
    called = Options("canary-locomo", store="callable", store_options={"call": "searched_there:open_memory"})
    facts = deciding_facts([plan_run(each) for each in (Options("canary-locomo", pipeline=Pipeline.of(LEGS)), called)])
    told = {name.removeprefix("store "): fact for name, fact in facts.items() if name.startswith("store ")}
    assert sorted(told) == ["bm25", "callable call=searched_there:open_memory", "python:searched_there:open_memory"]
    assert told["bm25"] == "without a server"
    assert "module sha256" in told["python:searched_there:open_memory"]


def test_points_that_differ_in_their_store_alone_are_all_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "searched_there.py").write_text(TUNED)
    monkeypatch.syspath_prepend(tmp_path)
    options = [Options("canary-locomo", store=store) for store in ("python:searched_there:open_memory", "bm25", "bm25")]
    points = [SweepPoint(str(place), {}, plan_run(each), parse("mrr@50")) for place, each in enumerate(options)]
    nodes = PointNodes(points, "sweep", 1, Silent(), date(2026, 1, 1))
    assert [plan.store for plan in nodes._plans] == ["python:searched_there:open_memory", "bm25"]


def test_runs_of_the_same_corpus_stores_and_encoder_are_stated_once() -> None:
    alone, piped = Options("canary-locomo", store="bm25"), Options("canary-locomo", pipeline=Pipeline.of(LEGS))
    tuned = Options("canary-locomo", store="bm25", store_options={"k1": "1.2"})
    again = Options("canary-locomo", store="bm25", label="again")
    assert differing([alone, piped, tuned, again, piped]) == [again, piped, tuned]
