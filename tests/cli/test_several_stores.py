"""One command measures several stores, a result each."""

from __future__ import annotations

import json
from pathlib import Path

from commandline import recallbench

MEMORY = """
class Memory:
    def __init__(self):
        self.texts = {}

    def add(self, id, text):
        self.texts[id] = text

    def search(self, query, k):
        raise RuntimeError("out of order")
"""


def test_each_store_has_its_result_and_its_own_encoder(tmp_path: Path) -> None:
    words = ("run", "canary-locomo", "--store", "bm25", "--store", "exact", "--embedder", "hash", "--out", "results")
    done = recallbench(*words, "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    stored = {}
    for result in (tmp_path / "results").iterdir():
        metrics = json.loads((result / "metrics.json").read_text())
        stored[metrics["store"]["name"]] = metrics["embedder"] and metrics["embedder"]["name"]
        audited = recallbench("audit", result, cwd=tmp_path)
        assert ": holds, not committed\n" in audited.stdout
    assert stored == {"bm25": None, "exact": "hash"}
    said, _, command = done.stdout.splitlines()[-1].partition("; next: recallbench ")
    assert said == (
        "Nobody is first: bm25 and exact can't be told apart by recall_any@10; the highest has 0.8354 "
        "(0.7598 to 0.8877), 158 questions"
    )
    first, second = sorted(f"results/{result.name}" for result in (tmp_path / "results").iterdir())
    assert command == f"table {first} {second}"
    table = recallbench("table", first, second, cwd=tmp_path).stdout.splitlines()[-1]
    assert table.replace(first, "bm25").replace(second, "exact") == f"{said}; next: ask more questions"
    assert "side by side" not in done.stdout


def test_equal_stores_have_no_winner(tmp_path: Path) -> None:
    working = MEMORY.replace('raise RuntimeError("out of order")', "return sorted(self.texts)[:k]")
    (tmp_path / "mine.py").write_text(working.replace("class Memory", "class A") + "\n\nclass B(A):\n    pass\n")
    words = ("run", "canary-locomo", "--store", "python:mine:A", "--store", "python:mine:B", "--out", "results", "-q")
    done = recallbench(*words, cwd=tmp_path)
    last = done.stdout.splitlines()[-1]
    assert last.startswith(
        "Nobody is first: python:mine:A and python:mine:B can't be told apart by recall_any@10; both have "
    )
    assert "nothing in the run speaks against it" not in last
    assert "; next: recallbench table results/" in last


def test_a_store_that_fails_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MEMORY)
    words = ("run", "canary-locomo", "--store", "python:mine:Memory", "--store", "bm25", "--out", "results", "--quiet")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "recallbench: python:mine:Memory: " in done.stderr
    assert "out of order" in done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("bm25 finds a right session among the first 10 for 83.5% of 158 questions (recall_any@10 ")
    assert "; 1 of 2 runs failed; next: open results/bm25_" in last
    assert [result.name.partition("_")[0] for result in (tmp_path / "results").iterdir()] == ["bm25"]


def test_an_option_that_one_of_them_lacks_is_refused_before_any_is_measured(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MEMORY)
    words = ("run", "canary-locomo", "--store", "python:mine:Memory", "--store", "bm25", "--set", "k1=2")
    done = recallbench(*words, "--out", "results", cwd=tmp_path)
    assert done.returncode == 2
    assert "the store `bm25` has no use for --set k1" in done.stderr
    assert "measure that store by itself" in done.stderr
    alone = recallbench("run", "canary-locomo", "--store", "bm25", "--set", "k1=2", cwd=tmp_path)
    assert alone.stderr == (
        "recallbench: the store `bm25` has no use for --set k1\n  expected: no --set, since bm25 has nothing to set\n"
        "  what to do: leave out --set k1\n"
    )
    assert not (tmp_path / "results").exists()


def test_one_folder_is_for_one_store(tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--store", "exact", "--folder", "r", cwd=tmp_path)
    assert (done.returncode, "--folder names one result" in done.stderr) == (2, True)


def test_a_command_for_one_store_does_not_pick_one_of_several(tmp_path: Path) -> None:
    done = recallbench("repeat", "2", "canary-locomo", "--store", "bm25", "--store", "exact", cwd=tmp_path)
    assert (done.returncode, "found: bm25, exact" in done.stderr) == (2, True)
