"""The folders and files that a site is made of, by what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recallbench.errors import InputError, UsageError
from recallbench.foreign.layouts.registry import find_layout
from recallbench.results.folder import is_result
from recallbench.results.load.levels import NAME as LATENCY
from recallbench.results.sweep.document import NAME as SWEEP

MARK = "site.json"
"""The file by which a folder is known as a site."""
DEEPEST = 4
"""Levels of folders below one that is named in which results are looked for."""
PlaceKind = Literal["result", "published", "run", "sweep", "latency"]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder or file, and what it holds."""

    path: Path
    kind: PlaceKind
    name: str = ""
    """The end of its path, as much of it as tells it from all others."""


def find_places(paths: Sequence[Path]) -> list[Place]:
    """Return what lies at or below these paths, each once, by name.

    Raises UsageError for a path that does not exist, and InputError where nothing of use is anywhere.
    """
    found: dict[Path, PlaceKind] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"there is no folder {path}",
                expected="folders of results, sweeps or other tools",
                found="nothing",
                remedy="check the path",
            )
        if path.is_file():
            found[path] = "run"
        else:
            found |= _inside(path, DEEPEST)
    by_place = {path.resolve(): path for path in reversed(found)}
    if not by_place:
        raise InputError(
            f"there is nothing to show in {', '.join(map(str, paths))}",
            expected="result folders, sweeps, latency studies, TREC runs, or folders that another tool published",
            found="none of them",
            remedy="make one with `recallbench run`, or name the folders that hold some",
        )
    names = _names(sorted(by_place))
    places = [Place(path, found[path], names[place]) for place, path in by_place.items()]
    return sorted(places, key=lambda place: place.name)


def kind_of(folder: Path) -> PlaceKind | None:
    """Return what a folder holds; None where it is nothing that a site shows."""
    if (folder / MARK).exists():
        return None
    if (folder / SWEEP).is_file():
        return "sweep"
    if (folder / LATENCY).is_file():
        return "latency"
    if find_layout(folder) is not None:
        return "published"
    return "result" if is_result(folder) else None


def _inside(folder: Path, levels: int) -> Mapping[Path, PlaceKind]:
    kind = kind_of(folder)
    if kind is not None:
        return {folder: kind}
    if not levels or (folder / MARK).exists():
        return {}
    return {path: kind for inner in _folders(folder) for path, kind in _inside(inner, levels - 1).items()}


def _folders(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith("."):
            yield entry


def _names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the shortest end of each path that no other path has."""
    names: dict[Path, str] = {}
    open_ = list(paths)
    for count in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        ends = {path: "/".join(path.parts[-count:]) for path in open_}
        common = {end for end in ends.values() if list(ends.values()).count(end) > 1}
        names |= {path: end for path, end in ends.items() if end not in common}
        open_ = [path for path in open_ if ends[path] in common]
    return names
