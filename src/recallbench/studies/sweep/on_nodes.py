"""The points of a sweep as the job of workers: each keeps the systems that it opened, as this process would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from recallbench.cluster.crew import Crew, open_crew
from recallbench.cluster.engine import HERE
from recallbench.cluster.job import Failed, Share
from recallbench.embedding.machine import cpu_model
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress, Silent
from recallbench.runs.on_nodes import deciding_facts, received, sent, share_machine
from recallbench.runs.plan import Plan
from recallbench.studies.sweep.kept import Answers
from recallbench.studies.sweep.measuring import Measuring, PointOutcome
from recallbench.studies.sweep.points import SweepPoint
from recallbench.studies.sweep.questions import open_questions

MOST_OPEN = 16
"""Systems that a worker keeps open."""


class AskedPoint(NamedTuple):
    """A point that a worker asks some questions."""

    address: str
    point: SweepPoint
    places: tuple[int, ...]
    answers: Answers | None
    """What it answered before."""
    last: bool
    """Whether it is asked nothing after that."""


@dataclass(frozen=True, slots=True)
class PointJob:
    """Asking points of a sweep."""

    plans: tuple[Plan, ...]
    """One for each encoder and each set of stores, as they are sent."""
    sweep: str
    at_once: int
    today: date

    @property
    def share(self) -> Share:
        return "node"  # times are taken

    def open(self, cores: int, *, gpu: bool) -> OpenedPoints:
        plans = [replace(plan, options=received(plan.options)) for plan in self.plans]
        share_machine(plans, cores)
        return OpenedPoints(self, plans)


class OpenedPoints:
    """Points on a worker."""

    def __init__(self, job: PointJob, plans: Sequence[Plan]) -> None:
        self._facts = _facts(plans)
        questions = open_questions(plans[0].open_corpus(fetch=False), plans[0].options)
        self._measuring = Measuring([], questions, None, job.sweep, Silent(), job.today, job.at_once)
        self._known: dict[str, PointOutcome] = {}

    def facts(self) -> Mapping[str, str]:
        return self._facts

    def do(self, item: AskedPoint) -> PointOutcome:
        # The last of them is the one that was used last.
        known = self._known.pop(item.address, None)
        outcome = self._known[item.address] = known or self._joined(item)
        for other in list(self._known.values())[:-MOST_OPEN]:
            self._measuring.end(other)
        if item.answers is not None and _asked(item.answers) - _asked(outcome.answers):
            # Another worker asked it meanwhile.
            self._measuring.end(outcome)
            outcome.answers = item.answers
        self._measuring.ask(outcome, item.places)
        if item.last:
            self._measuring.end(outcome)
        return PointOutcome(
            item.point, item.address, outcome.answers, failure=outcome.failure, one_caller=outcome.one_caller
        )

    def _joined(self, item: AskedPoint) -> PointOutcome:
        plan = replace(item.point.plan, options=received(item.point.plan.options))
        (outcome,) = self._measuring.join([replace(item.point, plan=plan)])
        if not outcome.failure and outcome.address != item.address:
            raise RecallBenchError(
                f"{item.point.name} would be another system on a node than on this machine",
                expected=f"answers of {item.address[:12]}",
                found=outcome.address[:12],
                remedy="give the node the encoder, packages and stores of this machine",
            )
        return outcome


def _asked(answers: Answers | None) -> set[str]:
    return set() if answers is None else set(answers.deep)


def _facts(plans: Sequence[Plan]) -> dict[str, str]:
    # Points are held against each other by their times, too.
    return {**deciding_facts(plans), "processor": cpu_model()}


class PointNodes:
    """The nodes of a cluster that ask the points of a sweep; connected to when there is something to ask."""

    def __init__(self, points: Sequence[SweepPoint], sweep: str, at_once: int, progress: Progress, today: date) -> None:
        # What a node has of a store or an encoder is stated once.
        self._plans = list({(point.encoder, repr(point.plan.stores)): point.plan for point in points}.values())
        self._sweep, self._at_once = sweep, at_once
        self._progress, self._today = progress, today
        self._ending = ExitStack()
        self._crew: Crew | None = None

    def ask(
        self, outcomes: Sequence[PointOutcome], places: Sequence[int], last: bool
    ) -> Iterator[tuple[str, PointOutcome | RecallBenchError]]:
        """Have each of these points asked, and yield what came of it by its address."""
        if not outcomes:
            return
        items = [
            AskedPoint(
                each.address,
                replace(each.point, plan=_sent(each.point.plan)),
                tuple(places),
                each.answers,
                last,
            )
            for each in outcomes
        ]
        with self._progress.stage("points on nodes", len(items), "points") as advance:
            for place, came, _ in self._opened().work(items, _named, _address):
                advance(1)
                if isinstance(came, Failed):
                    yield items[place].address, came.error
                    continue
                outcome: PointOutcome = came.value
                failure = RecallBenchError(outcome.failure) if outcome.failure else None
                yield items[place].address, failure or outcome

    def close(self) -> None:
        """Let the nodes go."""
        self._ending.close()

    def _opened(self) -> Crew:
        if self._crew is None:
            here = [replace(plan, options=replace(plan.options, engine=HERE)) for plan in self._plans]
            job = PointJob(tuple(map(_sent, self._plans)), self._sweep, self._at_once, self._today)
            engine = self._plans[0].options.engine
            opening = open_crew(engine, job, _facts(here), "the sweep", self._progress)
            self._crew = self._ending.enter_context(opening)
        return self._crew


def _sent(plan: Plan) -> Plan:
    return replace(plan, options=sent(plan.options))


def _named(item: AskedPoint) -> str:
    return f"the point {item.point.name}"


def _address(item: AskedPoint) -> str:
    return item.address
