"""The user's own key: made once, for its owner alone, outside any cache."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recallbench.embedding.own_key import key_path, own_key
from recallbench.errors import InputError, UsageError


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the key of a user who has none yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    assert key_path() == tmp_path / "settings" / "recallbench" / "vectors.key"
    return key_path()


def test_a_key_is_made_at_first_use_and_read_from_then_on(path: Path, tmp_path: Path) -> None:
    key, note = own_key(tmp_path / "cache")
    assert (len(key), note) == (32, "")
    assert path.read_bytes() == key
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert own_key(tmp_path / "cache") == (key, "")
    path.unlink()
    assert own_key(tmp_path / "cache")[0] != key


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620])
def test_a_key_that_others_may_use_is_refused(path: Path, tmp_path: Path, mode: int) -> None:
    own_key(tmp_path / "cache")
    path.chmod(mode)
    with pytest.raises(InputError) as caught:
        own_key(tmp_path / "cache")
    assert (caught.value.expected, caught.value.found) == ("mode 0600", f"mode 0{mode:o}")
    assert caught.value.remedy.startswith(f"chmod 600 {path}; ")


@pytest.mark.parametrize("length", [0, 10, 40])
def test_another_file_in_its_place_is_refused_and_left_alone(path: Path, tmp_path: Path, length: int) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * length)
    path.chmod(0o600)
    with pytest.raises(InputError, match="is not a key that RecallBench made") as caught:
        own_key(tmp_path / "cache")
    assert caught.value.found == f"{length} bytes"
    assert path.read_bytes() == b"x" * length


def test_a_key_that_can_not_be_stored_serves_this_process_and_a_note_says_so(path: Path, tmp_path: Path) -> None:
    (tmp_path / "settings").write_text("a file where the settings folder should be")
    first, note = own_key(tmp_path / "cache")
    assert len(first) == 32
    assert note.startswith(f"no key of your own can be kept at {path} (")
    assert own_key(tmp_path / "cache")[0] != first


@pytest.mark.parametrize("cache", ["settings", "settings/recallbench", "link"])
def test_a_cache_that_would_hold_the_key_is_refused(path: Path, tmp_path: Path, cache: str) -> None:
    path.parent.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "settings")
    with pytest.raises(UsageError, match="would hold your own key as well"):
        own_key(tmp_path / cache)
    assert not path.exists()


MAKER = """
import sys
from pathlib import Path
from typing import Any
from recallbench.embedding.own_key import own_key
import platformdirs
print("ready", flush=True)
sys.stdin.readline()
print(own_key(Path(sys.argv[1]))[0].hex())
"""


def test_processes_that_make_a_key_at_once_agree(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAKER, str(tmp_path / "cache")]
    makers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) for _ in range(4)
    ]
    for maker in makers:
        assert maker.stdout is not None
        assert maker.stdout.readline() == "ready\n"
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("go\n")
    keys = [maker.communicate()[0].strip() for maker in makers]
    assert keys == [path.read_bytes().hex()] * 4


def test_a_key_of_another_user_is_refused(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_key(tmp_path / "cache")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InputError, match="is not your own key"):
        own_key(tmp_path / "cache")


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_key_that_is_no_file_is_refused_at_once(path: Path, tmp_path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "folder":
        path.mkdir(0o700)
    else:
        path.symlink_to("/dev/null")
    with pytest.raises(InputError):
        own_key(tmp_path / "cache")


def test_a_key_behind_a_link_is_judged_by_its_target(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    real = tmp_path / "elsewhere.key"
    real.write_bytes(b"k" * 32)
    path.symlink_to(real)
    real.chmod(0o644)
    with pytest.raises(InputError, match="others than its owner"):
        own_key(tmp_path / "cache")
    real.chmod(0o600)
    assert own_key(tmp_path / "cache") == (b"k" * 32, "")
    with pytest.raises(UsageError, match="would hold your own key as well"):
        own_key(tmp_path)


def test_a_file_replaced_after_opening_is_not_trusted(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A readable file is replaced by a private one between opening and checking."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 32)
    path.chmod(0o644)
    opened = os.open

    def replaced(name: Any, *arguments: Any) -> int:
        handle = opened(name, *arguments)
        if Path(name) == path:
            (path.parent / "new").write_bytes(b"y" * 32)
            (path.parent / "new").chmod(0o600)
            (path.parent / "new").replace(path)
        return handle

    monkeypatch.setattr(os, "open", replaced)
    with pytest.raises(InputError, match="others than its owner"):
        own_key(tmp_path / "cache")


def test_a_key_is_read_where_nothing_can_be_written(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, _ = own_key(tmp_path / "cache")
    opened = os.open

    def read_only(name: Any, flags: int, *mode: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(name, flags, *mode)

    monkeypatch.setattr(os, "open", read_only)
    assert own_key(tmp_path / "cache") == (key, "")


def test_a_full_disk_leaves_a_key_for_this_process_alone(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    key, note = own_key(tmp_path / "cache")
    assert len(key) == 32
    assert note.startswith(f"no key of your own can be kept at {path} (No space left on device)")
