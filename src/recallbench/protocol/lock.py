"""The sha256 of every frozen file; a file with another one is refused."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import ProtocolChanged

LOCK_FILE = "locks.toml"


@dataclass(frozen=True, slots=True)
class LockedRelease:
    """A release of an append-only file: its first `bytes` bytes, up to entry `through`, and their sha256."""

    through: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Lock:
    """The file names and hashes of one protocol version."""

    version: str
    frozen_file: str
    frozen_sha256: str
    published_sha256: str
    clarifications_file: str
    stages: tuple[LockedRelease, ...]
    """Each release of the clarifications, the one in force last."""

    @property
    def clarifications_sha256(self) -> str:
        return self.stages[-1].sha256


def lock_of(version: str, folder: Path) -> Lock:
    """The lock of a version; `folder` holds the protocol files."""
    path = folder / LOCK_FILE
    try:
        entry = tomllib.loads(path.read_text("utf-8"))[version]
        return Lock(
            version=version,
            frozen_file=entry["frozen"]["file"],
            frozen_sha256=entry["frozen"]["sha256"],
            published_sha256=entry["published"]["sha256"],
            clarifications_file=entry["clarifications"]["file"],
            stages=tuple(LockedRelease(**stage) for stage in entry["clarifications"]["stages"]),
        )
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise ProtocolChanged(
            f"{path}: the lock of protocol {version} can't be read",
            expected=f"a TOML file with a table for {version}",
            found=f"{type(error).__name__}: {error}",
            remedy=f"git checkout -- {path}",
        ) from error


def frozen_bytes(lock: Lock, folder: Path) -> bytes:
    """The frozen file as it was locked; raises ProtocolChanged otherwise."""
    path = folder / lock.frozen_file
    content = _content(path)
    _refuse_change(path, content, lock.frozen_sha256)
    return content


def clarification_bytes(lock: Lock, folder: Path) -> bytes:
    """The clarifications as they were locked, each earlier release a prefix of the next; raises ProtocolChanged."""
    path = folder / lock.clarifications_file
    content = _content(path)
    for stage in lock.stages[:-1]:
        _refuse_change(path, content[: stage.bytes], stage.sha256, f" up to clarification {stage.through}")
    _refuse_change(path, content, lock.clarifications_sha256)
    return content


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProtocolChanged(
            f"{path}: a protocol file can't be read",
            expected="the file that was installed",
            found=error.strerror or str(error),
            remedy=f"git checkout -- {path}, or install the package again",
        ) from error


def _refuse_change(path: Path, content: bytes, locked: str, part: str = "") -> None:
    actual = hashlib.sha256(content).hexdigest()
    if actual != locked:
        raise ProtocolChanged(
            f"{path}{part}: this is not the protocol file that was locked",
            expected=f"sha256 {locked}",
            found=f"sha256 {actual}",
            remedy=f"git checkout -- {path}, or install the package again (a wanted change is a new version: "
            "PROTOCOL.md, section 9)",
        )
