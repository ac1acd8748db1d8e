"""Folders that are written again: no file but the writer's own ever goes, whenever this process is killed."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Collection, Iterator
from pathlib import Path

_AT_CWD, _EXCHANGE = -100, 2
"""Of renameat2: paths as they are, and both change places in one step."""


def replace_folder(draft: Path, folder: Path, own: Collection[str], mark: str) -> None:
    """Put a draft in the place of a folder; of what is there only the files that `own` names go.

    Names are relative, with slashes; `mark` is the file that says who wrote the folder. It happens in one step where
    there is nothing else in the folder and the system knows how; else file by file, so that the mark always stands
    beside files that it speaks of. Raises OSError, before anything goes, where a name leads out of the folder.
    """
    if not folder.exists():
        draft.rename(folder)
        return
    if not strangers(folder, own) and _exchanged(draft, folder):
        if not strangers(draft, own):
            return
        _exchanged(draft, folder)  # somebody put a file there at the last moment
    fresh = {path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file()}
    for name in {*own, *fresh}:
        place = (folder / name).parent
        if place.resolve() != (folder.resolve() / name).parent:
            raise OSError(errno.ELOOP, "it leads out of the folder", str(place))
    for name in sorted(set(own) - fresh):
        (folder / name).unlink(missing_ok=True)
    for name in sorted(fresh, key=lambda name: (name != mark, name)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(draft / name, folder / name)


def strangers(folder: Path, own: Collection[str]) -> list[str]:
    """Return what a folder holds beside these files and the folders that they are in, by name, outermost first."""
    return sorted(_strangers(folder, "", own))


def _strangers(folder: Path, prefix: str, own: Collection[str]) -> Iterator[str]:
    for entry in os.scandir(folder):
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            inside = f"{name}/"
            if any(known.startswith(inside) for known in own):
                yield from _strangers(Path(entry.path), inside, own)
            else:
                yield name
        elif name not in own:
            yield name


def _exchanged(one: Path, other: Path) -> bool:
    """Let two names change places in one step; return whether the system could."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return rename is not None and rename(_AT_CWD, os.fsencode(one), _AT_CWD, os.fsencode(other), _EXCHANGE) == 0
