"""`recallbench grow`: recall and p95 against the size of the haystacks."""

import json
from pathlib import Path

from commandline import recallbench
from labelled_sets import beir, jsonl


def test_a_corpus_grows_by_its_other_haystacks(tmp_path: Path) -> None:
    words = ("grow", "canary-locomo", "--store", "bm25", "--factors", "1,2", "--limit", "30")
    done = recallbench(*words, "--format", "json", "--plot", "plot.svg", cwd=tmp_path)
    assert done.returncode == 0
    told = json.loads(done.stdout)
    first, second = told["sizes"]
    assert (first["factor"], second["factor"]) == (1, 2)
    assert second["stored"] == 2 * first["stored"]
    assert [one["measure"] for one in first["estimates"]] == ["recall_any@10", "recall_frac@10", "mrr@50"]
    assert second["estimates"][0]["chance"] < first["estimates"][0]["chance"]
    assert first["p95_ms"] >= first["p50_ms"] > 0
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    run = recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "30", "--folder", "r", cwd=tmp_path)
    assert run.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["headline"][0]["estimate"]["value"] == first["estimates"][0]["value"]


def test_a_labelled_set_grows_by_a_file(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": f"Something else, number {i}."} for i in range(30)])
    words = ("grow", "team", "--store", "bm25", "--distractors", "more.jsonl", "--format", "markdown")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split("|")[1].strip() for line in done.stdout.splitlines()[2:6]] == ["1x", "2x", "5x", "10x"]
    assert "distractors: more.jsonl, seed 42" in done.stdout


def test_what_can_not_grow_is_told(tmp_path: Path) -> None:
    beir(tmp_path / "team", [{"_id": "a", "text": "b"}], [{"_id": "q", "text": "b?"}], test="q\ta\t1\n")
    done = recallbench("grow", "team", "--store", "bm25", cwd=tmp_path)
    assert done.returncode == 2
    assert "--distractors" in done.stderr
    few = recallbench("grow", "canary-locomo", "--store", "bm25", "--factors", "1,500", "--limit", "5", cwd=tmp_path)
    assert "500x left out: there are documents for" in few.stderr
    for factors in ("0", "two", "1,,2", "-1"):
        assert recallbench("grow", "team", f"--factors={factors}", cwd=tmp_path).returncode == 2
