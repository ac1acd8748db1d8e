"""What printed tables hold: figures at one precision, intervals, shares, and rows between bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.escaping.markdown import Markup, table
from recallbench.results.metrics import COMPARED, OVERALL, EstimatePart, IntervalPart, Metrics
from recallbench.scoring.estimate import Estimate
from recallbench.scoring.intervals import is_too_short

TOO_SHORT = "*too short*"
"""Beside an interval that holds the truth less often than 95% says."""


def figure(value: float | None, digits: int = 4) -> str:
    """A figure at the printed precision; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def system(metrics: Metrics) -> str:
    """The store, and what of its settings is not its default."""
    return metrics.store.name + (f" ({metrics.store.variant})" if metrics.store.variant else "")


def share(value: float | None) -> str:
    """A share in percent; a dash where there is none."""
    return "–" if value is None else f"{value:.1%}"


def saturation(one: EstimatePart) -> str:
    """How far k reaches the haystacks; where order counts, a saturated value is no foregone one."""
    return share(one.saturated) + (" (but order counts)" if one.ordered and one.saturated else "")


def interval(one: EstimatePart | IntervalPart | Estimate, value: float | None = None) -> Markup:
    """A 95% interval, or a dash; `value` is what it is of, where the part does not say."""
    if one.low is None or one.high is None:
        return Markup("–")
    of = value if isinstance(one, IntervalPart) else one.value
    short = f", {TOO_SHORT}" if is_too_short(of, one.design_effect) else ""
    return Markup(f"{one.low:.4f} to {one.high:.4f}{short}")


def sliced(metrics: Metrics, what: str, slices: Mapping[str, Sequence[EstimatePart]]) -> list[str]:
    """A Markdown table of the compared measures, a row for each slice."""
    names = [name for name in COMPARED if any(one.measure == name for one in metrics.estimates[OVERALL])]
    rows = []
    for kind, found in slices.items():
        by_name = {one.measure: one for one in found}
        shown = [by_name[name] for name in names]
        cells = (Markup(f"{figure(one.value)} ({interval(one)}; {figure(one.chance)})") for one in shown)
        rows.append((kind, str(shown[0].n), share(shown[0].saturated), *cells))
    return table((what, "n", "saturated at 10", *names), rows)
