"""One of many systems that share a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recallbench.results.rankings import Rankings
from recallbench.results.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Entrant:
    """One of many systems: its rankings, and its folder where it has one."""

    name: str
    rankings: Rankings
    result: Result | None = None
    note: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Its settings, where it has no folder that states them."""
    p95_ms: float | None = None
    """Of its calls, where it has no folder with the times of queries."""
    basis: Mapping[str, str] = field(default_factory=dict)
    """What comparable systems share beside the questions."""

    @property
    def stated(self) -> Mapping[str, str]:
        """Return its settings."""
        return self.settings if self.result is None else self.result.metrics.guc_state
