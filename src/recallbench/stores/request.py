"""Which store a run asks for, and whether it could be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from recallbench.progress import Progress


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """A store by its name, with what the user gave it."""

    name: str = field(repr=False)
    """The store as it was typed; an address may hold a password."""
    environ: Mapping[str, str] = field(repr=False)
    dsn: str | None = field(default=None, repr=False)
    """The Postgres server that an option or the environment names; None asks for the embedded one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options by name, as text; `StoreOption.read` gives the value."""
    progress: Progress | None = None


class StoreStatus(NamedTuple):
    """Whether a store could be used now, what was seen, and what would help if not."""

    ready: bool
    detail: str
    remedy: str = ""
    decides: tuple[str, ...] = ()
    """What of it decides rankings, such as versions: alike on servers that a store is spread over."""
