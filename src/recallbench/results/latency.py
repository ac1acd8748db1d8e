"""`timings.jsonl` read back: how long single queries took, cold and warm."""

from __future__ import annotations

from pathlib import Path

from recallbench.errors import InputError
from recallbench.reading import document, is_finite, objects, parsed

NAME = "timings.jsonl"
STATES = ("cold", "warm", "failed")
HARDWARE = ("machine", "cpu", "cores")
"""What must be alike for two latencies to say anything of each other."""


def query_times(folder: Path, state: str) -> list[float]:
    """Milliseconds of each query timed in that state, in file order; raises InputError for what is no time."""
    values = []
    for number, row in objects(folder / NAME):
        if row.get("state") != state:
            continue
        taken = row.get("ms")
        if not is_finite(taken) or taken < 0:
            raise InputError(
                f"{folder.name}/{NAME}, line {number}: not the time of a query",
                expected="ms, a finite number of 0 or more",
                found=str(taken),
                remedy="make the result again with `recallbench run`",
            )
        values.append(float(taken))
    return values


def why_none(folder: Path, state: str) -> str:
    """Why no query was timed in that state, as far as the folder says."""
    path = folder / "environment.json"
    cold = str(parsed(document(path), path).get("cold_queries", "")) if path.is_file() else ""
    return cold if state == "cold" and cold else f"{NAME} has no {state} query"


def machine(folder: Path) -> str:
    """The processor that the times are of; empty where the folder does not say."""
    return _hardware(folder).get("cpu", "")


def other_hardware(first: Path, second: Path) -> str:
    """Why times of the two can't be held against each other; empty where they are of like hardware, or one server."""
    reasons = []
    for name, stated in (("first", _hardware(first)), ("second", _hardware(second))):
        unknown = [part for part in HARDWARE if not stated.get(part)]
        if unknown:
            reasons.append(f"the {name} does not say its {unknown[0]}")
    if reasons:
        return "; ".join(reasons)
    one, other = _hardware(first), _hardware(second)
    return "; ".join(
        f"{part} {one.get(part) or 'embedded'} and {other.get(part) or 'embedded'}"
        for part in (*HARDWARE, "server")
        if one.get(part) != other.get(part)
    )


def _hardware(folder: Path) -> dict[str, str]:
    path = folder / "environment.json"
    if not path.is_file():
        return {}
    stated = parsed(document(path), path)
    machine, options = stated.get("machine"), stated.get("options")
    values = {part: str(machine[part]) for part in HARDWARE if machine.get(part)} if isinstance(machine, dict) else {}
    server = options.get("dsn") if isinstance(options, dict) else None
    return {**values, "server": str(server)} if server else values
