"""The latencies in `timings.jsonl`: the times of single queries, cold and warm."""

from __future__ import annotations

from pathlib import Path

from recallbench.errors import InputError
from recallbench.reading import document, is_finite, objects, parsed

NAME = "timings.jsonl"
STATES = ("cold", "warm", "failed")
HARDWARE = ("machine", "cpu", "cores")
"""Facts that must be equal for two latencies to be comparable."""


def query_times(folder: Path, state: str) -> list[float]:
    """Return the milliseconds of each query timed in that state, in file order; raises InputError for a bad time."""
    values = []
    for number, row in objects(folder / NAME):
        if row.get("state") != state:
            continue
        milliseconds = row.get("ms")
        if not is_finite(milliseconds) or milliseconds < 0:
            raise InputError(
                f"{folder.name}/{NAME}, line {number}: not the time of a query",
                expected="ms, a finite number of 0 or more",
                found=str(milliseconds),
                remedy="make the result again with `recallbench run`",
            )
        values.append(float(milliseconds))
    return values


def why_none(folder: Path, state: str) -> str:
    """Return the reason why no query was timed in that state."""
    path = folder / "environment.json"
    cold = str(parsed(document(path), path).get("cold_queries", "")) if path.is_file() else ""
    return cold if state == "cold" and cold else f"{NAME} has no {state} query"


def machine(folder: Path) -> str:
    """Return the processor that the times were measured on; empty where the folder does not say."""
    return _hardware(folder).get("cpu", "")


def other_hardware(first: Path, second: Path) -> str:
    """Return why the times of two results can't be compared; empty where hardware and server are the same."""
    reasons = []
    for name, stated in (("first", _hardware(first)), ("second", _hardware(second))):
        unknown = [part for part in HARDWARE if not stated.get(part)]
        if unknown:
            reasons.append(f"the {name} does not say its {unknown[0]}")
    if reasons:
        return "; ".join(reasons)
    first_hardware, second_hardware = _hardware(first), _hardware(second)
    return "; ".join(
        f"{part} {first_hardware.get(part) or 'embedded'} and {second_hardware.get(part) or 'embedded'}"
        for part in (*HARDWARE, "server")
        if first_hardware.get(part) != second_hardware.get(part)
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
