"""`recallbench table`: one system over sessions and over turns of the same questions, side by side."""

from __future__ import annotations

import csv
import json
import shutil
from io import StringIO
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.realtalk import write_miniature
from recallbench.results.manifest import build


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
    sheet = list(csv.DictReader(StringIO(recallbench(*words, "--format", "csv", cwd=tmp_path).stdout)))
    assert [(line["name"], line["unit"], line["questions"], line["store"]) for line in sheet] == [
        ("realtalk", "", "", "bm25"),
        ("ceiling", "", "", ""),
        ("BM25", "", "", ""),
        ("chance", "", "", ""),
        ("realtalk, realtalk-turns", "session", "12", "bm25"),
        ("BM25", "session", "12", ""),
        ("chance", "session", "12", ""),
        ("realtalk, realtalk-turns", "turn", "12", "bm25"),
        ("BM25", "turn", "12", ""),
        ("chance", "turn", "12", ""),
    ]
    by_unit = {(line["name"], line["unit"]): line for line in sheet}
    session, turn = (by_unit["realtalk, realtalk-turns", unit] for unit in ("session", "turn"))
    estimates = [estimate for by in row["estimates"] for estimate in by]
    assert [float(line[measure]) for line in (session, turn) for measure in ("recall_any@1", "mrr@10")] == (
        pytest.approx([estimate["value"] for estimate in estimates], abs=1e-9)
    )
    assert turn["encoder"] == "no embedder"
    assert float(by_unit["chance", "turn"]["recall_any@1"]) == pytest.approx(1 / 12)


def test_the_static_control_stands_beside_where_it_was_measured_over_each_unit(tmp_path: Path) -> None:
    write_miniature(tmp_path / "chats")
    shown = []
    for corpus in ("realtalk", "realtalk-turns"):
        words = ("run", corpus, "--corpus-file", "chats", "--store", "bm25", "--allow-deviation", "dataset", "-q")
        assert recallbench(*words, "--folder", corpus, cwd=tmp_path).returncode == 0
    for corpus in ("realtalk", "realtalk-turns"):
        # Its weights are not needed to read what it ranked: here it ranked as BM25 did.
        shutil.copy(tmp_path / corpus / "run.bm25.trec", tmp_path / corpus / "run.static.trec")
        (tmp_path / corpus / "manifest.json").write_text(build(tmp_path / corpus))
        done = recallbench("table", "realtalk", "realtalk-turns", "--format", "json", cwd=tmp_path)
        shown.append(json.loads(done.stdout)["units"][0]["controls"])
    assert [list(controls) for controls in shown] == [["BM25", "chance"], ["BM25", "static", "chance"]]
    assert shown[1]["static"] == shown[1]["BM25"]
