"""The points of a sweep asked: raced where that can be, else each of them everything."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.results.sweep.document import BASELINE
from recallbench.scoring.choice.race import Race, Raced
from recallbench.studies.sweep.choices import SweepChoices
from recallbench.studies.sweep.measuring import Measuring, PointOutcome
from recallbench.studies.sweep.questions import Parts

MOST_OPEN = 16
"""Stores that a race keeps filled at the same time."""


def measure_points(
    measuring: Measuring, parts: Parts, choices: SweepChoices
) -> tuple[tuple[Raced, list[str]] | None, str]:
    """Ask the points; return the race with the names of its points, and why there was none."""
    measuring.open_encoders()
    running = [o for o in measuring.outcomes if not o.failure and o.point.name != BASELINE]
    baseline = [o for o in measuring.outcomes if not o.failure and o.point.name == BASELINE]
    everything = range(measuring.question_count)
    why_not = _why_no_race(running, parts, choices)
    if why_not:
        measuring.ask_each([*running, *baseline], everything, "asking")
        return None, why_not
    questions = measuring.questions.at(parts.tuning)
    clusters = [question.cluster for question in questions]
    race = Race(len(running), len(questions), clusters if any(clusters) else None)
    raced = measuring.race(running, race, parts.tuning)
    alive = [running[point] for point in sorted(raced.alive) if not running[point].failure]
    measuring.ask_each([*alive, *baseline], everything, "the questions held out")
    return (raced, [outcome.point.name for outcome in running]), ""


def _why_no_race(running: Sequence[PointOutcome], parts: Parts, choices: SweepChoices) -> str:
    """Return why every point is asked everything; empty where they are raced."""
    if not choices.race:
        return "not wanted"
    if len(running) < 3:
        return "there are fewer than three points"
    if parts.split is None or not parts.split.support.chooses:
        return "the part to tune by can't tell any two points apart"
    if choices.requirements:
        return "a point that the race drops might be the best of those that keep the gates"
    stores = {(o.point.plan.address, *sorted(o.point.plan.options.store_options.items())) for o in running}
    if len(stores) > MOST_OPEN:
        return f"it would keep {len(stores)} filled stores open, more than {MOST_OPEN}"
    return ""
