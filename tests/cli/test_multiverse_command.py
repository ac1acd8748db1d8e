"""`recallbench multiverse`: the table, its range, and the place of published numbers, through the real command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench

ROWS = [
    {"qi": 0, "conv_id": "c", "category": 4, "evidence": ["D1", "D2"], "retrieved_top10": ["D3", "D1"]},
    {"qi": 1, "conv_id": "c", "category": 5, "evidence": ["D5"], "retrieved_top10": ["D5", "D6"]},
]
"""any@10 1, frac@10 .75, all@10 .5, mrr .75; without the adversarial one 1, .5, 0, .5."""


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "metrics.json").write_text("{}")
    (folder / "raw_retrievals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return folder


def multiverse(folder: Path, *more: str) -> dict[str, Any]:
    done = recallbench("multiverse", folder, "--json", *more, cwd=folder.parent)
    assert done.returncode == 0
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_table_on_a_terminal(published: Path) -> None:
    done = recallbench("multiverse", published, "--published", "0.75", "--published", "0.61", cwd=published.parent)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].endswith("published: pgmnemo, 2 questions, 10 ids kept of each ranking")
    assert lines[1] == "scope: ids are bare: whether they belong to their question's own scope can't be told"
    assert lines[2].startswith("gold: as the rows state it (")
    assert "a-b: the least and the most that what was kept allows" not in lines, "both rankings ended by themselves"
    start = lines.index("bare ids, over all rows with gold (2)")
    assert lines[start + 1].split() == ["@1", "@3", "@5", "@10", "@20", "@25", "@30", "@50"]
    assert lines[start + 3].split()[:5] == ["recall_frac", "0.5000", "0.7500", "0.7500", "0.7500"]
    assert "bare ids, over without adversarial (1)" in lines
    range_at = lines.index("range over all universes, bounds included")
    assert lines[range_at + 5].split() == ["recall@10", "0.0000", "1.0000", "1.0000"]
    assert "  equals recall_frac@10, bare ids, over all rows with gold (2): 0.75000" in lines
    assert any(line.startswith("0.61: no universe gives it; ") for line in lines)
    assert lines[-1].startswith("0.75 is what recall_frac@3, bare ids, over all rows with gold (2) gives, and ")
    assert lines[-1].endswith(
        "; 0.61 is what no universe gives; one set of rankings gives recall@3 from 0.0000 to 1.0000"
    )


def test_json_has_cells_ranges_and_published_numbers(published: Path) -> None:
    document = multiverse(published, "--published", ".75")
    cells = {(cell["definition"], cell["denominator"]): cell["low"] for cell in document["cells"]}
    assert cells["recall_any@10", "all rows with gold"] == 1.0
    assert cells["recall_frac@10", "without adversarial"] == 0.5
    (entry,) = document["published"]
    assert "mrr@10, bare ids, over all rows with gold (2)" in entry["equals"]
    by_name = {(entry["family"], entry["k"]): entry for entry in document["ranges"]}
    assert by_name["mrr", 10] == {"family": "mrr", "k": 10, "smallest": 0.5, "largest": 0.75, "spread": 0.25}


def test_csv_has_a_row_per_cell(published: Path) -> None:
    done = recallbench("multiverse", published, "--csv", cwd=published.parent)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    (cell,) = (
        row for row in rows if row["definition"] == "recall_all@10" and row["denominator"] == "all rows with gold"
    )
    assert (cell["scope"], cell["n"], float(cell["low"]), float(cell["high"])) == ("bare ids", "2", 0.5, 0.5)


def test_a_folder_of_this_tool(tmp_path: Path) -> None:
    assert recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", cwd=tmp_path).returncode == 0
    stated = {
        estimate["measure"]: estimate["value"]
        for estimate in json.loads((tmp_path / "r/metrics.json").read_text())["estimates"]["overall"]
    }
    document = multiverse(tmp_path / "r")
    assert (document["layout"], document["scoping"]) == ("recallbench", "named")
    own = {
        cell["definition"]: cell["low"]
        for cell in document["cells"]
        if (cell["scope"], cell["denominator"]) == ("own scope", "all rows with gold")
    }
    for measure in ("recall_any@10", "recall_frac@5", "recall_all@10", "ndcg@10", "mrr@50", "precision@10"):
        assert own[measure] == pytest.approx(stated[measure], abs=1e-9), measure
    protocol = {cell["definition"] for cell in document["cells"] if cell["protocol"]}
    assert {"recall_any@10", "mrr@50"} <= protocol
    assert "recall_frac@10" not in protocol


def test_a_pooled_run_gains_by_bare_names(tmp_path: Path) -> None:
    """With the corpus the ids of a pooled run name their conversation; by bare session name others count as hits."""
    assert (
        recallbench(
            "run", "canary-locomo", "--store", "bm25", "--scope", "pooled", "--folder", "r", cwd=tmp_path
        ).returncode
        == 0
    )
    document = multiverse(tmp_path / "r")
    cells = {
        cell["scope"]: cell["low"]
        for cell in document["cells"]
        if (cell["definition"], cell["denominator"]) == ("recall_any@10", "all rows with gold")
    }
    assert document["rankings_with_other_haystacks"] > 100
    assert list(cells) == ["own scope", "own scope, others removed", "bare ids"]
    assert cells["own scope"] <= cells["own scope, others removed"]
    assert cells["own scope"] < cells["bare ids"]


def canary(tmp_path: Path, *more: str) -> Path:
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", *more, cwd=tmp_path)
    assert done.returncode == 0
    return tmp_path / "r"


def edited(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "raw_retrievals.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        edit(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_scopes_that_agree_are_printed_once_and_explained(tmp_path: Path) -> None:
    folder = canary(tmp_path)
    done = recallbench("multiverse", folder, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert "gold: as the dataset gives it, and as the rows state it" in lines
    assert (
        "own scope, others removed: ids of other haystacks are taken out first, and those behind them move up" in lines
    )
    tables = [line for line in lines if ", over all rows with gold (" in line]
    assert [line.partition(", over")[0] for line in tables] == ["own scope"]
    assert "the same: own scope, others removed; bare ids" in lines


def test_a_pooled_run_shows_each_scope(tmp_path: Path) -> None:
    done = recallbench("multiverse", canary(tmp_path, "--scope", "pooled"), cwd=tmp_path)
    assert done.stderr == ""
    tables = [line for line in done.stdout.splitlines() if ", over all rows with gold (" in line]
    assert [line.partition(", over")[0] for line in tables] == ["own scope", "own scope, others removed", "bare ids"]
    assert "of a pooled run, the others keep their places as misses" in done.stdout


@pytest.mark.marked
def test_gold_comes_from_the_dataset_whatever_rows_state(tmp_path: Path) -> None:
    folder = canary(tmp_path)

    def figures(scope: str) -> dict[str, float]:
        cells = multiverse(folder)["cells"]
        key = (scope, "all rows with gold")
        return {cell["definition"]: cell["low"] for cell in cells if (cell["scope"], cell["denominator"]) == key}

    before = figures("own scope")
    edited(folder, lambda row: row.update(gold=[row["hits"][0]["id"]]))
    assert before["recall_any@1"] < 1.0
    assert figures("own scope") == before
    assert figures("own scope, gold as stated")["recall_any@1"] == 1.0
    done = recallbench("multiverse", folder, cwd=tmp_path)
    assert "rows state other gold than the dataset gives" in done.stderr
    assert "gold: derived from the dataset; " in done.stdout


def test_gold_by_turns_stays_as_stated_and_says_so(tmp_path: Path) -> None:
    sha256 = json.loads((canary(tmp_path) / "metrics.json").read_text())["dataset_sha256"]
    first = json.loads((tmp_path / "r" / "raw_retrievals.jsonl").read_text().splitlines()[0])
    folder = tmp_path / "turns"
    folder.mkdir()
    row = {"qid": first["question_id"], "conv_id": first["scope"], "evidence": ["D99:1"], "retrieved_top10": ["D99:1"]}
    (folder / "metrics.json").write_text(json.dumps({"dataset_sha256": sha256}))
    (folder / "raw_retrievals.jsonl").write_text(json.dumps(row) + "\n")
    document = multiverse(folder)
    assert document["gold"].startswith(
        "as the rows state it, by turns, where the dataset gives sessions; as sessions, 1 rows"
    )
    cells = {(cell["definition"], cell["scope"]): cell["low"] for cell in document["cells"]}
    assert cells["recall_any@1", "bare ids"] == 1.0
    assert not [scope for _, scope in cells if "as stated" in scope]


def test_an_altered_folder_of_this_tool_gives_a_warning(tmp_path: Path) -> None:
    folder = canary(tmp_path)
    edited(folder, lambda row: row["hits"].reverse())
    done = recallbench("multiverse", folder, "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert f"recallbench: {folder}: the rows do not give the figures of its metrics.json: recall_any@1 " in done.stderr
    assert json.loads(done.stdout)["warnings"]


@pytest.mark.marked
def test_the_call_of_its_own_decides_measures_up_to_its_k(tmp_path: Path) -> None:
    """The call with its own k found nothing, the deeper one what it always finds (clarification 15)."""
    folder = canary(tmp_path)
    before = {cell["definition"]: cell["low"] for cell in multiverse(folder)["cells"] if cell["scope"] == "own scope"}
    edited(folder, lambda row: row.update(hits_of_k_call=[]))
    done = recallbench("multiverse", folder, cwd=tmp_path)
    assert (done.returncode, "retrieval.calls" in done.stderr) == (2, True), "metrics.json tells of one call"
    path = folder / "metrics.json"
    metrics = json.loads(path.read_text())
    metrics["retrieval"]["calls"] = [10, 50]
    path.write_text(json.dumps(metrics))
    after = {cell["definition"]: cell["low"] for cell in multiverse(folder)["cells"] if cell["scope"] == "own scope"}
    assert {after[f"recall_any@{k}"] for k in (1, 3, 5, 10)} == {0.0}
    assert before["recall_any@10"] > 0.5
    for deeper in ("recall_any@20", "recall_frac@50", "mrr@50"):
        assert after[deeper] == before[deeper]


def test_a_star_is_explained(published: Path) -> None:
    rows = [ROWS[0] | {"retrieved_top10": [f"D{n}" for n in range(10, 20)], "first_hit_rank": 20}]
    (published / "raw_retrievals.jsonl").write_text(json.dumps(rows[0]) + "\n")
    lines = recallbench("multiverse", published, cwd=published.parent).stdout.splitlines()
    assert any("1.0000*" in line for line in lines)
    assert "* rests on stated ranks of first hits: the kept ids alone leave it open" in lines
    assert "a-b: the least and the most that what was kept allows" in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--published", "high"], "--published high is no number"),
        (["--published", "89.1"], "did you mean 0.891, which is 89.1%?"),
        (["--json", "--csv"], "two forms of one output"),
        (["--corpus-file", "none.json"], "no corpus file at"),
    ],
)
def test_wrong_usage_is_refused(published: Path, arguments: list[str], message: str) -> None:
    done = recallbench("multiverse", published, *arguments, cwd=published.parent)
    assert (done.returncode, message in done.stderr) == (2, True)


def test_folders_without_rankings_are_refused(published: Path, tmp_path: Path) -> None:
    (published / "raw_retrievals.jsonl").unlink()
    for folder, message in ((published, "no ranking was kept"), (tmp_path / "none", "there is no folder")):
        done = recallbench("multiverse", folder, cwd=tmp_path)
        assert (done.returncode, message in done.stderr) == (2, True)


def test_rows_that_cannot_be_read(published: Path) -> None:
    (published / "raw_retrievals.jsonl").write_text(json.dumps(ROWS[0]) * 2)
    done = recallbench("multiverse", published, cwd=published.parent)
    assert done.returncode == 2
    assert "published/raw_retrievals.jsonl, line 1: can't be read" in done.stderr
    assert "two rows on one line" in done.stderr
