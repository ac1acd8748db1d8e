"""The unfinished work of a process killed at any step is swept by the next one."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from killing import killed_at
from recallbench.results.folder import staged
from recallbench.scratch import MARKER, OWNER, PREFIX, Scratch, scratch, sweep
from recallbench.whole_file import write_whole


def write_result(folder: Path) -> None:
    with staged(folder / "result") as staging:
        for name in ("metrics.json", "report.md"):
            (staging.temporary / name).write_text(name)


def write_file(folder: Path) -> None:
    write_whole(folder / "baseline.json", "new")


def throw_away(folder: Path) -> None:
    with scratch(folder) as room:
        for name in ("a", "p", "z"):
            (room / name).write_text(name)
            (room / f"{name}s").mkdir()
            (room / f"{name}s" / name).write_text(name)


@pytest.mark.parametrize(
    ("work", "outcomes"),
    [
        (write_result, [["result"], []]),
        (write_file, [["baseline.json"]]),
        (throw_away, [[]]),
    ],
)
def test_work_killed_at_any_step_is_swept_by_the_next(
    tmp_path: Path, work: Callable[[Path], None], outcomes: list[list[str]]
) -> None:
    steps = 0
    while True:
        folder = tmp_path / str(steps)
        folder.mkdir()
        if work is write_file:
            (folder / "baseline.json").write_text("old")
        killed = killed_at(steps, lambda folder=folder: work(folder))
        with scratch(folder):
            pass
        assert sorted(os.listdir(folder)) in outcomes
        for path in folder.glob("result"):
            assert sorted(os.listdir(path)) == ["metrics.json", "report.md"]
        for path in folder.glob("*.json"):
            assert path.read_text() in ("old", "new")
        if not killed:
            break
        steps += 1
    assert steps > 8


def test_a_living_owners_folder_stays(tmp_path: Path) -> None:
    with scratch(tmp_path) as living:
        (living / "work").write_text("half")
        assert sweep(tmp_path) == []
        with scratch(tmp_path) as other:
            assert {path.name for path in tmp_path.iterdir()} == {living.name, other.name}
        assert (living / "work").exists()
    assert list(tmp_path.iterdir()) == []


def test_files_of_others_stay(tmp_path: Path) -> None:
    strange = tmp_path / f"{PREFIX}strange"
    strange.mkdir()
    (strange / "thesis.txt").write_text("mine")
    claimed = tmp_path / f"{PREFIX}claimed"
    claimed.mkdir()
    (claimed / OWNER).write_text('{"marker": "another program"}\n')
    deep = tmp_path / f"{PREFIX}deep"
    deep.mkdir()
    (deep / OWNER).write_text("[" * 100_000)
    target = tmp_path / "target"
    target.mkdir()
    (target / OWNER).write_text(f'{{"marker": "{MARKER}"}}\n')
    (tmp_path / f"{PREFIX}link").symlink_to(target)
    (tmp_path / f"{PREFIX}file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    assert sweep(tmp_path) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_within_is_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "kept"
    outside.mkdir()
    (outside / "thesis.txt").write_text("mine")
    dead = tmp_path / "place" / f"{PREFIX}dead"
    dead.mkdir(parents=True)
    (dead / OWNER).write_text(f'{{"marker": "{MARKER}"}}\n')
    (dead / "link").symlink_to(outside)
    assert sweep(tmp_path / "place") == [dead]
    assert (outside / "thesis.txt").read_text() == "mine"


def test_a_folder_removed_before_its_lock_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, times = fcntl.flock, []

    def meanwhile(file: int, how: int) -> None:
        if not times:
            times.append(1)
            # Another run finds the folder before its lock, and takes it for a dead run's.
            assert len(sweep(tmp_path)) == 1
        real(file, how)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", meanwhile)
        room = Scratch(tmp_path)
    assert room.path.is_dir()
    assert [path.name for path in room.path.iterdir()] == [OWNER]
    room.remove()
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from recallbench.interruption import raise_on_signals
from recallbench.scratch import scratch
raise_on_signals()
name = sys.argv[2]
real = getattr(os, name)
def struck(*given):
    os.kill(os.getpid(), signal.SIGINT)
    return real(*given)
try:
    setattr(os, name, struck)
    with scratch(Path(sys.argv[1])) as room:
        (room / "draft").write_text("half")
except KeyboardInterrupt:
    print("interrupted", os.listdir(sys.argv[1]))
"""


@pytest.mark.parametrize("step", ["pwrite", "unlink"])
def test_an_interruption_while_it_is_made_or_removed_leaves_nothing(tmp_path: Path, step: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), step], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted []\n", "")
