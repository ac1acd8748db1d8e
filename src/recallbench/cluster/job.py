"""What a worker is to do: opened once on each, then given item after item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from recallbench.errors import RecallBenchError

Share = Literal["node", "core", "gpu"]
"""How many workers a node has: one that uses all of it, or one for each of its cores or GPUs."""


class OpenedJob(Protocol):
    """A job on a worker, ready for items."""

    def facts(self) -> Mapping[str, str]:
        """Return what this worker has of all that decides its results."""

    def do(self, item: Any) -> Any:
        """Return the result of one item; what the user is to read of is raised as an error of this package."""


class Job(Protocol):
    """A job as it is sent to workers, by pickle."""

    @property
    def share(self) -> Share:
        """How many workers of it a node has."""

    def open(self, cores: int, *, gpu: bool) -> OpenedJob:
        """Open it on a worker that may use so many cores."""


@dataclass(frozen=True, slots=True)
class Done:
    """The result of an item."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """An item that failed, and would fail again."""

    error: RecallBenchError


@dataclass(frozen=True, slots=True)
class WorkerStatement:
    """What a worker says of itself before it is given anything."""

    facts: Mapping[str, str]
    problem: str = ""
    """Why it can't do the job."""
