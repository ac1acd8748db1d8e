"""What git says of a checkout, without being in the way of whoever works in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from recallbench.results.environment import git_state

WHO = ("-c", "user.name=n", "-c", "user.email=e")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *WHO, *words], capture_output=True, text=True, check=True).stdout


def test_asking_for_its_state_takes_no_lock_and_writes_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "first")
    # The same bytes at another time: git would write that down.
    os.utime(tmp_path / "file", (1, 1))
    index = (tmp_path / ".git" / "index").read_bytes()
    state = {"commit": git(tmp_path, "rev-parse", "HEAD").strip(), "clean": True}
    assert git_state(tmp_path) == state
    assert (tmp_path / ".git" / "index").read_bytes() == index
    (tmp_path / "file").write_text("two")
    assert git_state(tmp_path / "not there") == {**state, "clean": False}
