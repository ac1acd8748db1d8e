"""What happens to a run between two of its lines that is no signal: another run on its cache, a clock that jumps."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from faulting.hook import CLOCK
from faulting.kills import Outcome, left_by, others, undisturbed
from faulting.phases import PHASES, SCENES
from faulting.place import Done, Place, a_place

JUMPS = (-400 * 86_400.0, -3_600.0, -0.5, 0.5, 3_600.0, 400 * 86_400.0)
"""Seconds."""
LIBRARIES = ("/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime")
FAKETIME = next((path for place in LIBRARIES if (path := Path(place) / "libfaketimeMT.so.1").exists()), None)
"""The library that sets the clock of one process, where it is installed; else the hook sets Python's own."""
SHARED = ("corpus", "set", "sweep")
WAYS = ("waits", "killed", "at-once")


def at_its_line(
    place: Place, words: Sequence[str], meanwhile: Callable[[], object], env: dict[str, str], **order: Any
) -> Done:
    """Run a command that waits at a line while something happens, and then goes on."""
    with ThreadPoolExecutor(1) as runner:
        running: Future[Done] = runner.submit(place.run, words, env, **order)
        while not place.was_reached() and not running.done():
            time.sleep(0.01)
        if place.was_reached():
            try:
                meanwhile()
            finally:
                (place.notes / "go").touch()
        return running.result()


def clock_jumps(seed: int, number: int) -> Outcome:
    """Set the clock while a command is at work."""
    rng = Random(f"clock {seed}:{number}")
    phase = PHASES[number % len(PHASES)]
    scene, jump, share = rng.choice(phase.scenes), rng.choice(JUMPS), rng.random()
    known = undisturbed(scene)
    line = int(known.lines[phase.name] * share / 2)
    with a_place() as place:
        clock = place.work.parent / "clock"
        clock.write_text("+0")
        env = {CLOCK: str(clock)}
        if FAKETIME is not None:
            env |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(clock), "NO_FAKE_STAT": "1"}
            env |= {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        words = SCENES[scene]
        done = at_its_line(
            place,
            words,
            lambda: clock.write_text(f"{jump:+}"),
            env,
            phase=phase.name,
            line=line,
            jumps=FAKETIME is None,
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
    known = undisturbed(scene)
    phase = "embed" if number % 2 or scene == "sweep" else "write"
    if phase not in known.lines:
        phase = "sweep"
    line = int(known.lines[phase] * rng.random())
    words = SCENES[scene]
    with a_place() as place:
        notes = place.work.parent / "notes-of-the-other"
        notes.mkdir()
        others_end: list[Done] = []

        def other() -> None:
            others_end.append(place.run([*words, "--label", "other"], notes=notes))

        order = {"phase": phase, "line": line} if way != "at-once" else {}
        if way == "killed":
            order["signal"] = int(signal.SIGKILL)
        if way == "waits":
            first = at_its_line(place, words, other, {}, **order)
        else:
            with ThreadPoolExecutor(1) as runner:
                beside = runner.submit(other)
                first = place.run(words, **order)
                beside.result()
        about = f"two on one cache, in {scene}: one {way.replace('-', ' ')}"
        found = Outcome(f"{about} at line {line:,} of {phase}" if order else about, ended=f"exit {first.code}")
        expected = -int(signal.SIGKILL) if way == "killed" else 0
        found.problems += [f"it ended with {first.code}: {first.err[-2000:]}"] * (first.code != expected)
        found.problems += [f"the other ended with {one.code}: {one.err[-2000:]}" for one in others_end if one.code]
        found.problems += others(place, known, "with two on one cache")
        third = place.run(words)
        found.problems += left_by(place, third, known)
        if third.batches and scene != "sweep":
            found.problems.append(f"the vectors of two runs were not enough: {third.batches} were embedded")
        return found
