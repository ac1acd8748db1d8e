"""The course of a latency study: which levels are run, in which order, and in which turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recallbench.errors import Blocked, TooManyConnections
from recallbench.machine_load import MachineLoad, MachineReading
from recallbench.progress import Progress
from recallbench.results.load.levels import SaturationPart, Side
from recallbench.retrieval.load.arrivals import arrival_times, question_order
from recallbench.retrieval.load.call import LoadLevel
from recallbench.retrieval.load.closed_loop import closed_loop
from recallbench.retrieval.load.open_loop import open_loop
from recallbench.scoring.load.saturation import Saturation, saturation
from recallbench.scoring.load.turns import PAIRS, turns_order
from recallbench.studies.latency.choices import MOST_CLIENTS, LatencyChoices
from recallbench.studies.latency.subject import Subject


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """One level: a closed loop, or an open one at a rate."""

    number: int
    """Its place in the study, from which its questions and arrivals are drawn."""
    clients: tuple[int, ...]
    """Of each subject."""
    rate: float | None = None
    """Questions a second; None of a closed loop."""


@dataclass(frozen=True, slots=True)
class LevelRun:
    """One level of one subject, as it went."""

    subject: Subject
    level: LevelPlan
    clients: int
    blocks: tuple[LoadLevel, ...]
    machine: MachineLoad


class Course:
    """The levels of one size; what was run of them stays, also after an interruption."""

    def __init__(self, subjects: Sequence[Subject], choices: LatencyChoices, number: int, progress: Progress) -> None:
        self._subjects = subjects
        self._choices = choices
        self._number = number
        self._progress = progress
        self.saturation: dict[Side, Saturation] = {}
        self._why_no_more = ""

    def levels(self) -> Iterator[list[LevelRun]]:
        """Run one level after the other, and yield each with a run of every subject that took part in it."""
        throughputs: dict[Side, list[tuple[int, float]]] = {subject.side: [] for subject in self._subjects}
        for clients in self._choices.clients or _doublings():
            possible = [(subject, min(clients, subject.most_clients or clients)) for subject in self._subjects]
            asked = [(s, count) for s, count in possible if count not in dict(throughputs[s.side])]
            # Of two systems both are asked until both are saturated: their levels are compared.
            if not any(self._wants(throughputs[subject.side]) for subject, _ in asked):
                break
            try:
                runs = self._run([s for s, _ in asked], LevelPlan(self._next(), tuple(count for _, count in asked)))
            except TooManyConnections as error:
                if not all(throughputs.values()):
                    raise
                self._why_no_more = f"the server takes no {clients} of them: {error.found.splitlines()[-1]}"
                self._progress.note(f"No level with {clients} clients: {self._why_no_more}")
                self._number -= 1
                break
            for run in runs:
                _refuse_unanswered(run)
                throughputs[run.subject.side].append((run.clients, _throughput(run.blocks)))
            yield runs
        self.saturation = {side: saturation(levels) for side, levels in throughputs.items() if levels}
        slowest = min(found.rate for found in self.saturation.values())
        clients_each = tuple(self.saturation[subject.side].clients for subject in self._subjects)
        rates = sorted({*(share * slowest for share in self._choices.shares), *self._choices.rates})
        for rate in rates:
            yield self._run(self._subjects, LevelPlan(self._next(), clients_each, rate))

    def saturation_parts(self) -> list[SaturationPart]:
        """Return the saturation of each subject, as far as it is known."""
        return [
            SaturationPart(
                side=subject.side,
                size=subject.size,
                clients=found.clients,
                rate=round(found.rate, 4),
                reached=found.reached,
                why_alone=subject.store.one_caller,
                why_no_more="" if found.reached else self._why_no_more,
            )
            for subject in self._subjects
            if (found := self.saturation.get(subject.side)) is not None
        ]

    def _wants(self, so_far: Sequence[tuple[int, float]]) -> bool:
        """Whether more clients are tried: the user said so, or the last doubling added enough."""
        return bool(self._choices.clients) or len(so_far) < 2 or not saturation(so_far).reached

    def _next(self) -> int:
        self._number += 1
        return self._number

    @property
    def number(self) -> int:
        """The number of the last level."""
        return self._number

    def _run(self, subjects: Sequence[Subject], level: LevelPlan) -> list[LevelRun]:
        loop = "closed loop" if level.rate is None else f"open loop, {level.rate:.4g} a second"
        clients = ", ".join(dict.fromkeys(map(str, level.clients)))
        order = self._turns(len(subjects), level.number)
        name = f"{loop}, {clients} client{'s' if clients != '1' else ''}"
        with self._progress.stage(name, len(order) if len(order) > 1 else None, "blocks") as advance:
            clients_of = [subject.clients(count) for subject, count in zip(subjects, level.clients, strict=True)]
            orders = [question_order(len(s.requests), _seed(self._choices.seed, level.number)) for s in subjects]
            before = MachineReading.take()
            blocks: list[list[LoadLevel]] = [[] for _ in subjects]
            turns = 1 if len(subjects) == 1 else PAIRS
            for pair, place in order:
                seconds, most = self._choices.seconds / turns, max(1, self._choices.most_calls // turns)
                if level.rate is None:
                    block = closed_loop(clients_of[place], orders[place], seconds, most)
                else:
                    times = arrival_times(
                        level.rate, seconds, self._choices.arrivals, _seed(self._choices.seed, level.number, pair), most
                    )
                    length = seconds if len(times) < most else times[-1]
                    block = open_loop(clients_of[place], times, orders[place], length, self._choices.grace)
                blocks[place].append(block)
                advance(1)
            machine = MachineLoad.between(before, MachineReading.take())
        return [
            LevelRun(subject, level, count, tuple(own), machine)
            for subject, count, own in zip(subjects, level.clients, blocks, strict=True)
        ]

    def _turns(self, subjects: int, number: int) -> list[tuple[int, int]]:
        return [(0, 0)] if subjects == 1 else turns_order(PAIRS, _seed(self._choices.seed, number))


def _refuse_unanswered(run: LevelRun) -> None:
    """Raise Blocked where a store answered nothing of a closed loop: no rate follows from it."""
    calls = [call for block in run.blocks for call in block.calls]
    if calls and all(call.hits is None for call in calls):
        raise Blocked(
            f"not one of {len(calls)} questions was answered under load",
            expected=f"answers of {run.subject.store.name} to {run.clients} clients",
            found=calls[0].failure,
            remedy="look at what the store refuses, or ask with fewer --clients",
        )


def _doublings() -> Iterator[int]:
    clients = 1
    while clients <= MOST_CLIENTS:
        yield clients
        clients *= 2


def _throughput(blocks: Sequence[LoadLevel]) -> float:
    seconds = sum(block.seconds for block in blocks)
    return sum(call.hits is not None for block in blocks for call in block.calls) / seconds if seconds else 0.0


def _seed(*numbers: int) -> int:
    """Return one seed for each combination: levels and blocks draw independently."""
    seed = 0
    for number in numbers:
        seed = (seed * 1_000_003 + number) % (1 << 63)
    return seed
