"""Commands that a signal ends at a line of a phase, and that are then run again."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from faulting.phases import PHASES, SCENES, Phase
from faulting.place import PART, Done, Place, a_place, content_of
from recallbench.embedding.forms.function import AT_ONCE

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TRIES = 4
"""How often a line is drawn again, nearer to the beginning, where the command ended without coming to it."""


@dataclass(frozen=True)
class Point:
    """Where which signal strikes."""

    number: int
    phase: str
    scene: str
    order: signal.Signals
    share: float
    """How far into the phase, by lines."""


@dataclass
class Outcome:
    """What became of a case: whatever stands in `problems` must not be."""

    about: str
    problems: list[str] = field(default_factory=list)
    ended: str = ""
    """In a word, how the command that was struck ended."""
    twice: int = 0
    """Texts that were embedded twice."""


@dataclass(frozen=True)
class Undisturbed:
    """What a scene leaves when nothing happens."""

    content: str
    names: frozenset[str]
    lines: dict[str, int]
    texts: int


def point(seed: int, number: int, phases: Sequence[Phase] = PHASES) -> Point:
    """The point of a number: phases and signals take turns, the rest is drawn."""
    rng = Random(f"{seed}:{number}")
    phase = phases[number % len(phases)]
    order = SIGNALS[number // len(phases) % len(SIGNALS)]
    return Point(number, phase.name, rng.choice(phase.scenes), order, rng.random())


@cache
def undisturbed(scene: str) -> Undisturbed:
    """Run a scene with nobody disturbing it, and count its lines."""
    with a_place() as place:
        done = place.run(SCENES[scene], phase="none")
        if done.code:
            raise SystemExit(f"recallbench {' '.join(SCENES[scene])} ended with {done.code}:\n{done.err}")
        lines, names = place.counts(), frozenset(place.names())
        (folder,) = place.results()
        content = content_of(folder)
        if left := place.left_over():
            raise SystemExit(f"recallbench {' '.join(SCENES[scene])} left {', '.join(left)}")
        return Undisturbed(content, names, lines, sum(done.batches))


def perform(one: Point) -> Outcome:
    """Strike, run the same command again, and compare with what it is when nobody disturbs it."""
    known, words = undisturbed(one.scene), SCENES[one.scene]
    lines = known.lines.get(one.phase, 0)
    if not lines:
        raise SystemExit(f"{one.scene} never comes to the phase {one.phase}")
    for attempt in range(TRIES):
        line = int(lines * one.share / 2**attempt)
        with a_place() as place:
            struck = place.run(words, phase=one.phase, line=line, signal=int(one.order))
            if not place.was_reached():
                continue
            about = f"{one.order.name} at line {line:,} of {lines:,} of {one.phase}, in: recallbench {' '.join(words)}"
            found = Outcome(about, ended=_ending(struck))
            found.problems += _told_apart(struck, one.order)
            if one.order is signal.SIGKILL:
                place.note_servers()
            elif found.ended != "by force":
                found.problems += [f"after the interruption there is {name}" for name in place.left_over()]
            found.problems += others(place, known, "after the signal")
            again = place.run(words)
            found.problems += left_by(place, again, known)
            found.twice = max(0, sum(struck.batches) + sum(again.batches) - known.texts)
            if found.twice > AT_ONCE:
                found.problems.append(f"{found.twice} texts were embedded twice, with batches of {AT_ONCE}")
            return found
    return Outcome(f"{one.phase} in {one.scene}", ["the command never came to its line"])


def _ending(done: Done) -> str:
    if "by force" in done.err:
        return "by force"
    names = {-int(signal.SIGKILL): "killed", 130: "in good order", 0: "with its work done"}
    return names.get(done.code, f"with exit code {done.code}")


def _told_apart(done: Done, order: signal.Signals) -> list[str]:
    """What is wrong with the end of a command that was struck."""
    if order is signal.SIGKILL:
        return [] if done.code == -order else [f"killed, it ended with {done.code}"]
    problems = []
    if done.code not in (130, -order) or "interrupted" not in done.err:
        problems.append(f"interrupted, it ended with {done.code}: {done.err[-2000:]}")
    if "Traceback" in done.err or "defect" in done.err:
        problems.append(f"it printed a traceback: {done.err[-3000:]}")
    return problems


def others(place: Place, known: Undisturbed, when: str) -> list[str]:
    """The results that are not what they are when nobody disturbs."""
    contents = {folder.name: content_of(folder) for folder in place.results()}
    return [
        f"{when} {name} is another: {content[:500]}"
        for name, content in contents.items()
        if content not in (known.content, PART)
    ]


def left_by(place: Place, again: Done, known: Undisturbed) -> list[str]:
    """What is wrong after the next run."""
    problems = others(place, known, "after the next run")
    if again.code:
        problems.append(f"run again, it ended with {again.code}: {again.err[-2000:]}")
    if known.content not in map(content_of, place.results()):
        problems.append("run again, it left no whole result")
    names = place.names()
    problems += [f"after the next run there is {name}" for name in (*place.left_over(), *sorted(names - known.names))]
    return problems + [f"after the next run {name} is missing" for name in sorted(known.names - names)]
