"""Which of several stores that one command measured finds most, as far as a paired test tells them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recallbench.compare.entrant import Entrant
from recallbench.compare.standings import standings
from recallbench.escaping.terminal import shortened
from recallbench.reports.cells import system
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.standings import conclusion
from recallbench.reports.summary import leading
from recallbench.results.result import Result
from recallbench.scoring.measures.registry import parse

LONGEST = 60
"""Characters of a store's name."""


def conclude_stores(results: Sequence[Result]) -> Conclusion:
    """Return who is first on the leading measure, as a table of the same results says it.

    The results are of one corpus. A store goes by its name; by its folder, where another has the same one.
    """
    estimate = leading(results[0].metrics)
    if estimate is None or estimate.value is None:
        return Conclusion(f"{len(results)} stores were asked nothing that has anything to find", tone="open")
    names = [shortened(system(result.metrics), LONGEST) for result in results]
    several = Counter(names)
    entrants = [
        Entrant(name if several[name] == 1 else str(result.folder), result.rankings)
        for name, result in zip(names, results, strict=True)
    ]
    return conclusion(standings(entrants, [parse(estimate.measure)]))
