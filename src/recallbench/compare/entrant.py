"""One of many systems that share a table, and the control that its folder keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recallbench.compare.trec import place_run
from recallbench.errors import InputError
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.results.retrievals import CONTROL_RUN
from recallbench.results.trec import read_run


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


def control_rankings(entrant: Entrant) -> Rankings | None:
    """Return the ranking of the lexical control that a folder keeps; None where it can't be judged."""
    if entrant.result is None:
        return None
    try:
        run = read_run(entrant.result.folder / CONTROL_RUN)
        return place_run(CONTROL_RUN, {q: [id for id, _ in hits] for q, hits in run.items()}, entrant.rankings)
    except InputError:  # a folder without it, or gold with grades, which rankings do not keep
        return None
