"""`recallbench drift` over real results whose dates were set."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree
from pathlib import Path

import pytest

from commandline import recallbench

# A memory that forgets to look for a share of the questions, as `level` says: each level forgets more of the same.
FORGETS = """
import hashlib, pathlib
LEVEL = int(pathlib.Path("level").read_text())
def open_memory(items, vectors):
    words = {item.id: set(item.text.lower().split()) for item in items}
    def search(query, k):
        if hashlib.sha256(query.text.encode()).digest()[0] < LEVEL:
            return []
        query_words = set(query.text.lower().split())
        scored = [(id, float(len(query_words & known))) for id, known in words.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]
    return search
open_memory.needs_vectors = False
"""
LEVELS = (0, 20, 40, 60, 80)


def dated(folder: Path, day: int) -> None:
    path = folder / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"started": f"2026-01-{day:02}T03:00:00+00:00"}))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a result per level, in `level-<level>`; no test writes into it."""
    folder = tmp_path_factory.mktemp("drifting")
    (folder / "forgets.py").write_text(FORGETS)
    for level in LEVELS:
        (folder / "level").write_text(str(level))
        words = ("canary-locomo", "--store", "callable", "--call", "forgets:open_memory", "--folder", f"level-{level}")
        assert recallbench("run", *words, "--quiet", cwd=folder).returncode == 0
    for name, words in (("other", ("--limit", "50")), ("bm25", ())):
        done = recallbench("run", "canary-locomo", "--store", "bm25", *words, "--folder", name, "--quiet", cwd=folder)
        assert done.returncode == 0
    return folder


def nights(results: Path, workspace: Path, levels: tuple[int, ...]) -> None:
    """Copy results of these levels, dated on following days, under names that do not give the order."""
    for day, level in enumerate(levels, 1):
        folder = workspace / "nights" / f"n{(day * 7) % 10}{day}"
        shutil.copytree(results / f"level-{level}", folder)
        dated(folder, day)


def drift(folder: Path, *words: str) -> tuple[int, dict]:
    done = recallbench("drift", *words, "--format", "json", cwd=folder)
    assert done.returncode in (0, 1)
    return done.returncode, json.loads(done.stdout)


def value(folder: Path, measure: str) -> float:
    stated = json.loads((folder / "metrics.json").read_text())["estimates"]["overall"]
    return next(estimate["value"] for estimate in stated if estimate["measure"] == measure)


def test_a_fall_is_flagged(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, LEVELS)
    code, document = drift(tmp_path, "nights")
    assert code == 0
    assert [night["made"][:10] for night in document["nights"]] == [f"2026-01-0{day}" for day in range(1, 6)]
    values = [value(results / f"level-{level}", "recall_any@10") for level in LEVELS]
    assert [night["estimate"]["value"] for night in document["nights"]] == pytest.approx(values)
    assert values == sorted(values, reverse=True)
    assert (document["trend"]["direction"], document["trend"]["falls"], document["fell"]) == ("falling", 10, True)
    assert document["trend"]["p"] == pytest.approx(2 / 120)
    assert document["last_against_first"]["difference"] == pytest.approx(values[-1] - values[0])
    assert drift(tmp_path, "nights", "--fail-on-trend")[0] == 1
    line = recallbench("drift", "nights", cwd=tmp_path).stdout.splitlines()[-1]
    assert line.startswith("recall_any@10 falls over 5 results by 0.0")
    assert " a day, p 0.0167; last against first -0." in line
    assert line.endswith("; next: recallbench compare nights/n71 nights/n55")
    done = recallbench("drift", "nights/*", "--measure", "mrr@50", "--format", "markdown", cwd=tmp_path)
    assert done.stdout.startswith("### ❌ mrr@50 of callable")
    assert done.stdout.splitlines()[-1].startswith("**mrr@50 falls over 5 results by 0.0")
    assert "| 2026-01-01 03:00 | " in done.stdout


def test_the_last_result_is_held_to_rules(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0, 80))
    first, last = (value(results / f"level-{level}", "recall_any@10") for level in (0, 80))
    below = f"recall_any@10 below {last - 0.01:.2f}"
    code, document = drift(tmp_path, "nights", "--measure", "mrr@50", "--fail-if", below)
    assert (code, [rule["outcome"] for rule in document["conditions"]]) == (0, ["passes"])
    assert document["measure"] == document["last_against_first"]["measure"] == "mrr@50"
    code, document = drift(tmp_path, "nights", "--fail-if", f"recall_any@10 < {first:.2f}", "--fail-if", below)
    assert (code, [rule["outcome"] for rule in document["conditions"]]) == (1, ["fails", "passes"])
    # Four clusters give no interval, so that no drop is proven.
    drops = ("--fail-if", "recall_any@10 drops 0.01")
    assert [drift(tmp_path, "nights", *drops, *more)[0] for more in ((), ("--strict",))] == [0, 1]
    assert "conditions" not in drift(tmp_path, "nights")[1]
    for words, error in (
        (("--fail-if", "recall_any@10 >= 0.5"), "says what must hold"),
        (("--fail-if", "recall_any@99 below 0.5"), "a depth of 50 or less"),
        (("--strict",), "--strict goes with --fail-if"),
    ):
        done = recallbench("drift", "nights", *words, cwd=tmp_path)
        assert (done.returncode, error in done.stderr) == (2, True)


def test_a_rise_is_flagged_and_is_no_failure(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, LEVELS[::-1])
    code, document = drift(tmp_path, "nights", "--fail-on-trend")
    assert (code, document["trend"]["direction"], document["fell"]) == (0, "rising", False)


def test_equal_results_show_no_trend(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0,) * 6)
    code, document = drift(tmp_path, "nights", "--fail-on-trend")
    assert (code, document["trend"]["direction"], document["trend"]["p"]) == (0, "none shown", 1.0)
    assert document["last_against_first"]["difference"] == 0


def test_too_few_results_show_no_trend(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0, 20, 40, 60))
    printed = recallbench("drift", "nights", cwd=tmp_path).stdout
    assert "trend: too few: n/a (4 results: fewer than 5 show no trend)" in printed
    assert "last against first: -0." in printed


def test_results_of_other_runs_are_left_out_by_name(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0, 20))
    for name, day in (("other", 9), ("bm25", 3)):
        shutil.copytree(results / name, tmp_path / "nights" / name)
        dated(tmp_path / "nights" / name, day)
    blocked = tmp_path / "nights" / "v_20260108_BLOCKED"
    blocked.mkdir()
    (blocked / "BLOCKED.md").write_text("# BLOCKED\n")
    _, document = drift(tmp_path, "nights")
    assert len(document["nights"]) == 2
    reasons = {Path(left_out["folder"]).name: left_out["reason"] for left_out in document["left_out"]}
    assert reasons.keys() == {"other", "bm25", blocked.name}
    assert reasons["other"].startswith("they were asked other questions: other asked only 50 questions (--limit 50), ")
    assert reasons["bm25"].startswith("another system: callable")
    assert "left out: nights/bm25: another system" in recallbench("drift", "nights", cwd=tmp_path).stdout


@pytest.mark.marked
def test_the_plot_is_a_picture_and_the_page_a_format(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, LEVELS)
    (tmp_path / "out").mkdir()
    paged = recallbench("drift", "nights", "--format", "html", "--plot", "out/drift.svg", cwd=tmp_path)
    assert paged.returncode == 0
    page, picture = paged.stdout, (tmp_path / "out/drift.svg").read_text()
    root = xml.etree.ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "falling, -0." in picture
    assert "--ink: #1d1d1f" in picture
    for text in (page, picture):
        assert "recall_any@10 by day: 2026-01-01: 0." in text
        assert "://" not in text.replace("http://www.w3.org/", "")
    assert "<td>recallbench-callable/" in page or "callable" in page
    assert "<p><strong>recall_any@10 falls over 5 results by 0." in page
    done = recallbench("drift", "nights", "--plot", "drift.png", cwd=tmp_path)
    assert (done.returncode, "ends in .svg" in done.stderr) == (2, True)


def test_what_out_wrote_before_it_still_writes(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0, 20))
    (tmp_path / "out").mkdir()
    for name in ("out/drift.html", "drift.svg"):
        assert recallbench("drift", "nights", "--out", name, cwd=tmp_path).returncode == 0
    page = (tmp_path / "out/drift.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    plotted = recallbench("drift", "nights", "--plot", "again.svg", cwd=tmp_path)
    assert (plotted.returncode, (tmp_path / "again.svg").read_text()) == (0, (tmp_path / "drift.svg").read_text())
    done = recallbench("drift", "nights", "--out", "drift.png", cwd=tmp_path)
    assert (done.returncode, "ends in .html or .svg" in done.stderr) == (2, True)
    assert "--out" not in recallbench("drift", "--help", cwd=tmp_path).stdout
    # The variable is for the folder that other commands put their results into.
    assert recallbench("drift", "nights", cwd=tmp_path, env={"RECALLBENCH_OUT": "results"}).returncode == 0


def test_the_series_as_a_sheet_and_as_json(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0, 20))
    sheet = recallbench("drift", "nights", "--format", "csv", cwd=tmp_path)
    assert sheet.stdout.splitlines()[0] == "made,value,95% interval,n,version,folder"
    assert len(sheet.stdout.splitlines()) == 3
    document = json.loads(recallbench("drift", "nights", "--json", cwd=tmp_path).stdout)
    assert document["conclusion"]["text"] == sheet.stderr.splitlines()[-1]


def set_start(folder: Path, started: str) -> None:
    path = folder / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"started": started}))


@pytest.mark.marked
def test_results_minutes_apart_have_a_slope_by_the_result(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, LEVELS)
    folders = [Path(night["folder"]) for night in drift(tmp_path, "nights")[1]["nights"]]
    for minute, folder in enumerate(folders):
        set_start(tmp_path / folder, f"2026-01-01T03:0{minute}:00+00:00")
    _, document = drift(tmp_path, "nights")
    assert document["trend"]["slope_per_day"] is None
    assert -0.2 < document["trend"]["slope_per_result"] < 0
    printed = recallbench("drift", "nights", "--plot", "drift.svg", cwd=tmp_path).stdout
    assert " a result)" in printed
    assert " a day" not in printed
    assert " a result" in (tmp_path / "drift.svg").read_text()


def test_a_note_common_to_several_folders_is_printed_once(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, LEVELS)
    printed = recallbench("drift", "nights", cwd=tmp_path).stdout
    (note,) = [line for line in printed.splitlines() if "are scored from a call with k = 10" in line]
    assert note.startswith("note: nights/n71, nights/n42, nights/n13, nights/n84, nights/n55: measures at 10 or less")
    # A note of a single folder names that folder.
    assert "note: nights/n42: 11 questions were answered with fewer hits" in printed
    assert "no difference can be shown: 4 clusters are too few (6 are needed)" in printed
    assert "no difference shown" not in printed


def test_a_single_result_is_counted_in_the_singular(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0,))
    printed = recallbench("drift", "nights", cwd=tmp_path).stdout
    assert ", 1 result\n" in printed
    assert "trend: too few: n/a (a single result shows no trend)" in printed
    assert "1 results" not in printed
    assert printed.endswith(
        "\n\nrecall_any@10 is of a single result, with nothing to compare it with; "
        "next: measure again, and follow it from there\n"
    )
    # Nothing is left to compare it with, which proves no drop and excludes none.
    drops = ("--fail-if", "recall_any@10 drops 0.01")
    assert [drift(tmp_path, "nights", *drops, *more)[0] for more in ((), ("--strict",))] == [0, 1]


@pytest.mark.marked
def test_bad_folders_and_measures_are_refused(results: Path, tmp_path: Path) -> None:
    nights(results, tmp_path, (0, 20))
    for words, message in (
        (("nowhere",), "there is no folder nowhere"),
        (("nights", "--measure", "recall@10"), "say recall_any@10"),
        (("nights", "--measure", "mrr@99"), "a depth of 50 or less"),
    ):
        done = recallbench("drift", *words, cwd=tmp_path)
        assert (done.returncode, message in done.stderr) == (2, True)
    path = next((tmp_path / "nights").iterdir()) / "metrics.json"
    path.write_text(
        path.read_text().replace('"measure": "mrr@50",\n    "value": 0.', '"measure": "mrr@50",\n    "value": 0.9')
    )
    done = recallbench("drift", "nights", cwd=tmp_path)
    assert (done.returncode, "the rankings do not give the figures" in done.stderr) == (2, True)
