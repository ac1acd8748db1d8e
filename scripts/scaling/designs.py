"""Each way to hold segments, worked out: time, memory, disk, money, and what ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log
from typing import Any

from scaling.constants import Constants, K

GB = 1e9
HOUR, MONTH = 3600.0, 730.0
"""Seconds of an hour, hours of a month."""


@dataclass(frozen=True, slots=True)
class Workload:
    """So many segments in so many scopes of one size."""

    name: str
    segments: int
    scopes: int
    characters: int
    """Of a text, on average."""

    @property
    def scope(self) -> float:
        """Segments of a scope."""
        return self.segments / self.scopes


@dataclass(frozen=True, slots=True)
class Server:
    """A machine as it is assumed, with what is asked of it and what it costs."""

    processors: float
    memory_gb: float
    disk_gb: float
    disk_mb_s: float
    question_ms: float
    """The longest that a question may take."""
    build_h: float
    """The longest that loading and building may take."""
    build_mb: float
    """The memory of a build."""
    scan_tuples: float
    """Rows after which an iterative scan gives up."""
    processor_hour: float
    memory_gb_hour: float
    disk_gb_month: float

    @classmethod
    def of(cls, assumed: Mapping[str, Any]) -> Server:
        return cls(**{name: float(value) for name, value in assumed["server"].items()}, **assumed["prices"])

    def month(self, disk_gb: float) -> float:
        """Return what it costs to keep one for a month."""
        hourly = self.processors * self.processor_hour + self.memory_gb * self.memory_gb_hour
        return MONTH * hourly + disk_gb * self.disk_gb_month


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one design takes for one workload."""

    servers: int
    hours: float
    """To load by one process, and to build on all servers at the same time."""
    memory_gb: float
    """On each server, so that no question waits for its disk."""
    disk_gb: float
    """On each server."""
    question_ms: float
    month: float
    """Money for a month, all servers."""
    stops: str
    """What ends it; empty where it holds."""


def exact(work: Workload, of: Constants, server: Server, servers: int = 1) -> Outcome:
    """Each segment of the scope is compared; scopes are dealt out to the servers."""
    rows = work.segments / servers
    row = of.vector_bytes + work.characters
    disk = rows * (row + of.btree_bytes) / GB
    asked = of.exact(work.scope)
    if disk > server.memory_gb:  # a scope is read before it is compared
        asked += 1000 * work.scope * of.vector_bytes / (server.disk_mb_s * 1e6)
    return _outcome(work, server, servers, of.copy(work.segments, work.characters), disk, disk, asked, "")


def one_index(work: Workload, of: Constants, server: Server) -> Outcome:
    """One HNSW over all scopes, scanned on until the scope has given enough."""
    return _indexed(work, of, server, 1, 1)


def partitions(work: Workload, of: Constants, server: Server, servers: int = 1) -> Outcome:
    """An HNSW for each part of the scopes, none larger than the memory of a build; dealt out to the servers."""
    number = max(ceil(work.segments / of.fitting(server.build_mb)), servers)
    return _indexed(work, of, server, servers, number)


def several(design: Callable[..., Outcome], work: Workload, of: Constants, server: Server) -> Outcome:
    """Return the design on as few servers as hold it on their disks, else in their memory; no more than scopes."""
    alone = design(work, of, server)
    on_disk = max(alone.disk_gb / server.disk_gb, alone.hours / server.build_h, 1)
    tried = design(work, of, server, min(ceil(on_disk), work.scopes))
    if not tried.stops:
        return tried
    in_memory = max(alone.memory_gb / server.memory_gb, on_disk)
    return design(work, of, server, min(ceil(in_memory), work.scopes))


def _indexed(work: Workload, of: Constants, server: Server, servers: int, parts: int) -> Outcome:
    rows, part = work.segments / servers, work.segments / parts
    seconds = of.copy(work.segments, work.characters) + of.build(part, server.build_mb) * parts / servers
    memory = rows * of.hnsw_bytes / GB
    share = min(work.scope / part, 1.0)
    # Rows of other scopes that a scan goes over until this one has given enough.
    walked = min(K / share - K, server.scan_tuples)
    short = ""
    if memory > server.memory_gb:
        short = f"memory: {memory:,.0f} of {server.memory_gb:,.0f} GB"
    elif K / share > server.scan_tuples:
        short = f"short answers: a scope is 1 of {1 / share:,.0f} segments"
    asked = of.ask_ms + of.hop_ms * log(max(part, 2)) + of.walk_ms * walked
    disk = memory + rows * (of.vector_bytes + work.characters) / GB
    return _outcome(work, server, servers, seconds, memory, disk, asked, short)


def _outcome(
    work: Workload, server: Server, servers: int, seconds: float, memory: float, disk: float, asked: float, short: str
) -> Outcome:
    hours = seconds / HOUR
    ends = [
        (disk > server.disk_gb, f"disk: {disk:,.0f} of {server.disk_gb:,.0f} GB"),
        (bool(short), short),
        (hours > server.build_h, f"building: {hours:,.0f} h, {server.build_h:.0f} allowed"),
        (asked > server.question_ms, f"a question: {asked:,.0f} ms, {server.question_ms:.0f} allowed"),
    ]
    stops = next((words for ended, words in ends if ended), "")
    return Outcome(servers, hours, memory, disk, asked, servers * server.month(disk), stops)
