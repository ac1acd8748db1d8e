"""What happens to a run between two of its lines that is no signal: another run on its cache, a clock that jumps."""

from __future__ import annotations

import json
import signal
from concurrent.futures import Future, ThreadPoolExecutor, wait
from random import Random
from typing import Any

from faulting.kills import Outcome, left_by, others, undisturbed
from faulting.phases import PHASES, SCENES
from faulting.place import Done, a_place

JUMPS = (-400 * 86_400.0, -3_600.0, -0.5, 0.5, 3_600.0, 400 * 86_400.0)
"""Seconds."""
SHARED = ("corpus", "set", "sweep")
WAYS = ("waits", "killed", "at-once")
KILL = int(signal.SIGKILL)
WAITS = 3.0
"""Seconds that one command waits for another on its cache."""


def clock_jumps(seed: int, number: int) -> Outcome:
    """Set the clock while a command is at work."""
    rng = Random(f"clock {seed}:{number}")
    phase = PHASES[number % len(PHASES)]
    scene, jump, share = rng.choice(phase.scenes), rng.choice(JUMPS), rng.random()
    known = undisturbed(scene)
    line = int(known.lines[phase.name] * share / 2)
    with a_place() as place:
        # libfaketime 0.9.10 makes every sleep of Python fail, so it is Python's own clock that is set.
        clock, words = place.work.parent / "clock", SCENES[scene]
        clock.write_text("0")
        done = place.run_halted(
            words, lambda: clock.write_text(str(jump)), phase=phase.name, line=line, clock=str(clock)
        )
        found = Outcome(f"the clock jumps by {jump:+,} s at line {line:,} of {phase.name}, in {scene}")
        if not place.was_reached():
            found.problems.append("the command never came to its line")
        found.problems += left_by(place, done, known)
        for file in place.work.glob("results/*/environment.json"):
            found.problems += _impossible(json.loads(file.read_text()), str(file))
        found.ended = f"exit {done.code}"
        return found


def _impossible(value: Any, where: str) -> list[str]:
    """The times in a document that no clock could have measured."""
    if isinstance(value, dict):
        return [problem for name, part in value.items() for problem in _impossible(part, f"{where}: {name}")]
    if isinstance(value, int | float) and value < 0:
        return [f"{where} is {value}"]
    return []


def shared_cache(seed: int, number: int) -> Outcome:
    """Let two commands work on one cache: one waits or dies at a line while the other runs, or both run at once."""
    rng = Random(f"shared {seed}:{number}")
    scene, way = SHARED[number % len(SHARED)], WAYS[number // len(SHARED) % len(WAYS)]
    known, words = undisturbed(scene), SCENES[scene]
    phase = rng.choice([phase for phase in ("embed", "write", "sweep") if phase in known.lines])
    line = int(known.lines[phase] * rng.random())
    with a_place() as place, ThreadPoolExecutor(1) as runner:
        notes = place.work.parent / "notes-of-the-other"
        notes.mkdir()
        beside: list[Future[Done]] = []

        def begin() -> None:
            beside.append(runner.submit(place.run, [*words, "--label", "other"], notes=notes))

        def meanwhile() -> None:
            begin()
            wait(beside, WAITS)  # not to its end: it may have to wait too, for a lock that is held at that line

        if way == "waits":
            first = place.run_halted(words, meanwhile, phase=phase, line=line)
        else:
            begin()
            first = place.run(words, phase=phase, line=line, signal=KILL) if way == "killed" else place.run(words)
        # With all vectors there it may be done before it comes to its line.
        expected = -KILL if way == "killed" and place.was_reached() else 0
        found = Outcome(f"two on one cache, in {scene}: one {way} at line {line:,} of {phase}")
        found.ended = f"exit {first.code}"
        for one, code in ((first, expected), (beside[0].result(), 0)):
            found.problems += [f"one ended with {one.code}: {one.err[-2000:]}"] * (one.code != code)
        found.problems += others(place, known, "with two on one cache")
        third = place.run(words)
        found.problems += left_by(place, third, known)
        if third.batches and scene != "sweep":
            found.problems.append(f"the vectors of two runs were not enough: {third.batches} were embedded")
        return found
