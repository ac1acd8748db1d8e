"""`recallbench stages`, as a user types it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from commandline import recallbench

# With alpha 1 fusion leaves all to the lexical leg, and with lambda 1 MMR keeps the order.
PIPELINE = """
[[stage]]
kind = "search"
method = "lexical"
depth = 10

[[stage]]
kind = "search"
method = "dense"
depth = 10

[[stage]]
kind = "fuse"
method = "weighted"
alpha = 1.0
keep = 10

[[stage]]
kind = "diversify"
method = "mmr"
name = "spread"
lambda = 1.0
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stages")
    (place / "pipeline.toml").write_text(PIPELINE)
    words = ("--embedder", "hash", "--limit", "30", "-q")
    assert (
        recallbench("run", "canary-locomo", *words, "--store", "exact", "--folder", "plain", cwd=place).returncode == 0
    )
    done = recallbench("run", "canary-locomo", *words, "--pipeline", "pipeline.toml", "--folder", "piped", cwd=place)
    assert done.returncode == 0
    assert "stage: spread changed none of 30 rankings\n" in done.stdout
    assert "stages: recallbench stages piped\n" in done.stdout
    return place


def test_the_table_of_a_result(place: Path) -> None:
    done = recallbench("stages", "piped", cwd=place)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("lexical(depth=10) + dense(depth=10) > weighted(")
    assert lines[1:4] == [
        "dense changed none of 30 rankings: without it the pipeline finds the same",
        "weighted changed none of 30 rankings",
        "spread changed none of 30 rankings",
    ]
    assert lines[6].split()[-6:] == ["added", "p50", "ms", "added", "p95", "ms"]
    report = (place / "piped/report.md").read_text()
    assert "- **spread changed none of 30 rankings**" in report
    assert '<div class="idle"><strong>spread</strong>' in (place / "piped/report.html").read_text()


def test_the_sheet_and_the_document_agree(place: Path) -> None:
    rows = {row["stage"]: row for row in csv.DictReader(io.StringIO(printed(place, "csv")))}
    document = json.loads(printed(place, "json"))
    stages = {stage["name"]: stage["effect"] for stage in document["pipeline"]["stages"]}
    assert list(rows) == list(stages) == ["lexical", "dense", "weighted", "spread"]
    assert rows["weighted"]["best leg"] == stages["weighted"]["best_leg"] == "lexical"
    # alpha 1 leaves the order to the first leg: fusion can lose nothing of it, and spread does nothing.
    assert (rows["weighted"]["lost segments"], rows["spread"]["promoted segments"]) == ("0", "0")
    assert rows["spread"]["recall_any@10 difference"] == "0"
    assert float(rows["lexical"]["recall_any@10"]) == stages["lexical"]["reached"]["recall_any@10"]
    assert document["costs"]["spread"]["timed"] == 30
    # What it did, what it is worth by two measures, and that by five kinds.
    assert printed(place, "markdown").count("\n| spread | ") == 1 + 2 + 5
    assert printed(place, "html").startswith("<!DOCTYPE html>")


def printed(place: Path, format: str, *words: str) -> str:
    done = recallbench("stages", "piped", "--format", format, *words, cwd=place)
    assert done.returncode == 0
    return done.stdout


def test_the_questions_whose_gold_a_stage_moved_are_named(place: Path) -> None:
    moved = json.loads(printed(place, "json", "--questions", "promoted", "--stage", "dense"))["moved"]
    effect = next(s["effect"] for s in json.loads(printed(place, "json"))["pipeline"]["stages"] if s["name"] == "dense")
    assert len(moved) == effect["promoted"]["segments"]
    assert {move["stage"] for move in moved} <= {"dense"}
    lost = recallbench("stages", "piped", "--questions", "lost", cwd=place)
    assert lost.stdout == "gold lost: 0 segments in 0 questions\n"
    text = recallbench("stages", "piped", "--questions", "promoted", cwd=place).stdout.splitlines()
    assert text[1].split() == ["stage", "question", "kind", "gold", "place", "before", "place", "after"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("plain",), 2, "recallbench: plain was run without a pipeline, so it has no stages\n"),
        (("nowhere",), 2, "no such folder"),
        (("--questions", "lost"), 2, "recallbench stages DIR"),
        (("piped", "--stage", "spread"), 2, "--questions promoted, demoted or lost"),
        (("piped", "--questions", "lost", "--stage", "mmr"), 2, "lexical, dense, weighted, spread"),
    ],
)
def test_what_can_t_be_shown_is_told(place: Path, words: tuple[str, ...], code: int, told: str) -> None:
    done = recallbench("stages", *words, cwd=place)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr


def test_the_list_has_every_stage_with_its_options(tmp_path: Path) -> None:
    done = recallbench("stages", cwd=tmp_path)
    assert done.returncode == 0
    words = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "fuse rrf reciprocal rank fusion" in words
    assert "search store, dense, lexical depth = … How many candidates it finds for each text [default: 50]" in words
