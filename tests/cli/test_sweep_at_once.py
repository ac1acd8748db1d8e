"""`recallbench sweep --at-once`: several callers ask, and nothing but times differs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commandline import environment, recallbench
from sweeps import document, tuned

SEVERAL = '''
import threading

def open_memory(items, vectors, *, hidden=0):
    """Notes who asks."""
    known = {item.text: item.id for item in items}

    def search(query, k):
        with open("threads.txt", "a") as file:
            print(threading.current_thread().name.split()[0], file=file)
        id = known[query.text]
        assert hidden != 7 or id != 30, "gone"
        return [] if hidden and id % hidden == 0 else [(id, 1.0)]

    return search

open_memory.needs_vectors = False
open_memory.several_callers = True
'''
TIMES = ("p50_ms", "p95_ms", "usd_per_1000", "front_share", "cost_front_share")
LEGS = """
[[stage]]
kind = "search"
method = "store"
name = "meaning"
"set.weights" = "cosine"
[[stage]]
kind = "search"
method = "store"
name = "words"
"set.weights" = "bm25"
[[stage]]
kind = "fuse"
method = "rrf"
"""


def without_times(swept: dict[str, Any]) -> str:
    """The document as text, but for what hangs on the clock and on how many asked."""
    points = [{name: value for name, value in point.items() if name not in TIMES} for point in swept["points"]]
    same = {name: value for name, value in swept.items() if name not in ("environment", "seconds", "choice", "at_once")}
    return json.dumps({**same, "points": points, "set": swept["choice"]["set"]})


def test_several_callers_find_what_one_finds_and_the_timed_questions_are_asked_alone(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(SEVERAL)
    words = ("sweep", "tune.toml", "team", "--no-race", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    asked = (tmp_path / "threads.txt").read_text().split()
    assert set(asked) == {"MainThread"}
    (tmp_path / "threads.txt").unlink()
    done = recallbench(*words, "--at-once", "3", cwd=tmp_path)
    assert done.returncode == 0
    assert "3 callers asked a point at the same time, where its store takes several; then the questions" in done.stdout
    threads = (tmp_path / "threads.txt").read_text().split()
    assert len(threads) == len(asked)
    # Of the first point: 200 questions to a depth of 50, as many for 10 hits, then those that are timed.
    first = threads[: len(threads) // 4]
    together, alone = first[-600:-200], first[-200:]
    assert len(set(together) - {"MainThread"}) == len(set(together)) == 6
    assert set(alone) == {"MainThread"}
    one, several = document(tmp_path, 0), document(tmp_path, 1)
    assert (one["at_once"], several["at_once"]) == (1, 3)
    assert without_times(one) == without_times(several)


def test_a_store_that_takes_one_caller_is_asked_by_one_and_that_is_said(tmp_path: Path) -> None:
    tuned(tmp_path)
    done = recallbench("sweep", "tune.toml", "team", "--at-once", "2", "--no-race", "-q", cwd=tmp_path)
    assert done.returncode == 0
    swept = document(tmp_path)
    why = swept["points"][0]["one_caller"]
    assert why
    assert f"p1, p2, p3, baseline by one caller: {why}.\n" in done.stdout


def test_a_point_that_fails_on_one_of_its_callers_fails_alone(tmp_path: Path) -> None:
    tuned(tmp_path)
    (tmp_path / "memory.py").write_text(SEVERAL)
    (tmp_path / "tune.toml").write_text((tmp_path / "tune.toml").read_text().replace("hidden = 3", "hidden = 7"))
    done = recallbench("sweep", "tune.toml", "team", "--at-once", "3", "--no-race", "-q", cwd=tmp_path)
    assert done.returncode == 1
    assert [bool(point["failure"]) for point in document(tmp_path)["points"]] == [False, False, True, False]


def test_shared_legs_are_searched_by_several_callers_too(tmp_path: Path) -> None:
    (tmp_path / "legs.toml").write_text(LEGS)
    run = 'corpus = "canary-locomo"\nstore = "pgvector"\nembedder = "hash"\nout = "out"\npipeline = "legs.toml"'
    (tmp_path / "tune.toml").write_text(f'[run]\n{run}\n[parameters]\n"rrf.k" = [1, 60]\n"meaning.depth" = [10, 50]\n')
    assert recallbench("sweep", "tune.toml", "-q", cwd=tmp_path).returncode == 0
    other = ("--cache-dir", "other", "--at-once", "2", "-q")
    assert recallbench("sweep", "tune.toml", *other, cwd=tmp_path).returncode == 0
    one, several = document(tmp_path, 0), document(tmp_path, 1)
    assert without_times(one) == without_times(several)
    assert {point["one_caller"] for point in several["points"]} == {""}
    assert len({point["estimate"]["value"] for point in one["points"]}) > 1


@pytest.mark.marked
def test_an_interrupted_sweep_of_several_callers_ends_and_goes_on(tmp_path: Path) -> None:
    tuned(tmp_path)
    slow = SEVERAL.replace(
        "        id = known", "        import time; time.sleep(0.01 * (hidden == 3))\n        id = known"
    )
    (tmp_path / "memory.py").write_text(slow)
    words = [*(sys.executable, "-m", "recallbench"), *("sweep", "tune.toml", "team", "--at-once", "3", "--no-race")]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + 60
    while len(list((tmp_path / "cache").rglob("*.json.gz"))) < 2 and time.monotonic() < ends:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the answers so far are kept: the same command goes on from there" in told
    assert "Traceback" not in told
    (tmp_path / "memory.py").write_text(SEVERAL)
    assert recallbench(*words[3:], cwd=tmp_path).returncode == 0
    assert [point["kept"] for point in document(tmp_path)["points"]] == [True, True, False, False]
