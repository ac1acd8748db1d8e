"""Processes that a killed owner left are ended by what it noted of them, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recallbench.cluster.leftovers import PROCESSES, RAYS, descendants, end_leftovers, rays_descendants

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


def test_what_ray_has_there_is_ended_too_but_not_who_looks_nor_a_reader(tmp_path: Path) -> None:
    # Killed while its cluster started, an owner has noted nothing.
    room, other = tmp_path / "room", tmp_path / "room-of-another"
    started = []
    for folder, name in ((room, "ray::IDLE"), (other, "ray::IDLE"), (room, "less")):
        folder.mkdir(exist_ok=True)
        with (folder / "log").open("a") as log:
            started.append(subprocess.Popen([name, "60"], executable="/bin/sleep", stdout=log))
    try:
        with (room / "owner").open("w"):
            end_leftovers(room, {})
        assert started[0].wait(10) == -9
        assert [process.poll() for process in started[1:]] == [None, None]
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("command", "of_ray"),
    [
        (["ray::RayWorker.do", "60"], True),
        (["/venv/lib/python3.11/site-packages/ray/core/src/ray/gcs/gcs_server", "60"], True),
        (["/venv/bin/python", "-u", "/venv/lib/python3.11/site-packages/ray/_private/log_monitor.py", "60"], True),
        (["/home/ray/venv/bin/python", "server.py", "/venv/lib/python3.11/site-packages/ray/x"], False),
        (["/usr/lib/postgresql/16/bin/postgres", "-D", "/tmp/.recallbench-ray-x/session"], False),
        (["less", "60"], False),
    ],
)
def test_processes_of_ray_are_told_from_servers_and_code_of_the_users_own(command: list[str], of_ray: bool) -> None:
    assert (RAYS.match(b"".join(os.fsencode(word) + b"\0" for word in command)) is not None) is of_ray


def test_only_what_is_rays_is_noted() -> None:
    with (
        subprocess.Popen(["ray::IDLE", "60"], executable="/bin/sleep") as of_ray,
        subprocess.Popen(SLEEPS) as own,
    ):
        noted = rays_descendants()
        assert str(of_ray.pid) in noted
        assert str(own.pid) not in noted
        of_ray.kill()
        own.kill()
