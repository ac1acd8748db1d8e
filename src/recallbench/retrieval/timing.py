"""The times of a run, kept apart from every number that must not depend on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from recallbench.machine_load import MachineLoad, MachineReading

SAMPLE = 200
"""Queries timed one by one; a pipelined phase only has a total."""
SLOW_SAMPLE = 20
"""The same, of a pipeline in which a stage takes milliseconds or more."""
TOLD_FROM = 1.0
"""Seconds from which on the load of a machine is told: Linux counts in hundredths of a second."""
IN_THIS_PROCESS = "the store runs in this process"
"""Why its own calls can't be told from what the adapter does around them."""
COLD_SAMPLE = 3
"""Queries timed in a fresh session each; making a session costs more than the query."""


def _no_server() -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class QueryTime:
    """One query on its own, as its caller waits for it."""

    question_id: str
    state: str
    """`cold`: first query of a fresh session; `warm`: asked before in the same session; `failed`: until it failed."""
    milliseconds: float
    stages: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of each stage of a pipeline, by its name; empty without one."""
    store_call: float | None = None
    """Milliseconds of the calls of the system under test; None where that runs in this process."""
    adapter: float | None = None
    """Milliseconds of packing, unpacking and checks around them."""


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """What a stage behind the ranking took for one question: each is timed, none is asked before to warm up."""

    question_id: str
    stage: str
    state: str
    """`cold`: asked of a model before its first answer in the run had come; `warm`: all others; `failed`: until it
    failed."""
    milliseconds: float
    kept: bool = False
    """Whether an answer had been kept: the time that it took when it was asked for is part of this one."""


@dataclass(slots=True)
class Timings:
    """Seconds per phase, the sample of single queries, and the time of every answer."""

    phases: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    """The same phases in seconds of all processors together, as far as this process had them."""
    server_cpu: dict[str, float] = field(default_factory=dict)
    """Those that a database server of our own had; only of phases at whose ends it was asked."""
    server: Callable[[], float | None] = _no_server
    """Returns the seconds of processors that such a server has had so far; None where there is none."""
    sample: list[QueryTime] = field(default_factory=list)
    answers: list[AnswerTime] = field(default_factory=list)
    """Of each stage behind the ranking in turn, question by question."""
    no_ops: list[float] = field(default_factory=list)
    """Milliseconds of round trips without work over the transport of the searches; empty where there is none."""
    undivided: str = ""
    """Why the store's own call can't be told from what the adapter does around it; empty where it can."""
    load: MachineLoad | None = None
    """What else the machine did while the store was filled and asked; None where that was too short to tell."""
    cold: str = ""
    """Why no cold query could be timed; empty where some were."""

    def note_load(self, before: MachineReading) -> None:
        """Note what else the machine did since that reading."""
        load = MachineLoad.between(before, MachineReading.take())
        self.load = load if load.seconds >= TOLD_FROM else None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time of a block to a phase."""
        served = self.server()
        started, worked = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - started
            self.cpu[name] = self.cpu.get(name, 0.0) + time.process_time() - worked
            if served is not None and (now := self.server()) is not None:
                self.server_cpu[name] = self.server_cpu.get(name, 0.0) + max(now - served, 0.0)


def sample_evenly(total: int, most: int = SAMPLE) -> frozenset[int]:
    """Which of `total` questions are timed one by one: `most` of them, evenly spread."""
    count = min(most, total)
    return frozenset(i * total // count for i in range(count))
