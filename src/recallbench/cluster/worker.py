"""A worker: a process on some node, which opens a job and does item after item."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

from recallbench.cluster.job import Done, Failed, Job, OpenedJob, WorkerStatement
from recallbench.errors import RecallBenchError
from recallbench.program_files import program_sha256


def program_facts() -> dict[str, str]:
    """Return what decides everything that this program does: it is the same on every worker."""
    program = f"{version('recallbench')}, files {program_sha256()[:12]}"
    return {"recallbench": program, "Python": platform.python_version()}


def cores_here() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Worker:
    """Does the items of one job; Ray makes an actor of it."""

    def __init__(self, job: Job, cores: int, *, gpu: bool) -> None:
        self._job, self._cores, self._gpu = job, cores, gpu
        self._opened: OpenedJob | None = None

    def open(self) -> WorkerStatement:
        """Open the job, and state what is here."""
        # Ray sets this to what it reserves for the worker, not to what the worker may use.
        os.environ.pop("OMP_NUM_THREADS", None)
        if self._cores < cores_here():
            os.environ["OMP_NUM_THREADS"] = str(self._cores)
        try:
            self._opened = self._job.open(self._cores, gpu=self._gpu)
            return WorkerStatement({**program_facts(), **self._opened.facts()})
        except RecallBenchError as error:
            return WorkerStatement(program_facts(), error.brief)

    def do(self, item: Any) -> Done | Failed:
        """Do one item."""
        assert self._opened is not None  # only those that were admitted are asked
        try:
            return Done(self._opened.do(item))
        except RecallBenchError as error:
            return Failed(error)
