"""A real Ray cluster on the loopback, in a process of its own: nodes of one core each that come and are killed."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from recallbench.cluster.starting import NONE_IDLE, without_onlookers
from recallbench.cluster.surroundings import BINDS_LOOPBACK

STORE = 80 << 20
"""Bytes of shared memory of each node: nearly the least that Ray takes."""


class Nodes:
    """The cluster, as a test sees it."""

    def __init__(self, process: subprocess.Popen[str], variables: dict[str, str]) -> None:
        self._process = process
        self.variables = variables
        """What a program needs to be let in."""
        self.headless = False
        self.address = self._line()

    def add(self) -> None:
        """Have another node join, and wait for it."""
        self._say("add")

    def kill(self, beginning: str = "") -> None:
        """Kill the node whose id begins so, else that which joined last, as a machine that loses its power."""
        self._say(f"kill {beginning}".strip())

    def kill_head(self) -> None:
        """Kill what holds the cluster together; nothing can be asked of it any more."""
        self._say("end")
        self.headless = True

    def _say(self, word: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        assert self._line() == word

    def _line(self) -> str:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("nodes: "):
                return line.removeprefix("nodes: ").strip()
        raise AssertionError("the cluster ended")


@contextmanager
def two_nodes() -> Iterator[Nodes]:
    """A cluster of two nodes that is let in by a token; none of its processes outlives the block."""
    with tempfile.TemporaryDirectory(prefix="rn-", ignore_cleanup_errors=True) as room:
        variables = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONHASHSEED": "42",  # as the commands of the tests have it
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        }
        of_head = {**BINDS_LOOPBACK, **NONE_IDLE, "RAY_TMPDIR": room}
        # Machines of their own: neither kept vectors nor corpora of whoever runs the tests.
        own = {"RECALLBENCH_CACHE_DIR": f"{room}/cache", "RECALLBENCH_DATA_DIR": f"{room}/data"}
        users = {name: value for name, value in os.environ.items() if not name.endswith("_DATA_DIR")}
        with subprocess.Popen(
            [sys.executable, Path(__file__)],
            env={**users, **variables, **of_head, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            nodes = Nodes(process, variables)
            yield nodes
            started = psutil.Process(process.pid).children(recursive=True)
            assert process.stdin
            if nodes.headless:
                process.kill()  # it would wait for answers of the head
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(60)
            # Without a head, agents of the nodes go on for minutes.
            for left in psutil.wait_procs(started, 0 if nodes.headless else 3)[1]:
                left.kill()


def _host() -> None:
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False, "object_store_memory": STORE}
    # Nothing of what does not fit is put on disk: a full store is full.
    config = {"automatic_object_spilling_enabled": False, "local_fs_capacity_threshold": 1e-6}
    # The head itself works on nothing, so that any node may be killed.
    head = {**node, "num_cpus": 0, "_system_config": config}
    with without_onlookers():
        cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(**node) for _ in range(2)]
    print(f"nodes: {cluster.address}", flush=True)
    for line in sys.stdin:
        word, _, beginning = line.strip().partition(" ")
        if word == "add":
            nodes.append(cluster.add_node(**node))
        elif word == "kill":
            killed = next(each for each in reversed(nodes) if each.node_id.startswith(beginning))
            nodes.remove(killed)
            cluster.remove_node(killed, allow_graceful=False)
        else:
            cluster.head_node.kill_gcs_server()
        print(f"nodes: {line.strip()}", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    _host()
