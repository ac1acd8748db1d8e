"""A pipeline through the real command line: run, audit, compare, gate, grow, and from Python."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recallbench as api
from chat_server import chat_server
from commandline import recallbench
from recallbench.results.manifest import build

HYBRID = """
[[stage]]
kind = "search"
method = "dense"

[[stage]]
kind = "search"
method = "lexical"

[[stage]]
kind = "fuse"
method = "rrf"
k = 20

[[stage]]
kind = "diversify"
method = "mmr"
lambda = 0.7
"""
AFTER_THE_CUT = HYBRID.replace("k = 20", "k = 20\nkeep = 10")
ALONE = '[[stage]]\nkind = "search"\nmethod = "lexical"\ndepth = 50\n'
ASKED = ("run", "canary-locomo", "--limit", "30", "-q")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pipelines")
    for name, text in (("hybrid", HYBRID), ("cut", AFTER_THE_CUT), ("alone", ALONE)):
        (place / f"{name}.toml").write_text(text)
    for words in (
        ("--embedder", "hash", "--pipeline", "hybrid.toml", "--folder", "hybrid"),
        ("--pipeline", "alone.toml", "--folder", "alone"),
        ("--store", "bm25", "--folder", "plain"),
    ):
        assert recallbench(*ASKED, *words, cwd=place).returncode == 0
    return place


def read(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return document


def test_a_pipeline_is_recorded_whole(results: Path) -> None:
    stated = read(results / "hybrid")
    assert stated["pipeline"]["words"] == "dense + lexical > rrf(k=20) > mmr(lambda=0.7)"
    assert stated["store"]["name"] == "exact"
    dense, lexical, rrf, mmr = stated["pipeline"]["stages"]
    assert (dense["store"], dense["options"], lexical["store"]) == ("exact", {"depth": "50"}, "bm25")
    assert lexical["settings"]["bm25.k1"] == "1.2"
    assert (rrf["kind"], rrf["options"]) == ("fuse", {"k": "20"})
    assert mmr["options"] == {"lambda": "0.7", "relevance": "score"}
    (deviation,) = [each for each in stated["deviations"] if each["kind"] == "pipeline"]
    digest = stated["pipeline"]["sha256"][:12]
    assert deviation["detail"] == f"{stated['pipeline']['words']} (sha256 {digest}) instead of search alone"
    rows = [json.loads(line) for line in (results / "hybrid/timings.jsonl").read_text().splitlines()]
    timed = [row for row in rows if "question_id" in row]
    assert len(timed) == 30
    assert all(list(row["stages"]) == ["dense", "lexical", "rrf", "mmr"] for row in timed)
    assert all(sum(row["stages"].values()) <= row["ms"] + 0.01 for row in timed)


def test_a_search_alone_gives_the_same_bytes_as_a_run_without_a_pipeline(results: Path) -> None:
    contents = [json.loads((results / name / "manifest.json").read_text()) for name in ("alone", "plain")]
    assert contents[0]["content_sha256"] == contents[1]["content_sha256"]
    assert "pipeline" not in read(results / "alone")
    assert recallbench("audit", "alone", cwd=results).stdout.count("  fail ") == 0


def _other_k(stated: dict[str, Any]) -> None:
    stated["pipeline"]["stages"][2]["options"]["k"] = "60"


def _other_words(stated: dict[str, Any]) -> None:
    stated["pipeline"]["words"] = "dense + lexical > cross-encoder"


def _no_pipeline(stated: dict[str, Any]) -> None:
    del stated["pipeline"]
    stated["deviations"] = [each for each in stated["deviations"] if each["kind"] != "pipeline"]


def _unknown_stage(stated: dict[str, Any]) -> None:
    stated["pipeline"]["stages"][3]["method"] = "mrm"


def _other_leg(stated: dict[str, Any]) -> None:
    stated["pipeline"]["stages"][1]["version"] = "recallbench-bm25/1 (bm25s 0.0.1)"


@pytest.mark.parametrize(
    ("forge", "code", "shown"),
    [
        (_other_k, "RB-PIPELINE", "a sha256 that is not the stages'"),
        (_other_words, "RB-PIPELINE", "words dense + lexical > cross-encoder, the stages say dense + lexical > rrf"),
        (_no_pipeline, "RB-OPTIONS", "pipeline: hybrid.toml asked for, none stated"),
        (_unknown_stage, "RB-PIPELINE", "there is no stage `diversify` with method `mrm`"),
        (_other_leg, "RB-RECORDED", "0.0.1"),
    ],
)
def test_an_audit_knows_each_stage(
    results: Path, tmp_path: Path, forge: Callable[[dict[str, Any]], None], code: str, shown: str
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(results / "hybrid", forged)
    stated = read(forged)
    forge(stated)
    (forged / "metrics.json").write_text(json.dumps(stated, indent=1, ensure_ascii=False) + "\n")
    (forged / "manifest.json").write_text(build(forged))
    failed = [line for line in recallbench("audit", forged, cwd=tmp_path).stdout.splitlines() if "  fail " in line]
    assert any(code in line and shown in line for line in failed), failed


def test_what_can_not_help_is_told_before(results: Path) -> None:
    words = [word for word in ASKED if word != "-q"]
    done = recallbench(*words, "--embedder", "hash", "--pipeline", "cut.toml", "--folder", "cut", cwd=results)
    assert "mmr can't change which segments are in the top 10" in done.stderr
    assert "so it runs after the cut" in done.stderr
    assert recallbench("audit", "cut", cwd=results).stdout.count("  fail ") == 0


def test_compare_and_gate_hold_a_result_to_its_pipeline(results: Path) -> None:
    pair = ("compare", "plain", "hybrid")
    assert "they differ in pipeline: search alone against " in recallbench(*pair, cwd=results).stdout
    done = recallbench(*pair, "--pipeline", "hybrid.toml", cwd=results)
    assert "exact: dense + lexical > rrf(k=20) > mmr(lambda=0.7)" in done.stdout
    other = recallbench(*pair, "--pipeline", "cut.toml", cwd=results)
    assert other.returncode == 2
    assert "hybrid was not made by cut.toml" in other.stderr
    (results / "dense.toml").write_text('[[stage]]\nkind = "search"\nmethod = "dense"\n')
    for alone, found in (("alone.toml", 0), ("dense.toml", 2)):
        done = recallbench("compare", "alone", "plain", "--pipeline", alone, cwd=results)
        assert (done.returncode, "expected: search alone, of exact" in done.stderr) == (found, found == 2)

    (results / "recallbench.toml").write_text(
        '[result.night]\nfolder = "hybrid"\npipeline = "hybrid.toml"\nat_least = {"recall_any@10" = 0.1}\n'
    )
    assert recallbench("gate", cwd=results).returncode == 0
    other = recallbench("gate", "--pipeline", "cut.toml", cwd=results)
    assert other.returncode == 2
    assert "was not made by cut.toml" in other.stderr


def test_grow_and_evaluate_take_a_pipeline(results: Path) -> None:
    asked = ("canary-locomo", "--limit", "10", "--embedder", "hash", "--pipeline", "hybrid.toml", "-q")
    grown = recallbench("grow", *asked, "--factors", "1,2", cwd=results)
    assert grown.returncode == 0
    assert "exact: dense + lexical > rrf(k=20) > mmr(lambda=0.7)" in grown.stdout
    assert "--pipeline" in recallbench("evaluate", "--help", cwd=results).stdout
    unused = recallbench("run", "canary-locomo", "--store", "bm25", "--pipeline", "hybrid.toml", cwd=results)
    assert unused.returncode == 2
    assert "hybrid.toml does not search the store under test" in unused.stderr


def test_a_pipeline_in_python(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    pipeline = api.Pipeline.read(results / "hybrid.toml")
    assert [spec.name for spec in pipeline] == ["dense", "lexical", "rrf", "mmr"]
    stages = [{"kind": "search", "method": "lexical", "depth": 20}]
    folder = results / "python"
    api.run("canary-locomo", pipeline=stages, limit=5, quiet=True, folder=folder)
    assert read(folder)["pipeline"]["words"] == "lexical(depth=20)"
    assert read(folder)["store"]["name"] == "bm25"


@pytest.mark.marked
def test_legs_search_any_store(results: Path) -> None:
    (results / "words.py").write_text(
        "class Words:\n"
        "    def __init__(self):\n        self.texts = {}\n"
        "    def add(self, id, text):\n        self.texts[id] = set(text.lower().split())\n"
        "    def search(self, query, k):\n"
        "        asked = set(query.lower().split())\n"
        "        scored = [(id, len(asked & words)) for id, words in self.texts.items()]\n"
        "        return sorted(scored, key=lambda hit: -hit[1])[:k]\n"
    )
    (results / "any.toml").write_text(
        '[[stage]]\nkind = "search"\nset = {weights = "cosine=1,bm25=0.5"}\n'
        '[[stage]]\nkind = "search"\nmethod = "python:words:Words"\nname = "words"\n'
        '[[stage]]\nkind = "fuse"\nmethod = "weighted"\nnormalise = "z"\nalpha = 0.6\n'
    )
    asked = ("--embedder", "hash", "--store", "pgvector", "--pipeline", "any.toml", "--folder", "any", "--verdict")
    done = recallbench(*ASKED, *asked, cwd=results)
    assert "deviation: settings: weights cosine=1,bm25=0.5 instead of the defaults" in done.stdout
    store, words, _ = read(results / "any")["pipeline"]["stages"]
    assert (store["store"], words["store"]) == ("pgvector", "python:words:Words")
    assert store["version"].startswith("recallbench-pgvector/1 (PostgreSQL ")
    assert recallbench("audit", "any", cwd=results).stdout.count("  fail ") == 0


def test_a_question_that_an_endpoint_fails_on_counts_as_the_worst_and_is_named(tmp_path: Path) -> None:
    with chat_server() as server:
        (tmp_path / "hyde.toml").write_text(
            f'[[stage]]\nkind = "rewrite"\nmethod = "hyde"\nendpoint = "{server.address}"\nseconds = 0.2\n'
            '[[stage]]\nkind = "search"\nmethod = "dense"\n'
        )
        asked = ("run", "canary-locomo", "--limit", "8", "--embedder", "hash", "--pipeline", "hyde.toml", "-q")

        def says(question: str) -> Any:
            busy = any(word in question for word in ("cycling", "baked things", "gift card", "On what date"))
            return (503, {"error": "busy"}, {}) if busy else "Nadia ate bread."

        server.says = says
        done = recallbench(*asked, "--folder", "failed", cwd=tmp_path)
        server.says = lambda question: "Nadia ate bread."
        assert recallbench(*asked, "--folder", "whole", cwd=tmp_path).returncode == 0
        before = len(server.requests)
        assert recallbench(*asked, "--folder", "again", cwd=tmp_path).returncode == 0
        assert len(server.requests) == before
    failed = read(tmp_path / "failed")["retrieval"]["failed"]
    assert (done.returncode, len(failed)) == (1, 4)
    assert f"recallbench: question {failed[0]} failed: " in done.stderr
    assert "the pipeline failed on 4 questions: counted as the worst answer" in done.stdout
    for name in ("failed", "again"):
        assert recallbench("audit", name, cwd=tmp_path).stdout.count("  fail ") == 0
    contents = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("whole", "again")]
    assert contents[0]["content_sha256"] == contents[1]["content_sha256"]
