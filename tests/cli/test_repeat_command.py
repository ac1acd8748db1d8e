from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench
from recallbench.scratch import MARKER, OWNER, PREFIX

NOISY = '''
opened = 0

def open_memory(items, vectors):
    """Every run after the first hides one more of the newest sessions of each haystack."""
    global opened
    opened += 1
    hidden = (opened - 1) // 4
    words = {item.id: set(item.text.lower().split()) for item in items[: len(items) - 3 * hidden]}

    def search(query, k):
        query_words = set(query.text.lower().split())
        scored = [(id, float(len(query_words & known))) for id, known in words.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]

    return search

open_memory.needs_vectors = False
'''


def summary(workspace: Path) -> tuple[Path, dict[str, Any]]:
    (folder,) = (path for path in workspace.iterdir() if path.name.startswith("repeat_"))
    return folder, json.loads((folder / "repeat.json").read_text())


def test_runs_that_agree_have_no_spread(tmp_path: Path) -> None:
    done = recallbench("repeat", "2", "canary-locomo", "--store", "bm25", "--out", "o", "--label", "x", cwd=tmp_path)
    assert done.returncode == 0
    folder, document = summary(tmp_path / "o")
    assert folder.name.startswith("repeat_bm25_")
    assert folder.name.endswith("_x")
    assert sorted(path.name for path in folder.iterdir()) == ["repeat.json", "repeat.md", "run_1", "run_2"]
    assert (document["same_content"], document["same_rankings"], document["moved"]) == (True, True, [])
    assert [entry["range"] for entry in document["spread"]] == [0.0] * 19
    assert [entry["inside"] for entry in document["bands"]] == [None, None]
    assert "no band registered for recall@10 on canary-locomo" in done.stdout
    assert "warm: none: the store holds one haystack at a time" in done.stdout
    # Nothing of the canary is the protocol's, and nothing of it is said; repeat.md has it.
    assert "pgmnemo" not in done.stdout
    assert "store: bm25 instead of pgmnemo" in (folder / "repeat.md").read_text()
    assert done.stdout.splitlines()[-1] == (
        "2 cold runs give the same rankings, to the last score; the store adds no noise, so that one run will do; "
        f"next: recallbench compare {folder.relative_to(tmp_path)}/run_1 OTHER"
    )
    # Each run is an ordinary result.
    audited = recallbench("audit", folder / "run_2", cwd=tmp_path)
    assert "pass" in audited.stdout
    assert json.loads((folder / "run_1/metrics.json").read_text())["seed"] == 42
    words = ("repeat", "2", "canary-locomo", "--store", "bm25", "--out", "o", "--label", "x", "--json", "-q")
    again = recallbench(*words, cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    printed = json.loads(again.stdout)
    assert printed.pop("conclusion")["happened"] == "2 cold runs give the same rankings, to the last score"
    assert printed == document
    assert len(list((tmp_path / "o").iterdir())) == 2


@pytest.mark.marked
def test_a_filled_store_is_searched_again_warm(tmp_path: Path) -> None:
    words = ("repeat", "2", "canary-locomo", "--store", "pgvector", "--embedder", "hash", "--limit", "20", "--json")
    done = recallbench(*words, "--out", "o", "-q", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    folder, document = summary(tmp_path / "o")
    printed = json.loads(done.stdout)
    assert printed.pop("conclusion")["happened"].startswith("2 cold and 2 warm runs give the same rankings")
    assert printed == document
    assert [entry["name"] for entry in document["passes"]] == ["run_1", "run_2", "warm_1", "warm_2"]
    raw = (folder / "run_1/raw_retrievals.jsonl").read_bytes()
    assert (folder / "warm_2.jsonl").read_bytes() == raw
    assert {entry["rankings_sha256"] for entry in document["passes"]} == {hashlib.sha256(raw).hexdigest()}
    assert "starts a server of its own" in document["cold"]
    assert "not restarted" not in document["cold"]


def test_the_spread_and_the_flips_of_runs_that_differ(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    words = ("repeat", "3", "canary-locomo", "--store", "callable", "--call", "noisy:open_memory", "--out", "o")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0  # the canary has no band
    folder, document = summary(tmp_path / "o")
    assert (document["same_content"], document["same_rankings"]) == (False, False)
    values = [
        json.loads((folder / f"run_{i}/metrics.json").read_text())["headline"][0]["estimate"]["value"]
        for i in (1, 2, 3)
    ]
    assert values[0] > values[1] > values[2]
    row = next(entry for entry in document["spread"] if entry["measure"] == "recall_any@10")
    mean = sum(values) / 3
    assert (round(row["minimum"], 10), round(row["maximum"], 10)) == (values[2], values[0])
    assert row["range"] == pytest.approx(values[0] - values[2], abs=1e-9)
    assert row["sd"] == pytest.approx((sum((value - mean) ** 2 for value in values) / 2) ** 0.5, abs=1e-9)
    # Which questions flip and move, from the files alone.
    ranks: list[dict[str, int | None]] = []
    for i in (1, 2, 3):
        rows = map(json.loads, (folder / f"run_{i}/raw_retrievals.jsonl").read_text().splitlines())
        first = {
            row["question_id"]: min((hit["rank"] for hit in row["hits"] if hit["id"] in row["gold"]), default=None)
            for row in rows
        }
        ranks.append(first)
    moved = {name: [rank[name] for rank in ranks] for name in ranks[0] if len({rank[name] for rank in ranks}) > 1}
    assert {entry["question_id"]: entry["first_gold"] for entry in document["moved"]} == moved
    flips = {name for name, first_ranks in moved.items() if len({(rank or 99) <= 10 for rank in first_ranks}) > 1}
    assert {entry["question_id"] for entry in document["moved"] if len(set(entry["found"])) > 1} == flips
    assert f"{len(flips)} of 158 questions flip at 10" in done.stdout
    assert flips


@pytest.mark.marked
@pytest.mark.real_data
def test_a_spread_beyond_the_band_is_exit_1(locomo_file: Path, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY.replace("// 4", "// 10"))
    words = ("repeat", "2", "locomo", "--store", "callable", "--call", "noisy:open_memory", "--out", "o")
    env = {"LOCOMO_DATA_DIR": str(locomo_file.parent)}
    done = recallbench(*words, cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert ", outside their bands; no single run can be believed beyond 0." in done.stdout.splitlines()[-1]
    _, document = summary(tmp_path / "o")
    assert [(band["width"], band["inside"]) for band in document["bands"]] == [(0.01, False), (0.015, False)]
    calm = recallbench("repeat", "2", "locomo", "--store", "bm25", "--out", "p", cwd=tmp_path, env=env)
    assert calm.returncode == 0
    assert calm.stdout.count("inside the band") == 2
    assert "store: bm25 instead of pgmnemo" in calm.stdout
    limited = recallbench(*words[:-1], "q", "--limit", "50", cwd=tmp_path, env=env)
    assert limited.returncode == 0
    assert "not applicable: only 50 of the questions were asked" in limited.stdout


def test_an_interrupted_repeat_leaves_complete_runs(tmp_path: Path) -> None:
    slow = NOISY.replace("    opened += 1\n", "    opened += 1\n    if opened > 4: import time; time.sleep(60)\n")
    (tmp_path / "noisy.py").write_text(slow)
    words = ["repeat", "2", "canary-locomo", "--store", "callable", "--call", "noisy:open_memory", "--out", "o"]
    process = subprocess.Popen(
        [sys.executable, "-m", "recallbench", *words],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list((tmp_path / "o").glob("*/run_1")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, printed = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in printed) == (130, False)
    (folder,) = (tmp_path / "o").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["plan.json", "run_1"]
    assert (folder / "run_1/manifest.json").exists()
    assert f"--resume {folder.relative_to(tmp_path)} goes on from there" in printed


@pytest.mark.marked
def test_a_killed_repeat_is_resumed(tmp_path: Path) -> None:
    # The state after kill -9 during the second run.
    deadly = "    if opened > 4 and pathlib.Path('deadly').exists(): os.kill(os.getpid(), 9)\n"
    (tmp_path / "noisy.py").write_text(
        "import os, pathlib\n"
        + NOISY.replace("3 * hidden", "0").replace("    opened += 1\n", "    opened += 1\n" + deadly)
    )
    words = ("repeat", "2", "canary-locomo", "--store", "callable", "--call", "noisy:open_memory")
    assert recallbench(*words, "--out", "o", cwd=tmp_path).returncode == 0
    _, document = summary(tmp_path / "o")
    (tmp_path / "deadly").touch()
    assert recallbench(*words, "--out", "p", cwd=tmp_path).returncode == -signal.SIGKILL
    (tmp_path / "deadly").unlink()
    (left,) = (tmp_path / "p").iterdir()
    assert sorted(path.name for path in left.iterdir()) == ["plan.json", "run_1"]
    before = (left / "run_1/timings.jsonl").read_bytes()

    def refused(*words: str) -> str:
        done = recallbench(*words, "--resume", left, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert sorted(path.name for path in left.iterdir()) == ["plan.json", "run_1"]
        return done.stderr

    assert "repeats something else: another limit" in refused(*words, "--limit", "9")
    assert "another corpus" in refused("repeat", "2", "canary-longmemeval", *words[3:])
    assert "without --out" in refused(*words, "--out", "q")
    report = left / "run_1/report.md"
    text = report.read_text()
    report.write_text(text + "more\n")
    assert "run_1 is not as its manifest says" in refused(*words)
    report.write_text(text)
    done = recallbench(*words, "--resume", left, cwd=tmp_path)
    assert done.returncode == 0
    assert sorted(path.name for path in left.iterdir()) == ["repeat.json", "repeat.md", "run_1", "run_2"]
    assert (left / "run_1/timings.jsonl").read_bytes() == before
    assert "\n1 of the runs from before an interruption\n" in done.stdout
    assert json.loads((left / "repeat.json").read_text()) == document
    for finished, message in ((left, "a finished one"), (tmp_path / "none", "no plan.json")):
        again = recallbench(*words, "--resume", finished, cwd=tmp_path)
        assert (again.returncode, "is no unfinished repeat" in again.stderr, message in again.stderr) == (2, True, True)


def test_unfinished_runs_of_a_killed_repeat_are_removed_by_the_next(tmp_path: Path) -> None:
    killed = tmp_path / "o" / "repeat_bm25_20260101"
    for folder in (killed, tmp_path / "o" / "repeat_bm25_20260102"):
        (folder / f"{PREFIX}dead" / "result").mkdir(parents=True)
        (folder / f"{PREFIX}dead" / OWNER).write_text(json.dumps({"marker": MARKER}) + "\n")
    (killed / "plan.json").write_text("{}")
    done = recallbench("repeat", "2", "canary-locomo", "--store", "bm25", "--limit", "5", "--out", "o", cwd=tmp_path)
    assert done.returncode in (0, 1)
    assert [path.name for path in killed.iterdir()] == ["plan.json"]
    assert not (tmp_path / "o" / "repeat_bm25_20260102").exists()


def test_wrong_usage_is_refused(tmp_path: Path) -> None:
    def outcome(*words: str) -> tuple[int, str]:
        done = recallbench("repeat", *words, cwd=tmp_path)
        return done.returncode, done.stderr

    assert outcome("1", "canary-locomo", "--store", "bm25")[0] == 2
    code, message = outcome("2", "canary")
    assert (code, "canary is several corpora" in message) == (2, True)
    code, message = outcome("2", "canary-locomo", "--store", "none-such")
    assert (code, "none-such" in message) == (2, True)
    code, message = outcome("2", "canary-locomo", "--store", "callable")
    assert (code, "module:name" in message) == (2, True)
    assert not (tmp_path / "benchmarks").exists()
    assert outcome("2", "locomo", "--store", "bm25", "--no-download")[0] == 3
