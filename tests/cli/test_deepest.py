"""No command and no function accepts a k or a depth above 10,000."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recallbench as api
from commandline import recallbench
from recallbench import Case, RecallBenchError

GOLD = {"query": "where does acme ship from", "relevant": ["d1"], "ranked": ["d1", "d3"]}
HUGE = 10**9
CASES = [Case("where does acme ship from", ["d1"])]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    (tmp_path / "log.jsonl").write_text(json.dumps({"query": "a", "ids": ["d1"]}) + "\n")
    (tmp_path / "labels.jsonl").write_text(json.dumps({"query": "a", "relevant": ["d1"]}) + "\n")
    (tmp_path / "a.trec").write_text("q1 Q0 d1 1 1.0 a\n")
    (tmp_path / "qrels.trec").write_text("q1 0 d1 1\n")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "Acme ships from Portland."}\n')
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        f"evaluate --gold gold.jsonl --k {HUGE}",
        "evaluate --gold gold.jsonl --k 10001",
        f"evaluate --gold gold.jsonl --ks 1,{HUGE}",
        f"evaluate --gold gold.jsonl --ks 1,{'9' * 5000}",
        f"evaluate . --store bm25 --k {HUGE}",
        f"evaluate . --store bm25 --depth {HUGE}",
        f"run canary-locomo --store bm25 --depth {HUGE}",
        f"grow . --store bm25 --distractors corpus.jsonl --depth {HUGE}",
        f"sample log.jsonl --labels labels.jsonl --k {HUGE}",
        f"label . --query a --k {HUGE}",
        f"compare a.trec a.trec --qrels qrels.trec --measures recall_any@{HUGE}",
        f"drift . --measure recall_any@{HUGE}",
    ],
)
def test_beyond_10000_is_a_usage_error(files: Path, words: str) -> None:
    done = recallbench(*words.split(), cwd=files)
    assert done.returncode == 2
    assert "10,000" in done.stderr or "10000" in done.stderr


@pytest.mark.parametrize(
    "call",
    [
        lambda: api.evaluate(CASES, lambda query, k: ["d1"], k=HUGE),
        lambda: api.precision(["d1"], ["d1"], HUGE),
        lambda: api.recall(["d1"], ["d1"], HUGE),
        lambda: api.ndcg(["d1"], ["d1"], HUGE),
        lambda: api.mrr(["d1"], ["d1"], HUGE),
        lambda: report().value(f"recall_any@{HUGE}"),
        lambda: report().estimate(f"recall_any@{HUGE}"),
        lambda: report().check({f"recall_any@{HUGE}": 0.5}),
        lambda: report().tradeoff((1, HUGE)),
        lambda: api.evaluate(CASES, lambda query, k: ["d1"], k=10**5000),
        lambda: api.evaluate(CASES, lambda query, k: ["d1"], candidates=10**5000),
    ],
)
def test_the_python_api_refuses_it_too(call: Callable[[], Any]) -> None:
    with pytest.raises(RecallBenchError, match=r"hits are asked for|needs a depth|no depth|could come back") as caught:
        call()
    assert caught.value.exit_code == 2


def report() -> api.Report:
    return api.evaluate(CASES, lambda query, k: ["d1"], k=1)


def test_10000_is_fine_where_less_comes_back(files: Path) -> None:
    done = recallbench("evaluate", "--gold", "gold.jsonl", "--k", "10000", "--format", "json", cwd=files)
    assert done.returncode == 0
    mean = json.loads(done.stdout)["mean"]
    assert mean["recall_frac@10000"] == 1.0
    assert mean["precision@10000"] == 0.0001


def test_a_whole_ranking_may_be_longer() -> None:
    assert api.mrr([*range(20_000), "d1"], ["d1"]) == 1 / 20_001
