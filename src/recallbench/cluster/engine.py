"""Where work is done: in this process, or by workers of a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recallbench.errors import UsageError

EngineName = Literal["in-process", "ray"]
IN_PROCESS: EngineName = "in-process"
ENGINE_HELP = (
    "What does the work: this process, or the workers of a Ray cluster (extra: ray); results go into the same folders."
)
ADDRESS_HELP = (
    "A Ray cluster that is already running, as HOST:PORT, with --engine ray; this machine must be one of its nodes "
    "[default: start one on all cores of this machine, for this command alone]."
)


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the work of a command is done."""

    name: EngineName = IN_PROCESS
    address: str | None = None
    """Of a cluster that stands; None for one that is started on this machine."""
    at_work: bool = False
    """Whether this is a worker's own: what it does it hands to nobody."""

    @property
    def on_nodes(self) -> bool:
        """Whether work is handed to the nodes of a cluster."""
        return self.name == "ray" and not self.at_work


HERE = Engine()


def choose_engine(name: EngineName, address: str | None) -> Engine:
    """Return the engine of these options; raises UsageError where they can't go together."""
    if address is None:
        return Engine(name)
    if name != "ray":
        raise UsageError(
            "--ray-address goes with --engine ray",
            expected="--engine ray --ray-address HOST:PORT",
            found="--ray-address alone",
        )
    host, colon, port = address.rpartition(":")
    if not host or not colon or not port.isdigit() or not 0 < int(port) < 65536 or "/" in address:
        raise UsageError(
            "--ray-address is no address of a Ray cluster",
            expected="HOST:PORT, as `ray start --head` printed it, such as 10.0.0.1:6379",
            found=address,
        )
    return Engine(name, address)
