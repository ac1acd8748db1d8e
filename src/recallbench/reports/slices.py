"""The compared measures by kind, ability or tenant, as `report.md` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.escaping.markdown import Markup
from recallbench.reports.cells import figure, interval, share
from recallbench.reports.table import Table
from recallbench.results.metrics import COMPARED, OVERALL, EstimatePart, Metrics


def slice_table(metrics: Metrics, what: str, slices: Mapping[str, Sequence[EstimatePart]]) -> list[str]:
    """Return a Markdown table of the compared measures, a row for each slice."""
    names = [name for name in COMPARED if any(estimate.measure == name for estimate in metrics.estimates[OVERALL])]
    rows = []
    for kind, estimates in slices.items():
        by_name = {estimate.measure: estimate for estimate in estimates}
        shown = [by_name[name] for name in names]
        cells = (
            Markup(f"{figure(estimate.value)} ({interval(estimate)}; {figure(estimate.chance)})") for estimate in shown
        )
        rows.append((kind, str(shown[0].n), share(shown[0].saturated), *cells))
    return Table((what, "n", "saturated at 10", *names), rows).markdown()
