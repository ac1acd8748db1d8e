"""Many cases of several kinds: which one a name stands for, what is noted as done, and what is kept of a failure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from faulting import kills, meanwhile, servers, warm
from faulting.kills import Outcome
from faulting.phases import ON_NODES


@dataclass(frozen=True)
class Kind:
    """Faults of one kind: how many there are to be, and how the one of a number is done."""

    name: str
    cases: int
    perform: Callable[[int, int], Outcome]
    """Given the seed and the number."""


KINDS = (
    Kind("kill", 200, lambda seed, number: kills.perform(kills.point(seed, number))),
    Kind("ray", 18, lambda seed, number: kills.perform(kills.point(seed, number, ON_NODES))),
    Kind("server", len(servers.CASES), servers.perform),
    Kind("clock", 36, meanwhile.clock_jumps),
    Kind("shared", 18, meanwhile.shared_cache),
    Kind("warm", 2, lambda _seed, number: warm.perform(number)),
)


@dataclass(frozen=True)
class Note:
    """A line of the log: one case that was done."""

    case: str
    about: str
    ended: str
    twice: int
    problems: list[str]
    seconds: float


def kind_of(name: str) -> tuple[Kind, int]:
    """The kind and the number of a case by its name, as `kill-17`."""
    word, _, number = name.rpartition("-")
    found = [kind for kind in KINDS if kind.name == word]
    if not found or not number.isdigit():
        raise SystemExit(f"there is no case {name}: {', '.join(kind.name for kind in KINDS)}, each with -NUMBER")
    return found[0], int(number)


def do(seed: int, name: str) -> Note:
    """Do a case, and say what became of it."""
    kind, number = kind_of(name)
    began = time.monotonic()
    try:
        found = kind.perform(seed, number)
    except Exception as error:  # noqa: BLE001 (the campaign goes on, and the case is a finding)
        found = Outcome(name, [f"the case itself failed: {type(error).__name__}: {error}"])
    return Note(name, found.about, found.ended, found.twice, found.problems, round(time.monotonic() - began, 2))


def note(log: Path, done: Note) -> None:
    """Add a case that is done to the log, in one write."""
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(done)) + "\n")


def noted(log: Path) -> dict[str, Note]:
    """The cases that are done, by name; one that was done again counts as it ended last."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return {read["case"]: Note(**read) for read in map(json.loads, lines)}


def forget(findings: Path, case: str) -> None:
    """Remove what was kept of a case that ends well now."""
    (findings / f"{case}.txt").unlink(missing_ok=True)


def keep(findings: Path, seed: int, done: Note) -> Path:
    """Keep what went wrong, with the command that does it again."""
    findings.mkdir(parents=True, exist_ok=True)
    path = findings / f"{done.case}.txt"
    problems = "\n\n".join(done.problems)
    path.write_text(f"{done.about}\nagain: scripts/faults --seed {seed} --replay {done.case}\n\n{problems}\n", "utf-8")
    return path
