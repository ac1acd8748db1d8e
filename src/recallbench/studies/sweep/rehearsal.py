"""The dry run of a sweep: every point asked a few questions, and from that the time that the whole would take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date

from recallbench.embedding.machine import cpu_model
from recallbench.progress import Progress
from recallbench.results.sweep.document import BASELINE
from recallbench.retrieval.timing import SAMPLE
from recallbench.studies.sweep.kept import SweepCache
from recallbench.studies.sweep.measuring import Measuring
from recallbench.studies.sweep.points import SweepPoint
from recallbench.studies.sweep.questions import SweepQuestions

FEW = 20
"""Questions that each point is asked."""


@dataclass(frozen=True, slots=True)
class RehearsedPoint:
    """One point of a dry run."""

    point: SweepPoint
    kept: bool
    """Whether all its answers are kept: it takes no time."""
    seconds: float | None
    """What it would take; None where it failed."""
    failure: str = ""
    anew: float = 0.0
    """What it would take to ask it again, whatever is kept."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A dry run."""

    points: tuple[RehearsedPoint, ...]
    questions: int
    """Those that each point was asked."""
    embedding: float
    """Seconds for vectors, if none of those that are still needed is kept."""
    around: int = 0
    """Points around the chosen one that are none of the sweep's own, at most."""
    again: int = 0
    """How often the chosen point and the baseline are asked again."""
    left_out: int = 0
    """Combinations of parameters that can't be measured."""

    @property
    def seconds(self) -> float:
        """What the points take that did not fail, and what comes after the choice at most."""
        own = [each.anew for each in self.points if each.seconds is not None and each.point.name != BASELINE]
        one = sum(own) / len(own) if own else 0.0
        baseline = sum(each.anew for each in self.points if each.point.name == BASELINE)
        further = self.around * one + self.again * (one + baseline)
        return self.embedding + sum(each.seconds or 0.0 for each in self.points) + further


def rehearse(
    points: Sequence[SweepPoint],
    questions: SweepQuestions,
    cache: SweepCache,
    sweep: str,
    at_once: int,
    progress: Progress,
) -> Rehearsal:
    """Ask every point that is not kept a few questions of the first haystack that has any; nothing is kept of it."""
    few = _few(questions)
    segments = sum(questions.sizes.values()) / sum(few.sizes.values())
    measuring = Measuring(points, few, None, sweep, progress, date.today(), at_once)
    rehearsed = []
    anew: dict[str, float] = {}
    with closing(measuring), progress.stage("the dry run", len(points), "points") as advance:
        started = time.perf_counter()
        measuring.open_encoders()
        embedding = (time.perf_counter() - started) * segments if measuring.computed else 0.0
        for outcome in measuring.outcomes:
            found = cache.find(outcome.address) if outcome.address else None
            if found is not None and not found.timed_on(cpu_model()).missing(questions.asked):
                took = sum(found.seconds.values()) + sum(found.milliseconds.values()) / 1000
                rehearsed.append(RehearsedPoint(outcome.point, kept=True, seconds=0.0, anew=took))
                advance(1)
                continue
            if outcome.address in anew:
                # It differs from another in nothing but the k that it is judged at.
                rehearsed.append(RehearsedPoint(outcome.point, kept=False, seconds=0.0, anew=anew[outcome.address]))
                advance(1)
                continue
            started = time.perf_counter()
            measuring.ask_each([outcome], range(len(few.asked)), outcome.point.name)
            seconds = time.perf_counter() - started
            advance(1)
            if outcome.answers is None:
                rehearsed.append(RehearsedPoint(outcome.point, kept=False, seconds=None, failure=outcome.failure))
                continue
            phases, single = outcome.answers.seconds, sum(outcome.answers.milliseconds.values()) / 1000
            each = phases.get("search", 0.0) / len(few.asked) * len(questions.asked)
            alone = single / max(1, len(outcome.answers.milliseconds)) * min(SAMPLE, len(questions.asked))
            filling = phases.get("ingest", 0.0)
            rest = max(0.0, seconds - filling - phases.get("search", 0.0) - single)
            whole = rest + filling * segments + each + alone
            anew[outcome.address] = whole
            rehearsed.append(RehearsedPoint(outcome.point, kept=False, seconds=whole, anew=whole))
    return Rehearsal(tuple(rehearsed), len(few.asked), embedding)


def _few(questions: SweepQuestions) -> SweepQuestions:
    haystack = next(haystack for haystack in questions.haystacks if haystack.questions)
    return SweepQuestions([replace(haystack, questions=haystack.questions[:FEW])], questions.survey)
