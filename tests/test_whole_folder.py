"""Folders that are written again: nothing but the writer's own files goes, and no kill loses the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from killing import killed_at
from recallbench import whole_folder
from recallbench.scratch import scratch
from recallbench.whole_folder import replace_folder, strangers

OWN = {"mark", "old", "data/a", "data/b"}


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{folder.name} {name}")


def again(folder: Path) -> None:
    with scratch(folder.parent) as room:
        write(room / "new", "mark", "data/a")
        replace_folder(room / "new", folder, OWN, "mark")


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(params=[True, False], ids=["exchanging", "file by file"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that can exchange two names in one step, and one that can't."""
    if not request.param:
        monkeypatch.setattr(whole_folder.ctypes, "CDLL", lambda *words, **more: object())


@pytest.mark.usefixtures("system")
def test_own_files_are_replaced_and_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    again(folder)
    assert files(folder) == {"mark": "new mark", "data/a": "new data/a"}
    write(folder, "old", "data/b")
    again(folder)
    assert files(folder) == {"mark": "new mark", "data/a": "new data/a"}
    write(folder, "old", ".git/HEAD", "data/mine")
    (folder / "empty").mkdir()
    again(folder)
    assert files(folder) == {
        "mark": "new mark",
        "data/a": "new data/a",
        ".git/HEAD": "set .git/HEAD",
        "data/mine": "set data/mine",
    }
    assert strangers(folder, OWN) == [".git", "data/mine", "empty"]
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("others", [(), (".git/HEAD",)])
def test_a_kill_at_any_step_loses_no_file(tmp_path: Path, others: tuple[str, ...]) -> None:
    killed, steps = True, 0
    while killed:
        folder = tmp_path / str(steps) / "set"
        write(folder, "mark", "old", "data/a", *others)
        killed = killed_at(steps, lambda folder=folder: again(folder))
        left = files(folder)
        assert {name: left[name] for name in others} == {name: f"set {name}" for name in others}
        assert left["mark"] in ("set mark", "new mark")
        assert left["data/a"] in ("set data/a", "new data/a")
        again(folder)
        assert set(files(folder)) == {"mark", "data/a", *others}
        assert [path.name for path in folder.parent.iterdir()] == ["set"]
        steps += 1
    assert steps > 5


@pytest.mark.usefixtures("system")
def test_nothing_outside_the_folder_goes(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "a", "b")
    folder = tmp_path / "set"
    write(folder, "mark")
    (folder / "data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="it leads out of the folder"):
        again(folder)
    assert files(tmp_path / "elsewhere") == {"a": "elsewhere a", "b": "elsewhere b"}
    assert (folder / "mark").read_text() == "set mark"
