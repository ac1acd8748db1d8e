"""Processes that a killed owner left are ended by what it noted of them, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from recallbench.cluster.leftovers import PROCESSES, descendants, end_leftovers

SLEEPS = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_processes_of_a_dead_owner_are_ended_and_no_others() -> None:
    with subprocess.Popen(SLEEPS) as left, subprocess.Popen(SLEEPS) as another:
        noted = descendants()
        assert {str(left.pid), str(another.pid)} <= noted.keys()
        assert str(os.getpid()) not in noted
        # Its number was given to another process meanwhile.
        facts = {PROCESSES: {str(left.pid): noted[str(left.pid)], str(another.pid): "1", "a word": "2"}}
        end_leftovers(Path("nowhere"), facts)
        assert left.wait(10) == -9
        assert another.poll() is None
        another.kill()


def test_notes_of_a_cluster_that_never_was_are_passed_over() -> None:
    end_leftovers(Path("nowhere"), {})
    end_leftovers(Path("nowhere"), {PROCESSES: ["1"]})


def test_whoever_writes_in_its_folder_is_ended_too_but_not_the_one_who_looks(tmp_path: Path) -> None:
    # Killed while its cluster started, an owner has noted nothing.
    room, other = tmp_path / "room", tmp_path / "room-of-another"
    started = []
    for folder in (room, other):
        folder.mkdir()
        with (folder / "log").open("w") as log:
            started.append(subprocess.Popen(["sleep", "60"], stdout=log))
    try:
        with (room / "owner").open("w"):
            end_leftovers(room, {})
        assert started[0].wait(10) == -9
        assert started[1].poll() is None
    finally:
        for process in started:
            process.kill()
            process.wait()
