"""The Markdown files that a check of texts reads: those named, and those in the folders named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from recallbench.errors import InputError
from recallbench.results import manifest

_SKIPPED = ("node_modules", "site-packages", "__pycache__")


def markdown_files(places: Iterable[Path]) -> list[Path]:
    """Return the files, each once; raises InputError for a folder without any.

    Hidden folders, and those that this program wrote, hold no texts of their user's.
    """
    files: dict[Path, Path] = {}
    for place in places:
        inside = list(_inside(place)) if place.is_dir() else [place]
        if not inside:
            raise InputError(
                f"{place} has no Markdown file",
                expected="a text, or a folder with files *.md that are no part of a result",
                remedy="name the text",
            )
        for file in inside:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _inside(folder: Path) -> Iterator[Path]:
    entries = sorted(folder.iterdir())
    if any(entry.name == manifest.NAME for entry in entries):
        return
    yield from (entry for entry in entries if entry.suffix.lower() == ".md" and _is_own_file(entry))
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith(".") and entry.name not in _SKIPPED:
            yield from _inside(entry)


def _is_own_file(path: Path) -> bool:
    """Return whether it is a file that lies here; a linked one is a text of another place."""
    return path.is_file() and not path.is_symlink()
