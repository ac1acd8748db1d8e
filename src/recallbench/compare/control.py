"""A control of a result as a system of its own: its kept ranking, judged as the store's was."""

from __future__ import annotations

from recallbench.compare.trec import place_run
from recallbench.errors import InputError
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.results.retrievals import CONTROL_RUN
from recallbench.results.trec import read_run


def control_rankings(result: Result, kept: str = CONTROL_RUN) -> Rankings | None:
    """Return the ranking of a control, BM25's by itself, that a folder keeps; None where it can't be judged."""
    try:
        run = read_run(result.folder / kept)
        return place_run(kept, {q: [id for id, _ in hits] for q, hits in run.items()}, result.rankings)
    except InputError:  # a folder without it, or gold with grades, which rankings do not keep
        return None
