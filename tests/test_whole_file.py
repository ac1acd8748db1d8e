"""Files are whole or absent; keys are their owner's alone, and never written over."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from killing import killed_at
from recallbench.errors import Blocked
from recallbench.whole_file import PRIVATE, drafts_of, write_errors, write_whole

KEY = bytes(range(32))


def create(path: Path, key: bytes) -> None:
    write_whole(path, key, overwrite=False, mode=PRIVATE, synced=True)


def test_a_key_is_whole_or_absent_after_a_kill_at_any_step(tmp_path: Path) -> None:
    steps = 0
    while True:
        folder = tmp_path / str(steps)
        folder.mkdir()
        killed = killed_at(steps, lambda folder=folder: create(folder / "key", KEY))
        for left in folder.glob("key"):
            assert left.read_bytes() == KEY
            assert left.stat().st_mode & 0o777 == 0o600
        create(folder / "other", KEY)
        assert set(os.listdir(folder)) <= {"key", "other"}
        if not killed:
            break
        steps += 1
    assert steps > 8
    assert sorted(os.listdir(folder)) == ["key", "other"]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("key", "link"):
        with pytest.raises(FileExistsError):
            create(tmp_path / name, KEY)
    assert (tmp_path / "key").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["key", "link"]


def test_without_hard_links_an_existing_file_is_not_overwritten_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    create(tmp_path / "key", KEY)
    assert (tmp_path / "key").read_bytes() == KEY
    with pytest.raises(FileExistsError):
        create(tmp_path / "key", b"other")
    assert os.listdir(tmp_path) == ["key"]
    assert (tmp_path / "key").read_bytes() == KEY


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "report", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "new" / "report", "half a character: \ud83d")
    assert (tmp_path / "new" / "report").read_text() == "old"
    assert os.listdir(tmp_path / "new") == ["report"]


def test_a_refusal_of_the_system_has_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(Blocked) as caught,
        write_errors("no report", expected="a folder", remedy="name another", kind=Blocked),
    ):
        write_whole(tmp_path / "file" / "report", "text")
    assert str(caught.value).splitlines() == [
        "no report",
        "  expected: a folder",
        "  found: File exists",
        "  what to do: name another",
    ]


def test_drafts_of_a_folder_take_their_places_together_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    with pytest.raises(FileNotFoundError), drafts_of(folder) as room:
        (room / "first").write_text((room / "absent").read_text())
    assert os.listdir(tmp_path) == []
    with drafts_of(folder) as room:
        (room / "inner").mkdir()
        (room / "first").write_text("1")
        (room / "inner" / "second").write_text("2")
        assert not folder.exists()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")} == {
        "set",
        "set/first",
        "set/inner",
        "set/inner/second",
    }
