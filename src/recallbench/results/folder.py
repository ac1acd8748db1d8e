"""The folder of a result: its name, and its writing, which is all or nothing and never over another result."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recallbench.confidential import concealed
from recallbench.errors import InputError, UsageError
from recallbench.escaping.markdown import fenced, inline
from recallbench.scratch import scratch

BLOCKED = "BLOCKED.md"
NAME_ONE = "name the folder that `recallbench run` printed: it holds metrics.json"


def is_result(folder: Path) -> bool:
    """Return whether a run left this folder, be it a BLOCKED one."""
    return (folder / "metrics.json").is_file() or (folder / BLOCKED).is_file()


def folder_name(version: str, day: date, label: str | None = None) -> str:
    """Return `<version>_<YYYYMMDD>[_label]`."""
    parts = [version, f"{day:%Y%m%d}", *([label] if label else [])]
    return "_".join(map(folder_word, parts))


def folder_word(text: str) -> str:
    """Return the text with dashes for all that a path can't hold."""
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-") or "unnamed"


def free_folder(parent: Path, name: str) -> Path:
    """Return the first folder of name, name_2, name_3, … that does not exist."""
    folder = parent / name
    number = 2
    while folder.exists():
        folder = parent / f"{name}_{number}"
        number += 1
    return folder


def explicit_folder(folder: Path) -> Path:
    """Return the folder that a user named; raises UsageError where it exists."""
    if folder.exists() or folder.is_symlink():
        raise UsageError(
            f"{folder} exists already",
            expected="a folder that does not exist: a result is never overwritten",
            found=f"an existing {'folder' if folder.is_dir() else 'file'}",
            remedy="name another --folder, or leave it out to get a free default name",
        )
    return folder


def check_writable(folder: Path) -> None:
    """Raise InputError where nothing can be written, before work is done. Leftovers of killed runs are removed."""
    parent = folder.parent
    while not parent.exists():
        parent = parent.parent
    try:
        # Only trying is sure: permission bits say nothing of read-only file systems, nor do they bind root.
        with scratch(parent):
            pass
    except OSError as error:
        raise _unwritable(folder, f"{parent}: {error.strerror}") from error


@dataclass(slots=True)
class Staging:
    """A temporary folder, and the result folder it becomes."""

    temporary: Path
    folder: Path


@contextmanager
def staged(folder: Path, *, explicit: bool = True) -> Iterator[Staging]:
    """Yield a temporary folder that becomes `folder` when the block ends well, and vanishes when it does not.

    Where another run has made `folder` meanwhile, an explicit name is refused, and a default one gets a number.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch(folder.parent) as room:
            staging = Staging(room / "result", folder)
            staging.temporary.mkdir()
            yield staging
            while True:
                if staging.folder.exists():
                    if explicit:
                        raise _folder_exists(folder)
                    staging.folder = free_folder(folder.parent, folder.name)
                try:
                    staging.temporary.rename(staging.folder)
                    break
                except OSError as error:
                    if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                        raise
    except OSError as error:
        raise _unwritable(folder, str(error)) from error


def not_a_result(folder: Path, found: str, remedy: str = NAME_ONE) -> InputError:
    """Return the error for a path that holds no result."""
    return InputError(
        f"{folder} is not a result folder" if folder.exists() else f"there is no folder {folder}",
        expected="a folder that `recallbench run` wrote",
        found=found,
        remedy=remedy,
    )


def damaged_result(folder: Path, file: str, found: str) -> InputError:
    """Return the error for a result with a file that can't be read."""
    return InputError(
        f"{folder} is a damaged result: {file} can't be read",
        expected=f"{file} as `recallbench run` wrote it",
        found=found,
        remedy="get the folder again from where it was made, or measure anew",
    )


def _folder_exists(folder: Path) -> UsageError:
    return UsageError(
        f"another run made {folder} meanwhile",
        expected="a folder that does not exist",
        found="an existing folder",
        remedy="run again: it is quick, since the vectors are kept",
    )


def _unwritable(folder: Path, reason: str) -> InputError:
    return InputError(
        f"the result can't be written to {folder}",
        expected="a writable place with room for it",
        found=reason,
        remedy="name another place with --out or --folder, or free some room; nothing half-written was left",
    )


def write_blocked(folder: Path, corpus: str, what: str, found: str, remedy: str) -> None:
    """Write a folder that says why there is no result, and how to get one."""
    with staged(folder, explicit=False) as staging:
        text = (
            f"# BLOCKED: no result for {inline(corpus)}\n\n"
            "The run could not be made. Wherever this folder is mentioned it carries the label BLOCKED, "
            "and it is never cited.\n\n"
            f"**What is missing:** {_markdown(what)}\n\n"
            + (f"**Found:** {_markdown(found)}\n\n" if found else "")
            + f"**What gets it:** {_markdown(remedy)}\n"
        )
        (staging.temporary / BLOCKED).write_text(concealed(text), encoding="utf-8")


def _markdown(text: str) -> str:
    """Return a line as inline text, several lines as a fenced block."""
    return "\n\n" + "\n".join(fenced(text)) if "\n" in text else inline(text)
