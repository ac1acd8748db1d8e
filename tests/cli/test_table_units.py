"""`recallbench table`: one system over sessions and over turns of the same questions, side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.realtalk import write_miniature


def test_units_of_the_same_questions_stand_side_by_side(tmp_path: Path) -> None:
    write_miniature(tmp_path / "chats")
    for corpus in ("realtalk", "realtalk-turns"):
        words = ("run", corpus, "--corpus-file", "chats", "--store", "bm25", "--allow-deviation", "dataset", "-q")
        assert recallbench(*words, "--folder", corpus, cwd=tmp_path).returncode == 0
    words = ("table", "realtalk", "realtalk-turns", "--measures", "recall_any@1,mrr@10")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    columns = next(line for line in lines if line.startswith("system encoder"))
    assert columns == (
        "system encoder recall_any@1 by session 95% interval recall_any@1 by turn 95% interval"
        " mrr@10 by session mrr@10 by turn"
    )
    assert "Units of realtalk: the 12 questions with gold in each." in done.stdout
    assert "on average: 6.0 by session and 12.0 by turn." in done.stdout
    assert "No test is made between units" in done.stdout
    shown = json.loads(recallbench(*words, "--format", "json", cwd=tmp_path).stdout)
    (units,) = shown["units"]
    assert [(unit["unit"], unit["corpus"], unit["per_haystack"]) for unit in units["units"]] == [
        ("session", "realtalk", 6.0),
        ("turn", "realtalk-turns", 12.0),
    ]
    (row,) = units["rows"]
    assert (row["system"], row["name"]) == ("bm25", "realtalk, realtalk-turns")
    # Chance: one of 6 sessions, one of 12 turns. The other control is the store itself.
    assert [by[0] for by in units["controls"]["chance"]] == pytest.approx([1 / 6, 1 / 12])
    assert units["controls"]["BM25"] == [[part["value"] for part in by] for by in row["estimates"]]
    assert [part["reason"].split(":")[0] for part in shown["apart"]] == ["dataset"]
