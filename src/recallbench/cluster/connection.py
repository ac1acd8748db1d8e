"""The door to Ray: a cluster that stands, or one of this machine's cores for as long as it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from recallbench.cluster.engine import Engine
from recallbench.cluster.job import Job
from recallbench.cluster.joining import joined
from recallbench.cluster.starting import started
from recallbench.cluster.worker import Worker
from recallbench.extras import require
from recallbench.progress import Progress


class ClusterNode(NamedTuple):
    """A machine of a cluster, or what passes for one."""

    id: str
    name: str
    """Its address, and what tells it from others of the same address."""
    cores: int
    gpus: int


class RayCluster:
    """A cluster that this process is connected to."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def nodes(self) -> list[ClusterNode]:
        """Return the nodes that are alive and have cores to offer."""
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        found = [
            ClusterNode(
                node["NodeID"],
                f"{node['NodeManagerAddress']} ({node['NodeID'][:6]})",
                int(node["Resources"].get("CPU", 0)),
                int(node["Resources"].get("GPU", 0)),
            )
            for node in alive
        ]
        return sorted(node for node in found if node.cores > 0)

    def hire(self, node: ClusterNode, job: Job, cores: int) -> Any:
        """Start a worker on a node, and return its handle; it is not asked anything yet."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        gpu = job.share == "gpu"
        actor = self.ray.remote(Worker).options(
            # A worker that needs a whole core can't take the place of a dead one that still holds it.
            num_cpus=0.25,
            num_gpus=1 if gpu else 0,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
        )
        return actor.remote(job, cores, gpu=gpu)


@dataclass(slots=True)
class _Shared:
    """A connection, and how many use it."""

    cluster: RayCluster
    ending: ExitStack
    users: int = 0


_shared: dict[Engine, _Shared] = {}


@contextmanager
def open_cluster(engine: Engine, progress: Progress) -> Iterator[RayCluster]:
    """Connect to the cluster of an engine, or start one; what was started is gone when its last user's block ends.

    Raises Blocked where there is none, it lets nobody in, or it has another Ray.
    """
    require("ray", "--engine ray")
    shared = _shared.get(engine)
    if shared is None:
        if engine.address is None:
            progress.note("starting Ray on this machine")
        ending = ExitStack()
        ray = ending.enter_context(started() if engine.address is None else joined(engine.address))
        shared = _shared[engine] = _Shared(RayCluster(ray), ending)
    shared.users += 1
    try:
        yield shared.cluster
    finally:
        shared.users -= 1
        if not shared.users:
            del _shared[engine]
            shared.ending.close()
