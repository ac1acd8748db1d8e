"""The options that say where work is done, for the commands that may spread it."""

from __future__ import annotations

from typing import Any, get_args

from recallbench.cli.command import choice, option
from recallbench.cluster.engine import ADDRESS_HELP, ENGINE_HELP, IN_PROCESS, Engine, EngineName, choose_engine

ENGINE = (
    choice("engine", ENGINE_HELP, list(get_args(EngineName)), default=IN_PROCESS),
    option("ray-address", ADDRESS_HELP),
)
"""Where the work is done, and by which cluster."""


def take_engine(others: dict[str, Any]) -> Engine:
    """Take the options of the engine out of the others; a command without them works in this process."""
    return choose_engine(others.pop("engine", IN_PROCESS), others.pop("ray_address", None))
