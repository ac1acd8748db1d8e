"""Results in the order in which they were made, and the latest of several."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from recallbench.errors import Blocked, InputError
from recallbench.reading import document, parsed
from recallbench.results.folder import BLOCKED, is_result

_DAY = re.compile(r"(?:^|_)(\d{8})(?=_|$)")
_WILD = re.compile(r"[*?\[]")


def start_of(folder: Path) -> datetime:
    """Return when a run started, by environment.json, else the day in the folder's name; InputError without either."""
    path = folder / "environment.json"
    stated = str(parsed(document(path), path).get("started", "")) if path.is_file() else ""
    try:
        moment = datetime.fromisoformat(stated)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        pass
    for digits in reversed(_DAY.findall(folder.name)):
        try:
            return datetime.strptime(digits, "%Y%m%d").replace(tzinfo=UTC)
        except ValueError:
            continue
    raise InputError(
        f"{folder}: the start of its run is not known",
        expected="`started` in environment.json, or <name>_<YYYYMMDD>",
        found=stated or "neither",
        remedy="make the result again with `recallbench run`, or name the folder after its day",
    )


def result_folders(place: str, base: Path) -> list[Path]:
    """Return the folders that a path means, by name: itself, those its wildcards match, or the results in it."""
    path = base / place
    if path.exists() or not _WILD.search(place):
        inside = (
            sorted(entry for entry in path.iterdir() if entry.is_dir()) if path.is_dir() and not is_result(path) else []
        )
        return [folder for folder in inside if is_result(folder)] or [path]
    return [Path(match) for match in sorted(glob.glob(str(path), recursive=True)) if Path(match).is_dir()]


def latest_result(place: str, base: Path) -> Path:
    """Return the result that a path means, the latest of several; raises Blocked where that could not be made."""
    folders = result_folders(place, base)
    if len(folders) == 1 and not _WILD.search(place) and not is_result(folders[0]):
        raise _no_result(place, "no such folder" if not folders[0].exists() else "a folder without metrics.json")
    complete = [folder for folder in folders if (folder / "metrics.json").is_file()]
    blocked = [folder for folder in folders if (folder / BLOCKED).is_file()]
    best = max(complete, key=lambda folder: (start_of(folder), folder.name), default=None)
    # On the same day a completed result counts: the name of a BLOCKED folder has no hour.
    last = max(blocked, key=lambda folder: (start_of(folder).date(), folder.name), default=None)
    if last is not None and (best is None or start_of(last).date() > start_of(best).date()):
        raise Blocked(
            f"the latest result of {place} could not be made",
            expected="a result",
            found=f"{last.name}/{BLOCKED}",
            remedy=f"read {last / BLOCKED}: it names what is missing",
        )
    if best is None:
        raise _no_result(place, "nothing that it matches is a result")
    return best


def by_start(folders: Iterable[Path]) -> list[tuple[datetime, Path]]:
    """Return the folders with the start of their runs, earliest first."""
    return sorted(((start_of(folder), folder) for folder in folders), key=lambda dated: (dated[0], dated[1].name))


def _no_result(place: str, found: str) -> Blocked:
    return Blocked(
        f"there is no result at {place}",
        expected="a result folder, a folder of results, or a pattern that matches results",
        found=found,
        remedy="make one first with `recallbench run`, or name another place",
    )
