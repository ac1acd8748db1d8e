"""The files of a folder that hold rows: found by their first bytes, one chosen, read one row at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from recallbench.corpora.stream import Stream
from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import JsonFields, shown
from recallbench.reading import regular

_FIRST = 1 << 16
"""Bytes in which the fields of the first row stand."""


def files_with(folder: Path, pattern: str, fields: Sequence[str]) -> list[Path]:
    """Return the files whose first bytes have all these fields of JSON; those that can't be read are left out."""
    try:
        files = sorted(folder.glob(pattern))
    except OSError:
        return []
    return [path for path in files if _begins_with(path, fields)]


def _begins_with(path: Path, fields: Sequence[str]) -> bool:
    try:
        with regular(path).open("rb") as file:
            first = file.read(_FIRST)
    except (InputError, OSError):
        return False
    return all(f'"{field}":'.encode() in first for field in fields)


def the_one(folder: Path, files: Sequence[Path], what: str) -> Path:
    """Return the only file; raises InputError where there are several, or none."""
    if len(files) != 1:
        raise InputError(
            f"{folder}: which {what} is meant can't be told",
            expected=f"one {what} in the folder",
            found=", ".join(path.name for path in files) or "none",
            remedy=f"put each {what} into a folder of its own",
        )
    return files[0]


def list_rows(path: Path, field: str = "") -> Iterator[JsonFields]:
    """Yield each object of a JSON list, one in memory at a time: the file is that list, or has it in a field."""
    for number, item in enumerate(Stream(regular(path), "").items(field), start=1):
        row = JsonFields(path, number, item if isinstance(item, dict) else {}, "row")
        if not isinstance(item, dict):
            raise row.refusal("", "an object in each row", shown(item))
        yield row
