"""`timings.jsonl` read back: how long single queries took, cold and warm."""

from __future__ import annotations

import math
from pathlib import Path

from recallbench.errors import InputError
from recallbench.reading import document, objects, parsed

NAME = "timings.jsonl"
STATES = ("cold", "warm")


def query_times(folder: Path, state: str) -> list[float]:
    """Milliseconds of each query timed in that state, in file order; raises InputError for what is no time."""
    found = []
    for number, row in objects(folder / NAME):
        if row.get("state") != state:
            continue
        taken = row.get("ms")
        if isinstance(taken, bool) or not isinstance(taken, (int, float)) or not math.isfinite(taken) or taken < 0:
            raise InputError(
                f"{folder.name}/{NAME}, line {number}: not the time of a query",
                expected="ms, a finite number of 0 or more",
                found=str(taken),
                remedy="make the result again with `recallbench run`",
            )
        found.append(float(taken))
    return found


def why_none(folder: Path, state: str) -> str:
    """Why no query was timed in that state, as far as the folder says."""
    path = folder / "environment.json"
    told = str(parsed(document(path), path).get("cold_queries", "")) if path.is_file() else ""
    return told if state == "cold" and told else f"{NAME} has no {state} query"


def machine(folder: Path) -> str:
    """The processor that the times are of; empty where the folder does not say."""
    path = folder / "environment.json"
    if not path.is_file():
        return ""
    stated = parsed(document(path), path).get("machine")
    return str(stated.get("cpu", "")) if isinstance(stated, dict) else ""
