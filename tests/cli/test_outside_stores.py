"""Memories outside this project by the real command line: --store python:… and --store http://…"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from example_server import example_server
from scripted_server import scripted_server
from stages import sampled

ROOT = Path(__file__).resolve().parents[2]
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

def answering(answer):
    def open_it(items, vectors):
        return lambda query, k: answer(items, query, k)
    open_it.needs_vectors = False
    return open_it

def hang():
    while True:
        pass

def search(query, k):
    return []

def given(items):
    return search

none = answering(lambda items, query, k: None)
too_many = answering(lambda items, query, k: [(item.id, 1.0) for item in items] * 9)
nan = answering(lambda items, query, k: [(items[0].id, float("nan"))])
distances = answering(lambda items, query, k: [(item.id, float(i)) for i, item in enumerate(items[:k])])
stranger = answering(lambda items, query, k: [(10**9, 1.0)])
raising = answering(lambda items, query, k: {}[query.text])
hanging = answering(lambda items, query, k: hang())
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "my_memory.py").write_text(MEMORY)
    return tmp_path


@pytest.fixture(scope="module", params=["--words", "--port=0"], ids=["words", "vectors"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    with example_server(request.param) as address:
        yield address


def metrics_of(folder: Path) -> dict[str, Any]:
    metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return metrics


def figures(folder: Path) -> dict[str, float]:
    return {estimate["measure"]: estimate["value"] for estimate in metrics_of(folder)["estimates"]["overall"]}


@pytest.mark.marked
def test_a_python_factory_gives_the_result_of_the_callable_store(workspace: Path) -> None:
    name = "python:my_memory:open_memory"
    assert (
        recallbench("run", "canary-locomo", "--store", name, "--out", workspace / "out", cwd=workspace).returncode == 0
    )
    (folder,) = (workspace / "out").iterdir()
    assert folder.name.startswith("python-my_memory-open_memory_")
    metrics = metrics_of(folder)
    assert (metrics["store"]["name"], metrics["store"]["version"]) == (name, "my_memory:open_memory (7.2)")
    assert (metrics["embedder"], metrics["guc_state"]) == (None, {"callable.function": "my_memory:open_memory"})
    audited = recallbench("audit", folder, cwd=workspace)
    assert ": holds, not committed\n" in audited.stdout
    assert "  fail " not in audited.stdout

    same = workspace / "same"
    call = ("--store", "callable", "--call", "my_memory:open_memory")
    assert recallbench("run", "canary-locomo", *call, "--folder", same, cwd=workspace).returncode == 0
    assert (same / "raw_retrievals.jsonl").read_bytes() == (folder / "raw_retrievals.jsonl").read_bytes()
    compared = recallbench("compare", folder, same, "--allow", "store", cwd=workspace)
    assert compared.returncode == 0
    assert f"{name} against callable" in compared.stdout


@pytest.mark.marked
def test_the_example_server_passes_its_audit(server: str, workspace: Path, request: pytest.FixtureRequest) -> None:
    with_login = server.replace("//", "//joe:s3cret@")
    by_words = request.node.callspec.id == "words"
    run = ("run", "canary-locomo", *(() if by_words else ("--embedder", "hash")))
    done = recallbench(*run, "--store", with_login, "--out", workspace / "out", cwd=workspace)
    assert done.returncode == 0
    (folder,) = (workspace / "out").iterdir()
    assert folder.name.startswith("http-127.0.0.1-")
    metrics = metrics_of(folder)
    assert metrics["store"]["name"] == server.rstrip("/")
    assert metrics["store"]["version"] == metrics["store"]["version_after"] == "http_memory/1"
    written = [path.read_text() for path in folder.iterdir()]
    assert not any("s3cret" in text or "joe" in text for text in (*written, done.stdout, done.stderr))
    audited = recallbench("audit", folder, cwd=workspace)
    assert ": holds, not committed\n" in audited.stdout
    assert "  fail " not in audited.stdout
    assert (metrics["guc_state"]["http.ranking"] == "cosine") is not by_words
    if not by_words:
        exact = workspace / "exact"
        assert recallbench(*run, "--store", "exact", "--folder", exact, cwd=workspace).returncode == 0
        assert figures(folder) == figures(exact)
        assert metrics["embedder"]["name"] == "hash"
    else:
        assert metrics["embedder"] is None

    for command in (("doctor", "canary-locomo", "--strict"), ("run", "canary-locomo", "--dry-run", "--strict")):
        ready = recallbench(*command, "--store", with_login, cwd=workspace)
        assert ready.returncode == 0
        assert "version http_memory/1" in ready.stdout
        assert "s3cret" not in ready.stdout + ready.stderr


def test_a_server_that_is_down_leaves_a_blocked_folder(workspace: Path) -> None:
    with scripted_server() as gone:
        address = gone.address.replace("//", "//joe:s3cret@")
    done = recallbench("run", "canary-locomo", "--store", address, "--out", workspace / "out", cwd=workspace)
    assert done.returncode == 3
    assert "start the server" in done.stderr
    (folder,) = (workspace / "out").iterdir()
    assert folder.name.endswith("_BLOCKED")
    page = (folder / "BLOCKED.md").read_text()
    assert "does not answer" in page
    assert not any("s3cret" in text for text in (page, folder.name, done.stderr, done.stdout))
    unready = recallbench("doctor", "canary-locomo", "--store", address, "--strict", cwd=workspace)
    assert unready.returncode == 3
    assert "does not answer" in unready.stdout


@pytest.mark.parametrize(
    ("name", "fault"),
    sampled(
        [
            ("none", "None"),
            ("too_many", "hits"),
            ("nan", "nan for the id 1"),
            ("distances", "the id 2 with 1 behind the id 1 with 0"),
            ("stranger", "the id 1000000000"),
            ("raising", "KeyError"),
            ("hanging", "within 0.3 s"),
        ]
    ),
)
def test_a_broken_answer_ends_the_run_and_names_the_question(workspace: Path, name: str, fault: str) -> None:
    done = recallbench(
        "run",
        "canary-locomo",
        "--store",
        f"python:my_memory:{name}",
        "--out",
        workspace / "out",
        cwd=workspace,
        env={"RECALLBENCH_STORE_TIMEOUT": "0.3"},
    )
    assert done.returncode == 2
    assert fault in done.stderr
    assert "`What did Nadia treat the family next door to?`" in done.stderr
    assert not (workspace / "out").exists()


def test_a_server_that_breaks_its_promise_leaves_nothing(workspace: Path) -> None:
    with scripted_server() as server:
        server.answer = lambda path, body: {
            "hits": [{"id": 1, "score": 0}, {"id": 2, "score": 1}],
            "needs_vectors": False,
        }
        done = recallbench("run", "canary-locomo", "--store", server.address, "--out", workspace / "out", cwd=workspace)
        assert done.returncode == 2
        assert "highest score first" in done.stderr
        assert server.requested("/forget")
    assert not (workspace / "out").exists()


@pytest.mark.parametrize(
    ("name", "found"),
    [("search", "search(query, k), which searches"), ("given", "given(items), which does not take both")],
)
def test_a_function_that_opens_no_memory_is_told_the_shape(workspace: Path, name: str, found: str) -> None:
    done = recallbench("run", "canary-locomo", "--store", f"python:my_memory:{name}", "-q", cwd=workspace)
    assert done.returncode == 2
    assert f"`my_memory:{name}` opens no memory" in done.stderr
    assert "is given what to remember, (items, vectors), and returns the search (query, k)" in done.stderr
    assert found in done.stderr
    assert "def open_memory(items, vectors):  # each item has an id and a text\n" in done.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python:my_memory", "module:name"),
        ("python:absent:f", "can't be imported"),
        ("http://", "http://127.0.0.1:8900/"),
        ("ftp://joe:s3cret@host/", "python:my_module:Memory"),
    ],
)
def test_an_address_that_leads_nowhere(workspace: Path, name: str, expected: str) -> None:
    done = recallbench("run", "canary-locomo", "--store", name, cwd=workspace)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "s3cret" not in done.stderr


def test_the_stores_are_listed(workspace: Path) -> None:
    listed = recallbench("stores", cwd=workspace).stdout
    assert all(name in listed for name in ("graph ", "python: ", "http: ", "https: "))
    assert "https:    a memory behind a JSON contract: https://host:port/\n" in listed
    assert max(map(len, listed.splitlines())) <= 110
    assert "What can be set of one with --set, such as pgvector: recallbench stores pgvector\n" in listed


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pgvector", "  m=…\n      Links of a node in the graph of hnsw, 2 to 100 [default: 16]\n"),
        ("graph", "  ranker=neighbours|importance, or --graph-ranker\n"),
        ("bm25", "Nothing can be set of it with --set.\n"),
        ("https", "https:  a memory behind a JSON contract: https://host:port/\n"),
        ("http", '    POST /search   {"scope": "…", "query": "…", "k": 10, '),
        ("python:mine:Memory", "Of a class or function of your own, NAME=VALUE is a parameter of its constructor"),
    ],
)
def test_one_store_has_its_settings(workspace: Path, name: str, told: str) -> None:
    done = recallbench("stores", name, cwd=workspace)
    assert done.returncode == 0
    assert told in done.stdout


def test_a_store_that_there_is_not_is_refused(workspace: Path) -> None:
    done = recallbench("stores", "bm52", cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no store `bm52`" in done.stderr


def test_turns_count_through_their_session(tmp_path: Path) -> None:
    sessions = {
        "ferry": "Ann: The ferry is late.\nBen: Is it? It left at nine.\nAnn: Then it is here at ten.",
        "rain": "Ann: It rains.\nBen: The umbrella is in the hall, where the shoes and the coats and the hats are.",
        "bread": "Ben: I bake bread.\nAnn: It is good.",
    }
    (tmp_path / "set").mkdir()
    rows = [{"_id": id, "text": text} for id, text in sessions.items()]
    (tmp_path / "set" / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    gold = {"query": "Where is the umbrella?", "relevant": ["rain"], "query_id": "q1"}
    (tmp_path / "set" / "gold.jsonl").write_text(f"{json.dumps(gold)}\n")
    env = {"PYTHONPATH": str(ROOT)}
    store = "python:examples.turn_memory:Turns"
    done = recallbench("evaluate", "set", "--store", store, "-q", "--folder", "turn", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    (row,) = (tmp_path / "turn" / "raw_retrievals.jsonl").read_text().splitlines()
    found = json.loads(row)["hits"]
    # Seven turns, three sessions: each counts once, at its first turn.
    assert [hit["id"] for hit in found] == ["all/1", "all/0", "all/2"]
    metrics = json.loads((tmp_path / "turn" / "metrics.json").read_text())
    told = metrics["store"]["evidence"]["derived"]
    assert told.startswith("each counts through its source, at its first place; at most ")
    assert told in (tmp_path / "turn" / "report.md").read_text()
    audited = recallbench("audit", "turn", "--corpus-file", "set", "--failures", cwd=tmp_path, env=env)
    assert ": holds, not committed\n" in audited.stdout
