"""The workers of one job on all nodes of a cluster, and the loop that gives them items.

Ray is asked for processes and messages alone. Which item goes where, what is done again and when it is given up is
decided here: Ray's own retries wait for cores that a dead worker holds, or go on for ever.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from recallbench.cluster.admission import refusal
from recallbench.cluster.connection import ClusterNode, RayCluster, open_cluster
from recallbench.cluster.engine import Engine
from recallbench.cluster.job import Done, Failed, Job
from recallbench.cluster.surroundings import IN_PROCESS_INSTEAD
from recallbench.cluster.worker import program_facts
from recallbench.errors import Blocked, RecallBenchError
from recallbench.progress import Progress

ATTEMPTS = 3
"""Workers that an item may take with it before it is taken for what kills them."""
AHEAD = 2
"""Items that a worker has: one that it does, and the next, so that it never waits for one."""
FURTHEST = 16
"""Items for each worker that may be done before an earlier one is: in order, results of all of them wait for it."""
LOOK = 1.0
"""Seconds after which nodes are looked at again, and the longest wait for a result."""
OPENING = 600.0
"""Seconds that a worker may take to open its job: weights may have to be fetched."""
ANSWER = 5.0
"""Seconds that the head of the cluster may take to accept a connection."""
ALONE = 30.0
"""Seconds that may pass without any node before the work is given up."""


class Ticket(NamedTuple):
    """An item on its way."""

    place: int
    item: Any


@dataclass(slots=True, eq=False)
class Member:
    """A worker of the crew."""

    node: ClusterNode
    handle: Any
    opening: Any
    """The answer to come that says what it has; None once it was admitted."""
    since: float
    given: deque[tuple[Any, Ticket]] = field(default_factory=deque)
    """The answers to come, with what was asked, in the order in which it does them."""
    facts: Mapping[str, str] = field(default_factory=dict)
    had: set[str] = field(default_factory=set)
    """What the items it was given belong to."""


class CrewOutcome(NamedTuple):
    """What came of an item."""

    place: int
    """Among the items."""
    came: Done | Failed
    facts: Mapping[str, str]
    """What its worker stated."""


class Crew:
    """The workers of a job: one or more for each node that has what is expected, those that join late included."""

    def __init__(
        self, cluster: RayCluster, job: Job, expected: Mapping[str, str], what: str, progress: Progress
    ) -> None:
        """`what` says in a word or two what is done, for errors and notes."""
        self._cluster, self._ray, self._job = cluster, cluster.ray, job
        self._expected = {**program_facts(), **expected}
        self._what, self._progress = what, progress
        self._members: list[Member] = []
        self._refused: dict[str, str] = {}
        """Why a node has no worker, by its id."""
        self._lost: dict[str, int] = {}
        """How many workers in a row a node lost without a result."""
        self._names: dict[str, str] = {}
        self._looked = self._staffed = -1e9
        self.done: dict[str, int] = {}
        """How many items each node did, by its name."""

    def work(
        self,
        items: Iterable[Any],
        named: Callable[[Any], str],
        of: Callable[[Any], str] | None = None,
        *,
        ordered: bool = False,
    ) -> Iterator[CrewOutcome]:
        """Yield what comes of each item, in the order in which it comes; one that ends worker after worker has failed.

        `of` says what an item belongs to, where a worker that had to do with the same is done with it sooner.
        Where they are to be put into order, none is begun far ahead of the others.
        Raises Blocked where no node can work, and RecallBenchError where nothing more can be handed on.
        """
        coming = (Ticket(place, item) for place, item in enumerate(items))
        again: deque[Ticket] = deque() if of is None else deque(coming)
        died: dict[int, int] = {}
        begun, over = 0, False
        for member in [member for member in self._members if member.given]:
            self._dismiss(member)  # still at what nobody waits for any more
        self._staffed = time.monotonic()
        while True:
            self._look_at_nodes()
            for member in self._members:
                while member.opening is None and len(member.given) < AHEAD and (again or not over):
                    if not again and ordered and self._is_far(begun):
                        break
                    ticket = self._take(again, member, of) if again else next(coming, None)
                    if ticket is None:
                        over = True
                        break
                    begun = max(begun, ticket.place + 1)
                    self._give(member, ticket)
            if over and not again and not any(member.given for member in self._members):
                return
            for member, ref in self._next_answers():
                if member not in self._members:
                    continue  # dismissed with its node a moment ago
                if member.opening is ref:
                    self._admit(member)
                    continue
                answer = self._answer(ref)
                if isinstance(answer, LostWorker):
                    for _, ticket in reversed(member.given):
                        again.appendleft(ticket)
                    # It does one after the other: the first is what it was doing.
                    suspect = member.given[0][1]
                    died[suspect.place] = died.get(suspect.place, 0) + 1
                    self._lose(member, answer.reason)
                    if died[suspect.place] >= ATTEMPTS:
                        again.remove(suspect)
                        failed = Failed(self._poison(named(suspect.item), answer.reason))
                        yield CrewOutcome(suspect.place, failed, member.facts)
                else:
                    ticket = next(ticket for given, ticket in member.given if given is ref)
                    member.given = deque(pair for pair in member.given if pair[0] is not ref)
                    self._lost.pop(member.node.id, None)
                    self.done[member.node.name] = self.done.get(member.node.name, 0) + 1
                    yield CrewOutcome(ticket.place, answer, member.facts)

    def wait(self) -> None:
        """Wait until one worker is there; raises Blocked where none can be."""
        self._staffed = time.monotonic()
        while all(member.opening is not None for member in self._members):
            self._look_at_nodes()
            for member, _ in self._next_answers():
                if member in self._members:
                    self._admit(member)

    def in_order(self, items: Iterable[Any], named: Callable[[Any], str]) -> Iterator[tuple[Any, Mapping[str, str]]]:
        """Yield each result with what its worker stated, in the order of the items; raises what an item failed with."""
        early: dict[int, tuple[Any, Mapping[str, str]]] = {}
        due = 0
        for place, came, facts in self.work(items, named, ordered=True):
            if isinstance(came, Failed):
                raise came.error
            early[place] = came.value, facts
            while due in early:
                yield early.pop(due)
                due += 1

    def close(self) -> None:
        """Let every worker go. May be called twice."""
        for member in self._members:
            self._ray.kill(member.handle)
        self._members.clear()

    def _is_far(self, place: int) -> bool:
        """Return whether an item is too far from the first that is not done."""
        due = min((ticket.place for member in self._members for _, ticket in member.given), default=place)
        return place - due >= FURTHEST * len(self._members)

    def _give(self, member: Member, ticket: Ticket) -> None:
        errors = self._ray.exceptions
        try:
            member.given.append((member.handle.do.remote(ticket.item), ticket))
        except (errors.ObjectStoreFullError, errors.OutOfDiskError) as error:
            raise self._full(error) from error

    def _take(self, waiting: deque[Ticket], member: Member, of: Callable[[Any], str] | None) -> Ticket:
        """Take the item that a worker is best given: of what it had, else of what no other had, else the first."""
        if of is None:
            return waiting.popleft()
        others = set[str]().union(*(other.had for other in self._members if other is not member))
        owners = [of(ticket.item) for ticket in waiting]
        known = [place for place, owner in enumerate(owners) if owner in member.had]
        free = [place for place, owner in enumerate(owners) if owner not in others]
        place = [*known, *free, 0][0]
        member.had.add(owners[place])
        ticket = waiting[place]
        del waiting[place]
        return ticket

    def _next_answers(self) -> list[tuple[Member, Any]]:
        """Wait for an answer, a moment at most, and return those that are there."""
        waiting = {ref: member for member in self._members for ref, _ in member.given}
        waiting |= {member.opening: member for member in self._members if member.opening is not None}
        if not waiting:
            time.sleep(LOOK / 4)
            return []
        refs = list(waiting)
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=LOOK)
        if ready:
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        # A worker that is lost has several answers that say so: the first of them is enough.
        first: dict[int, tuple[Member, Any]] = {}
        for ref in refs:
            if ref in ready:
                first.setdefault(id(waiting[ref]), (waiting[ref], ref))
        return list(first.values())

    def _answer(self, ref: Any) -> Any:
        """Return an answer; a LostWorker where it will never come, an error of this package where nothing helps."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref, timeout=ALONE)
        except (errors.ObjectStoreFullError, errors.OutOfDiskError) as error:
            raise self._full(error) from error
        except errors.RayTaskError as error:
            if isinstance(error.cause, (errors.ObjectStoreFullError, errors.OutOfDiskError)):
                raise self._full(error.cause) from error
            raise RecallBenchError(
                f"{self._what} failed on a node",
                found=_last_line(error),
                remedy=f"{IN_PROCESS_INSTEAD}, and shows where it fails",
            ) from error
        except (errors.RayError, TimeoutError) as error:
            return LostWorker(_last_line(error))

    def _look_at_nodes(self) -> None:
        """Hire on nodes that have no worker yet, once a moment; raise Blocked where nobody can work."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        self._refuse_dead_head()
        nodes = self._cluster.nodes()
        alive = {node.id for node in nodes}
        for member in [member for member in self._members if member.opening is not None]:
            if now - member.since > OPENING:
                self._refuse(member, f"its worker was not ready within {OPENING:.0f} s")
        for node in nodes:
            self._names[node.id] = node.name
            wanted = {"node": 1, "core": node.cores, "gpu": node.gpus}[self._job.share]
            here = sum(member.node.id == node.id for member in self._members)
            cores = 1 if self._job.share == "core" else node.cores
            for _ in range(wanted - here if node.id not in self._refused else 0):
                handle = self._cluster.hire(node, self._job, cores)
                self._members.append(Member(node, handle, handle.open.remote(), now))
        if self._members:
            self._staffed = now
        elif self._refused.keys() & alive or now - self._staffed > ALONE:
            raise self._nobody(alive)

    def _admit(self, member: Member) -> None:
        """Let a worker take part that has what is expected; refuse its node otherwise."""
        try:
            stated = self._ray.get(member.opening, timeout=ALONE)
        except self._ray.exceptions.RayTaskError as error:
            self._refuse(member, _last_line(error))
            return
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            self._lose(member, _last_line(error))
            return
        if why := refusal(self._expected, stated):
            self._refuse(member, why)
            return
        member.opening, member.facts = None, stated.facts
        ready = [each for each in self._members if each.opening is None]
        nodes = len({each.node.id for each in ready})
        cores = f"{member.node.cores} core{'s' if member.node.cores > 1 else ''}"
        self._progress.note(
            f"Ray: {member.node.name}, {cores}, takes part in {self._what}: {nodes} node{'s' if nodes > 1 else ''}, "
            f"{len(ready)} worker{'s' if len(ready) > 1 else ''}"
        )

    def _refuse(self, member: Member, why: str) -> None:
        """Do without the node of a worker, and say why."""
        if member.node.id not in self._refused:
            self._progress.note(f"Ray: {member.node.name} takes no part in {self._what}: {why}")
        self._refused[member.node.id] = why
        for other in [each for each in self._members if each.node.id == member.node.id and each.opening is not None]:
            self._dismiss(other)

    def _lose(self, member: Member, reason: str) -> None:
        """Take a dead worker from the crew; its node gets another, unless it lost too many."""
        self._dismiss(member)
        node = member.node
        lost = self._lost[node.id] = self._lost.get(node.id, 0) + 1
        gone = node.id not in {each.id for each in self._cluster.nodes()}
        if not gone and lost >= ATTEMPTS:
            self._refuse(member, f"{lost} workers in a row ended there without a result: {reason}")
            return
        nodes = len({each.node.id for each in self._members})
        what = "is gone" if gone else f"lost a worker ({reason})"
        self._progress.note(f"Ray: {node.name} {what}: what it had is done again, {nodes} other node(s) at work")

    def _dismiss(self, member: Member) -> None:
        self._members.remove(member)
        self._ray.kill(member.handle)

    def _refuse_dead_head(self) -> None:
        """Raise Blocked where the cluster's head is gone: Ray itself would end this process a minute later."""
        host, _, port = self._ray.get_runtime_context().gcs_address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), ANSWER).close()
        except OSError as error:
            raise Blocked(
                f"the head of the Ray cluster is gone during {self._what}",
                expected=f"an answer at {host}:{port}",
                found=str(error),
                remedy=f"what was done is kept: the same command goes on, on another cluster too; {IN_PROCESS_INSTEAD}",
            ) from error

    def _nobody(self, alive: set[str]) -> Blocked:
        refused = [f"{self._names[id]}: {why}" for id, why in self._refused.items() if id in alive]
        return Blocked(
            f"no node of the Ray cluster can take part in {self._what}",
            expected="a node that has what decides the results, as this machine has it",
            found="\n".join(refused) or "no node with a core",
            remedy="what was done is kept: the same command goes on once a node has what it lacks; "
            f"{IN_PROCESS_INSTEAD}",
        )

    def _poison(self, item: str, reason: str) -> RecallBenchError:
        return RecallBenchError(
            f"{item} ended {ATTEMPTS} workers",
            expected=f"a result of {self._what}",
            found=reason,
            remedy=f"what was done is kept: the same command goes on from there; {IN_PROCESS_INSTEAD}, "
            "and shows why it ends",
        )

    def _full(self, error: BaseException) -> RecallBenchError:
        return RecallBenchError(
            f"the shared memory of the Ray cluster is full during {self._what}",
            expected="room for a few results on every node",
            found=_last_line(error),
            remedy="what was done is kept: the same command goes on once others let go of theirs, or on a cluster with "
            f"more (ray start --object-store-memory); {IN_PROCESS_INSTEAD}",
        )


@contextmanager
def open_crew(engine: Engine, job: Job, expected: Mapping[str, str], what: str, progress: Progress) -> Iterator[Crew]:
    """The crew of a job on the cluster of an engine, which is let go at the end of the block."""
    with open_cluster(engine, progress) as cluster, closing(Crew(cluster, job, expected, what, progress)) as crew:
        yield crew


class LostWorker(NamedTuple):
    """In place of an answer: its worker is gone."""

    reason: str


def _last_line(error: BaseException) -> str:
    """Return what an error of Ray says in one line: the last, which has no traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]
