"""`recallbench table`: results, TREC runs and published folders side by side."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from published_rankings import publish

from commandline import recallbench
from recallbench.results.manifest import build


@pytest.fixture
def place(results_to_compare: Path) -> Path:
    return results_to_compare


def test_results_side_by_side_as_text(place: Path) -> None:
    done = recallbench("table", "exact", "bm25", "few", "other", cwd=place)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "canary-locomo, 158 questions"
    columns = "name recall_any@10 95% interval group mrr@50 p95 ms build s store version encoder"
    assert " ".join(lines[2].split()) == columns
    assert [line.split()[0] for line in lines[3:8]] == ["bm25", "exact", "ceiling", "BM25", "chance"]
    assert " 0.8354 " in lines[3]
    assert lines[6].split() == ["BM25", "0.8354", "0.4575"]  # the store bm25 is the control
    few, other = (" ".join(line.split()) for line in lines[10:12])
    assert few == "few 0.8500 0.4663 limit: none against 20"
    assert re.fullmatch(
        r"other 0.8298 0.3821 dataset: canary-locomo [0-9a-f]{12} against canary-longmemeval [0-9a-f]{12}", other
    )
    assert "a paired test over the same questions" in done.stdout
    assert lines[-2:] == [
        "",
        "Nobody is first: bm25 and exact can't be told apart by recall_any@10; the highest has 0.8354 (0.7598 to "
        "0.8877), 158 questions; 2 not comparable; next: ask more questions",
    ]


def test_every_form_says_the_same(place: Path, tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    shown = json.loads(recallbench("table", "bm25", "exact", "--format", "json", "--plot", plot, cwd=place).stdout)
    assert [part["name"] for part in shown["standings"]] == ["bm25", "exact"]
    assert shown["measures"] == ["recall_any@10", "mrr@50"]
    value = f"{shown['standings'][0]['estimates'][0]['value']:.4f}"
    rows = list(csv.DictReader(io.StringIO(recallbench("table", "bm25", "exact", "--format", "csv", cwd=place).stdout)))
    estimate = shown["standings"][0]["estimates"][0]
    assert (rows[0]["name"], f"{float(rows[0]['recall_any@10']):.4f}") == ("bm25", value)
    assert float(rows[0]["recall_any@10 low"]) == pytest.approx(estimate["low"], abs=1e-9)
    assert f"| bm25 | {value} | " in recallbench("table", "bm25", "exact", "--format", "markdown", cwd=place).stdout
    phases = json.loads((place / "bm25" / "environment.json").read_text())["seconds"]
    assert shown["standings"][0]["build_s"] == phases["ingest"]
    assert float(rows[0]["build s"]) == phases["ingest"] > 0
    page = recallbench("table", "bm25", "exact", "--format", "html", cwd=place).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert f"<td>{value}</td>" in page
    assert "default-src 'none'" in page
    svg = ET.fromstring(plot.read_bytes())
    words = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"bm25 a", "exact a", "BM25", "chance", "ceiling", "recall_any@10"} <= set(words)


def test_a_run_beside_a_result_is_judged_by_its_gold(place: Path) -> None:
    done = recallbench("table", "exact", "bm25/run.trec", "bm25", "--format", "json", cwd=place)
    by_name = {part["name"]: part for part in json.loads(done.stdout)["standings"]}
    assert by_name["bm25/run.trec"]["estimates"] == by_name["bm25"]["estimates"]
    assert "nothing vouches for" in by_name["bm25/run.trec"]["note"]


def test_runs_alone_need_judgements(place: Path) -> None:
    done = recallbench("table", "bm25/run.trec", "exact/run.trec", cwd=place)
    assert (done.returncode, "--qrels FILE, or a result folder beside them" in done.stderr) == (2, True)
    words = ("table", "bm25/run.trec", "exact/run.trec", "--qrels", "bm25/qrels.trec", "--format", "json")
    shown = json.loads(recallbench(*words, cwd=place).stdout)
    assert [part["name"] for part in shown["standings"]] == ["bm25/run.trec", "exact/run.trec"]


@pytest.fixture
def published(place: Path, tmp_path: Path) -> Path:
    """The rankings of bm25 as pgmnemo publishes them."""
    return publish(place / "bm25", tmp_path / "published")


def test_controls_stand_beside_a_measure_that_no_folder_states(place: Path) -> None:
    words = ("--measures", "mrr@7,recall_any@3", "--format", "json")
    shown = json.loads(recallbench("table", "bm25", *words, cwd=place).stdout)
    values = [estimate["value"] for estimate in shown["standings"][0]["estimates"]]
    assert [control["values"] for control in shown["controls"] if control["name"] == "BM25"] == [values]


def test_the_static_control_stands_there_whichever_folder_has_it(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "exact", tmp_path / "exact")
    metrics = json.loads((tmp_path / "exact/metrics.json").read_text())
    metrics["control_static"] = metrics["control_bm25"]
    (tmp_path / "exact/metrics.json").write_text(json.dumps(metrics))
    (tmp_path / "exact/manifest.json").write_text(build(tmp_path / "exact"))
    done = recallbench("table", "bm25", tmp_path / "exact", cwd=place)
    rows = [line.split() for line in done.stdout.splitlines()[6:8]]
    assert rows == [["BM25", "0.8354", "0.4575"], ["static", "0.8354", "0.4575"]]


def test_a_published_folder_beside_a_result_and_alone(place: Path, published: Path) -> None:
    words = ("--measures", "recall_any@10", "--format", "json")
    shown = json.loads(recallbench("table", "bm25", published, *words, cwd=place).stdout)
    ours, theirs = (part["estimates"][0] for part in shown["standings"])
    assert shown["apart"] == []
    assert (ours["value"], ours["n"]) == (theirs["value"], theirs["n"])
    alone = json.loads(recallbench("table", published, *words, cwd=place).stdout)
    assert alone["standings"][0]["estimates"][0]["value"] == ours["value"]
    assert [control["name"] for control in alone["controls"]] == ["ceiling", "chance"]


def test_a_damaged_result_stands_apart_with_the_reason(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "exact", tmp_path / "cut")
    (tmp_path / "cut/metrics.json").write_text("{")
    done = recallbench("table", "bm25", tmp_path / "cut", "--format", "json", cwd=place)
    (apart,) = json.loads(done.stdout)["apart"]
    assert (done.returncode, apart["name"]) == (0, str(tmp_path / "cut"))
    assert "the file may be cut off" in apart["reason"]
    alone = recallbench("table", tmp_path / "cut", cwd=place)
    assert (alone.returncode, "there is nothing to show" in alone.stderr) == (2, True)


def test_a_folder_that_no_layout_fits_stands_apart(place: Path, tmp_path: Path) -> None:
    odd, words = tmp_path / "odd", tmp_path / "words.json"
    odd.mkdir()
    words.write_text("[1]\n")
    done = recallbench("table", "bm25", odd, words, "--format", "json", cwd=place)
    shown = json.loads(done.stdout)
    assert [(apart["name"], apart["reason"]) for apart in shown["apart"]] == [
        (str(odd), f"{odd} is no result folder: an empty folder"),
        (str(words), "neither a result folder nor a TREC run: line 1: not in TREC's form: 1"),
    ]
    assert shown["conclusion"]["next"] == "name result folders in their place"
    (odd / "notes.md").write_text("nothing")
    alone = recallbench("table", odd, cwd=place)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert f"recallbench: {odd} is no result folder\n  expected: a folder that `recallbench run` wrote, or of " in (
        alone.stderr
    )
    assert "  found: neither metrics.json nor what another tool publishes, but notes.md\n" in alone.stderr


def test_a_run_that_was_blocked_stands_apart_with_the_reason(place: Path, tmp_path: Path) -> None:
    (tmp_path / "bm25_BLOCKED").mkdir()
    (tmp_path / "bm25_BLOCKED" / "BLOCKED.md").write_text("# BLOCKED\n")
    done = recallbench("table", "bm25", tmp_path / "bm25_BLOCKED", "--format", "json", cwd=place)
    (apart,) = json.loads(done.stdout)["apart"]
    assert apart["reason"] == "BLOCKED.md: the run could not be made"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "is missing"),
        (("nowhere",), "there is no folder nowhere"),
        (("bm25", "--plot", "plot.png"), "a file that ends in .svg"),
        (("bm25", "--measures", ","), "--measures recall_any@10"),
        (("bm25", "--measures", "recall_any@90"), "a depth of 50 or less"),
    ],
)
def test_refusals(place: Path, words: tuple[str, ...], expected: str) -> None:
    done = recallbench("table", *words, cwd=place)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
