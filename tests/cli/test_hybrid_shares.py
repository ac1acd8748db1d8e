"""What each step of hybrid matching decided, where such results are compared and gated."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from commandline import recallbench
from golden.formats import INPUTS, RESULTS

DECIDED = (
    "--match hybrid: the first hit that counts was decided by id for 0.0% of the questions (0), by exact for 66.7% of "
    "the questions (2), by tokens for 33.3% of the questions (1)"
)
SHARES = [
    {"step": "id", "gold": 0, "found_10": 0, "share": 0.0},
    {"step": "exact", "gold": 2, "found_10": 2, "share": 0.6666666667},
    {"step": "tokens", "gold": 2, "found_10": 1, "share": 0.3333333333},
]


def test_they_are_told_of_both_results_and_of_a_gated_one(tmp_path: Path) -> None:
    for name in ("answers_hybrid", "answers_tokens"):
        shutil.copytree(RESULTS / name, tmp_path / name)
    compared = recallbench("compare", "answers_hybrid", "answers_hybrid", cwd=tmp_path).stdout
    assert f"\nA: {DECIDED}\nB: {DECIDED}\n" in compared
    stated = json.loads((tmp_path / "answers_hybrid/metrics.json").read_text())["matching"]["shares"]
    document = json.loads(recallbench("compare", "answers_hybrid", "answers_hybrid", "--json", cwd=tmp_path).stdout)
    assert document["first"]["shares"] == document["second"]["shares"] == stated
    (tmp_path / "recallbench.toml").write_text(
        '[result.answers]\nfolder = "answers_hybrid"\nat_least = {"recall_any@10" = 0.5}\n'
    )
    assert f"\nanswers: {DECIDED}\n" in recallbench("gate", cwd=tmp_path).stdout
    assert f"- answers: {DECIDED}\n" in recallbench("gate", "--format", "markdown", cwd=tmp_path).stdout
    gated = json.loads(recallbench("gate", "--json", cwd=tmp_path).stdout)
    assert gated["results"][0]["shares"] == stated == SHARES


def test_texts_of_a_matched_set_are_found_without_matching_it_again(tmp_path: Path) -> None:
    shutil.copytree(INPUTS / "answers", tmp_path / "answers")
    for name, order in (("ahead", "[:]"), ("behind", "[::-1]")):
        (tmp_path / f"{name}_memory.py").write_text(
            "def open_memory(items, vectors):\n"
            f"    return lambda query, k: [(item.id, -float(i)) for i, item in enumerate(items{order})][:k]\n"
            "open_memory.needs_vectors = False\n"
        )
        words = ("--store", "callable", "--call", f"{name}_memory:open_memory", "--match", "hybrid", "--folder", name)
        assert recallbench("evaluate", "answers", *words, "-q", cwd=tmp_path).returncode == 0
    printed = recallbench("compare", "ahead", "behind", cwd=tmp_path).stdout
    assert "\n  question: What is the capital of France?\n" in printed


def test_other_matching_has_no_steps(tmp_path: Path) -> None:
    shutil.copytree(RESULTS / "answers_tokens", tmp_path / "answers")
    assert "--match hybrid" not in recallbench("compare", "answers", "answers", cwd=tmp_path).stdout
