"""`recallbench sweep`: the points of a file, their answers kept, and what is wrong with a file said first."""

from __future__ import annotations

import csv
import gzip
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commandline import environment, recallbench
from sweeps import FAILING, GRID, LIST, TUNED, document, tuned, written


def test_every_point_of_a_grid_has_the_figures_of_a_run(tmp_path: Path) -> None:
    written(tmp_path)
    done = recallbench("sweep", "tune.toml", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("Sweep tune on canary-locomo: 5 points\n")
    points = {point["name"]: point for point in document(tmp_path)["points"]}
    assert [point["parameters"] for point in points.values()] == [
        {"rrf.k": "1", "k": "5"},
        {"rrf.k": "1", "k": "10"},
        {"rrf.k": "60", "k": "5"},
        {"rrf.k": "60", "k": "10"},
        {},
    ]
    run = ("run", "canary-locomo", "--pipeline", "hybrid.toml", "--embedder", "hash", "--folder", "r", "-q")
    assert recallbench(*run, cwd=tmp_path).returncode == 0
    of_run = {
        row["measure"]: row for row in json.loads((tmp_path / "r/metrics.json").read_text())["estimates"]["overall"]
    }
    assert points["p3"]["estimate"] == of_run["recall_any@5"]
    assert points["p4"]["estimate"] == points["baseline"]["estimate"] == of_run["recall_any@10"]
    assert points["p1"]["estimate"] != points["p3"]["estimate"]
    assert points["baseline"]["in_force"] == {"rrf.k": "60", "k": "10"}
    # What is judged at another k is the same system, and is asked once.
    assert points["p1"]["answers_sha256"] == points["p2"]["answers_sha256"] != points["p3"]["answers_sha256"]
    assert points["p1"]["p95_ms"] == points["p2"]["p95_ms"] > 0
    (folder,) = (tmp_path / "out").iterdir()
    page = (folder / "report.html").read_text()
    assert page.count("<svg") == 1
    assert "p95 of a single warm search, ms" in page
    assert "p4 (rrf.k = 60, k = 10) 0." in page
    with (folder / "points.csv").open() as sheet:
        assert [row["value"] for row in csv.DictReader(sheet)] == [
            str(point["estimate"]["value"]) for point in points.values()
        ]


def test_two_sweeps_share_points(tmp_path: Path) -> None:
    written(tmp_path)
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    (tmp_path / "tune.toml").write_text(GRID.replace("[1, 60]", "[7, 60]").replace("[baseline]", ""))
    again = recallbench("sweep", "tune.toml", "-q", cwd=tmp_path)
    assert again.returncode == 0
    assert [point["kept"] for point in document(tmp_path, -1)["points"]] == [False, False, True, True]
    assert "2 of 4 points were kept from before" in again.stdout
    # Another part of the questions is another thing to measure.
    assert recallbench("sweep", "tune.toml", "-q", "--limit", "20", cwd=tmp_path).returncode == 0
    assert not any(point["kept"] for point in document(tmp_path, -1)["points"])


def test_times_of_another_processor_are_taken_again_and_nothing_else(tmp_path: Path) -> None:
    written(tmp_path)
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    before = document(tmp_path)
    # As if it had been measured on a slow machine, which found nothing in what was not timed there.
    for path in (tmp_path / "cache").rglob("sweeps/**/*.json.gz"):
        kept = json.loads(gzip.decompress(path.read_bytes()))
        timed = kept["milliseconds"]
        assert 0 < len(timed) <= 200
        kept |= {"cpu": "Slow 1", "milliseconds": dict.fromkeys(timed, 9999.0)}
        kept["deep"] = {id: hits if id in timed else [] for id, hits in kept["deep"].items()}
        path.write_bytes(gzip.compress(json.dumps(kept).encode()))
        others = len(kept["deep"]) - len(timed)
    again = recallbench("sweep", "tune.toml", cwd=tmp_path)
    assert again.returncode == 0
    assert "some times that are kept are of Slow 1: the timed questions are asked again" in again.stderr
    for first, second in zip(before["points"], document(tmp_path, -1)["points"], strict=True):
        assert second["p95_ms"] < 9999
        assert (second["cpu"], second["timed"]) == (first["cpu"], first["timed"])
        assert (second["estimate"]["value"] < first["estimate"]["value"]) is (others > 0)
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    assert all(point["kept"] for point in document(tmp_path, -1)["points"])


def test_options_of_the_command_line_go_before_those_of_the_file(tmp_path: Path) -> None:
    written(
        tmp_path, '[run]\ncorpus = "locomo"\nembedder = "hash"\nout = "out"\nset = {index = "hnsw"}\n[parameters]\n'
    )
    with (tmp_path / "tune.toml").open("a") as file:
        file.write('"store" = ["exact", "bm25"]\n')
    words = ("sweep", "tune.toml", "canary-locomo", "--set", "k1=1", "--measure", "mrr@10", "--limit", "5", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tune, p1 (store = exact): the store `exact` has no use for --set k1" in done.stderr


def test_a_point_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text(FAILING)
    lines = ["[run]", 'store = "python:memory:open_memory"', 'out = "out"', "[[point]]", "set.broken = 1"]
    (tmp_path / "tune.toml").write_text("\n".join([*lines, "[[point]]", "set.broken = 0"]))
    words = ("sweep", "tune.toml", "canary-locomo", "--limit", "20")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 1
    first, second = document(tmp_path)["points"]
    assert "the index is gone" in first["failure"]
    assert first["estimate"] is None
    assert second["estimate"]["n"] == 20
    assert "p1 (set.broken = 1) failed: " in done.stdout
    assert f"; 1 of 2 points failed; next: try those alone: recallbench {' '.join(words)}\n" in done.stdout
    (tmp_path / "memory.py").write_text(FAILING.replace("if broken:", "if False:"))
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path, -1)["points"]] == [False, True]
    # Once it is whole, nothing of somebody else's code is taken for known.
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path, -1)["points"]] == [False, False]


def test_a_race_drops_what_is_worse_and_the_choice_is_told_by_questions_held_out(tmp_path: Path) -> None:
    tuned(tmp_path)
    done = recallbench("sweep", "tune.toml", "team", cwd=tmp_path)
    assert done.returncode == 0
    swept = document(tmp_path)
    assert (swept["split"]["tuning_questions"], swept["split"]["held_out_questions"]) == (120, 80)
    first, second, third, baseline = swept["points"]
    assert swept["race"]["run"]
    assert first["dropped_after"] < 120
    assert first["held_out"] is first["estimate"] is None
    assert (second["tuning"], second["held_out"]["value"], second["held_out"]["n"]) == (1.0, 1.0, 80)
    choice = swept["choice"]
    assert (choice["chosen"], choice["set"], choice["shown"]) == ("p2", ["p2"], True)
    assert choice["gain"] == round(1 - baseline["held_out"]["value"], 10) > 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Take p2: held-out recall_any@10 +0.0")
    assert " against the baseline, n 80; that it differs from the baseline is not shown; next: " in last
    # What it says next can be pasted.
    measure = last.partition("; next: ")[2]
    assert measure == "recallbench evaluate team --store python:memory:open_memory --set hidden=0"
    assert recallbench(*measure.split()[1:], "--folder", "p2", "-q", cwd=tmp_path).returncode == 0
    metrics = json.loads((tmp_path / "p2/metrics.json").read_text())
    assert metrics["headline"][0]["estimate"]["value"] == 1.0
    asked = sum(point["dropped_after"] or 120 for point in (first, second, third))
    assert swept["race"]["saved"] == 3 * 120 - swept["race"]["asked"] >= 3 * 120 - asked > 0
    # Asked everything, the same points have the same figures on the questions to choose by.
    assert recallbench("sweep", "tune.toml", "team", "--no-race", "-q", cwd=tmp_path).returncode == 0
    whole = document(tmp_path, -1)
    assert [point["estimate"]["n"] for point in whole["points"]] == [200] * 4
    assert whole["points"][1]["tuning"] == second["tuning"]
    assert whole["choice"]["chosen"] == "p2"


def test_only_what_keeps_the_gates_is_chosen(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "tune.toml").write_text(LIST.replace("hidden = 0", "hidden = 10").replace("= 50", "= 4"))
    words = ("sweep", "tune.toml", "team", "-q", "--gate", "recall_any@10 >= baseline")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    swept = document(tmp_path)
    assert swept["choice"]["chosen"] == "p2"
    assert [point["passes"] for point in swept["points"]] == [False, True, False, False]
    assert swept["race"]["why_not"].startswith("a point that the race drops might be the best")
    none = recallbench(*words, "--gate", "p95 < 0.000001ms", cwd=tmp_path)
    assert none.returncode == 1
    assert (
        "Nothing is chosen: no point keeps every gate; p95 < 1e-06ms turns away 3 of 3; next: weaken the gate that "
        "turns most away, or add points to the file\n"
    ) in none.stdout
    for gate, found in (
        ("recall_frac@10 >= 2", "nothing can keep"),
        ("precision@10 >= 0.2", "at most 0.1000, what the best possible rankings reach here"),
        ("p95 > 3", "can't be understood"),
        ("mrr@51 >= baseline", "is deeper than the rankings"),
    ):
        refused = recallbench(*words, "--gate", gate, cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert found in refused.stderr
    (tmp_path / "tune.toml").write_text(LIST.partition("[baseline]")[0])
    assert "has no baseline to compare with" in recallbench(*words, cwd=tmp_path).stderr


def test_a_gate_against_a_baseline_that_failed_chooses_nothing(tmp_path: Path) -> None:
    tuned(tmp_path)
    broken = TUNED.replace("id = known[query.text]", "id = known[query.text]\n        assert hidden != 50")
    (tmp_path / "memory.py").write_text(broken)
    done = recallbench("sweep", "tune.toml", "team", "-q", "--gate", "p95 <= baseline", cwd=tmp_path)
    assert done.returncode == 1
    assert "Nothing is chosen: the baseline has no figures, so nothing can be held to it; 1 of 4 points failed;" in (
        done.stdout
    )


def test_a_part_that_is_too_small_to_choose_by_is_said_before(tmp_path: Path) -> None:
    written(tmp_path)
    done = recallbench("sweep", "tune.toml", "--limit", "20", cwd=tmp_path)
    assert done.returncode == 0
    assert "the part to tune by is too small to choose" in done.stderr
    assert "All questions are in one cluster: none can be held out, and no choice is sure.\n" in done.stdout
    assert document(tmp_path)["choice"]["shown"] is False
    last = done.stdout.splitlines()[-1]
    assert re.sub(r"0\.\d{4}", "0", last) == (
        "No point is seen better than the baseline: recall_any@10 0 on the questions that chose it; no question is "
        "held out; next: recallbench run canary-locomo --pipeline FILE, where its file has rrf.k = 60"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[parameters]\n"rff.k" = [1]', "you may mean rrf.k"),
        ('[parameters]\n"set.ef_serch" = [1]', "nothing has the parameter `set.ef_serch`"),
        ('[parameters]\n"rrf.k" = ["x"]', "tune, p1 (rrf.k = x): hybrid.toml, stage 3"),
        ("[parameters]\nk = [10, 51]", "k = 51 is deeper than the rankings"),
        ("[parameters]\nk = []", "`k` has no list of values"),
        ("[parameters]\nk = [5, 5]", "`k` has a value twice"),
        ('[parameters]\n"rrf.k" = [{}, 60]', "`rrf.k` has a table among its values"),
        ("[parameter]\nk = [5]", "you may mean parameters"),
        ('method = "gird"\n[parameters]\nk = [5]', "you may mean grid"),
        ('method = "GRID"\n[parameters]\nk = [5]', "you may mean grid"),
        ('method = "random"\n[parameters]\nk = [5]', "says how many points it draws"),
        ("[parameters]\nk = {from = 1, to = 5}", "`k` is a range"),
        ("[[point]]\nk = 5\n[[point]]\nk = 5", "point 2 is point 1 again"),
        ("[run]\nstor = 'x'\n[parameters]\nk = [5]", "unknown setting 'stor'"),
        ("[parameters", "can't be read as a sweep"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_anything_runs(tmp_path: Path, text: str, words: str) -> None:
    written(tmp_path, text)
    run = ("--pipeline", "hybrid.toml", "--embedder", "hash", "--out", "out")
    done = recallbench("sweep", "tune.toml", "canary-locomo", *run, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.marked
def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    slow = FAILING.replace("if broken:", "import time; time.sleep(0.002 * broken)\n        if False:")
    (tmp_path / "memory.py").write_text(slow)
    lines = ["[run]", 'store = "python:memory:open_memory"', 'out = "out"', "[parameters]", "set.broken = [0, 1, 2000]"]
    (tmp_path / "tune.toml").write_text("\n".join(lines))
    words = [sys.executable, "-m", "recallbench", "sweep", "tune.toml", "canary-locomo", "--limit", "20"]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE)
    ends = time.monotonic() + 60
    while len(list((tmp_path / "cache").rglob("*.json.gz"))) < 2 and time.monotonic() < ends:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").glob("sweep_*"))
    (tmp_path / "memory.py").write_text(FAILING.replace("if broken:", "if False:"))
    assert recallbench(*words[3:], cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path)["points"]] == [True, True, False]


def test_a_dry_run_asks_little_and_says_what_the_whole_takes(tmp_path: Path) -> None:
    written(tmp_path)
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    (tmp_path / "tune.toml").write_text(GRID.replace("[1, 60]", "[7, 60]"))
    done = recallbench("sweep", "tune.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    head, _, *rows, blank, last = done.stdout.splitlines()
    assert head == "dry run of tune: 5 points, 3 of them kept"
    assert [row.split()[-1] == "kept" for row in rows] == [False, False, True, True, True]
    assert blank == ""
    assert last.startswith("The sweep takes about 0:0")
    assert last.endswith(
        "less what a race saves; estimated from 20 questions a point; next: recallbench sweep tune.toml"
    )
    told = json.loads(recallbench("sweep", "tune.toml", "--dry-run", "--json", "-q", cwd=tmp_path).stdout)
    assert [point["kept"] for point in told["points"]] == [False, False, True, True, True]
    assert told["points"][0]["parameters"] == {"rrf.k": "7", "k": "5"}
    assert told["conclusion"]["belief"] == "estimated from 20 questions a point"
    # Nothing was written, and nothing kept of so few questions.
    assert len(list((tmp_path / "out").iterdir())) == 1
    assert len(list((tmp_path / "cache").rglob("*.json.gz"))) == 2


def test_a_point_that_fails_in_a_race_ends_it_for_no_other(tmp_path: Path) -> None:
    tuned(tmp_path)
    broken = TUNED.replace("id = known[query.text]", "id = known[query.text]\n        assert hidden != 7 or id < 150")
    (tmp_path / "memory.py").write_text(broken)
    (tmp_path / "tune.toml").write_text(LIST.replace("hidden = 3", "hidden = 7"))
    done = recallbench("sweep", "tune.toml", "team", "-q", cwd=tmp_path)
    assert done.returncode == 1
    swept = document(tmp_path)
    assert swept["race"]["run"]
    assert [bool(point["failure"]) for point in swept["points"]] == [False, False, True, False]
    assert swept["choice"]["chosen"] == "p2"
    assert swept["points"][1]["held_out"]["n"] == 80


def test_a_dry_run_counts_what_comes_after_the_choice(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(FAILING.replace("broken=0", "broken=0, hidden=0"))
    text = LIST.replace("set.hidden = 2\n", "set.hidden = 2\nset.broken = 0\n").replace("set.hidden = 0\n", "k = 5\n")
    (tmp_path / "tune.toml").write_text(text)
    words = ("sweep", "tune.toml", "team", "--dry-run", "--sensitivity", "--repeats", "2", "--seeds", "3", "-q")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert "6 further runs of the chosen point and the baseline, less what a race saves" in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_sweep_off_a_terminal_tells_the_time_left_of_all_points(tmp_path: Path) -> None:
    slow = FAILING.replace("if broken:", "import time; time.sleep(0.02)\n        if False:")
    (tmp_path / "memory.py").write_text(slow)
    (tmp_path / "tune.toml").write_text(
        '[run]\nstore = "python:memory:open_memory"\nout = "out"\n[parameters]\nset.broken = [1, 2, 3]\n'
    )
    # Lines come every 30 s: here sooner.
    program = (
        "import sys\nfrom recallbench.cli import bars, main\n"
        "bars.listener = lambda quiet: bars.Lines(every=0.3)\nsys.argv[0] = 'recallbench'\nmain.run_program()\n"
    )
    words = ("sweep", "tune.toml", "canary-locomo", "--limit", "20")
    done = recallbench(*words, cwd=tmp_path, program=("-c", program))
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("asking: ")]
    assert any(
        re.match(r"asking: \d+%, [12] of 3 points, .* points/s, \d+:\d\d left; asking: ", line) for line in lines
    )


def test_a_gate_on_cost_decides_and_the_header_says_what_can_be_told_apart(tmp_path: Path) -> None:
    tuned(tmp_path)
    words = ("sweep", "tune.toml", "team", "-q", "--gate")
    assert recallbench(*words, "usd_per_1000 < 0.5", cwd=tmp_path).returncode == 0
    swept = document(tmp_path)
    dearest = max(point["usd_per_1000"] for point in swept["points"])
    assert 0 < dearest < 0.5
    none = recallbench(*words, "usd_per_1000 < 0.0000001", cwd=tmp_path)
    assert none.returncode == 1
    assert "usd_per_1000 < 1e-07 turns away 3 of 3" in none.stdout
    assert "Chosen by 120 questions (120 questions), told by 80 others" in none.stdout
    assert "120 questions support 32 points with a test for each pair" in none.stdout


def test_a_sweep_is_printed_in_every_format(tmp_path: Path) -> None:
    tuned(tmp_path)
    words = ("sweep", "tune.toml", "team", "-q", "--format")
    assert json.loads(recallbench(*words, "json", cwd=tmp_path).stdout)["choice"]["chosen"] == "p2"
    rows = list(csv.DictReader(recallbench(*words, "csv", cwd=tmp_path).stdout.splitlines()))
    assert [row["point"] for row in rows] == ["p1", "p2", "p3", "baseline"]
    page = recallbench(*words, "markdown", cwd=tmp_path).stdout
    said = "Take p2: held-out recall_any@10"
    assert page.startswith("# Sweep tune on team: 4 points\n\nChosen by 120 questions")
    assert page.splitlines()[-1].startswith(f"**{said}")
    report = max((tmp_path / "out").iterdir(), key=lambda path: path.stat().st_mtime_ns) / "report.md"
    assert report.read_text().startswith(f"# Sweep tune on team: 4 points\n\n{said}")
    web = recallbench(*words, "html", cwd=tmp_path).stdout
    assert web.startswith("<!DOCTYPE html>")
    assert web.count(said) == 1
    chart = page.partition("```mermaid\n")[2].partition("```")[0].splitlines()
    assert chart[0] == "xychart-beta"
    assert sorted(chart[2].removeprefix("    x-axis [").removesuffix("]").split(", ")) == ["baseline", "p2"]
    # Bars are read by their length: the axis begins at 0.
    assert chart[3] == '    y-axis "recall_any@10" 0 --> 1.00'
