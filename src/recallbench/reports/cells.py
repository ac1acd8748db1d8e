"""What the cells of tables hold: figures at one precision, intervals, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallbench.escaping.markdown import Markup
from recallbench.scoring.intervals import is_too_short

if TYPE_CHECKING:  # reports of one's own cases are shown without pydantic, which takes long to import
    from recallbench.results.metrics import EstimatePart, IntervalPart, Metrics
    from recallbench.scoring.estimate import Estimate

TOO_SHORT = "*too short*"
"""Beside an interval that holds the truth less often than 95% says."""


def figure(value: float | None, digits: int = 4) -> str:
    """Return a figure at the printed precision; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def system(metrics: Metrics) -> str:
    """Return the name of the store, with what of its settings is not its default."""
    return metrics.store.name + (f" ({metrics.store.variant})" if metrics.store.variant else "")


def share(value: float | None) -> str:
    """Return a share in percent; a dash where there is none."""
    return "–" if value is None else f"{value:.1%}"


def saturation(one: EstimatePart) -> str:
    """Say how far k reaches the haystacks; where order counts, a saturated value is no foregone one."""
    return share(one.saturated) + (" (but order counts)" if one.ordered and one.saturated else "")


def interval(one: EstimatePart | IntervalPart | Estimate, value: float | None = None) -> Markup:
    """Return a 95% interval, or a dash; `value` is what it is of, where the part does not say."""
    if one.low is None or one.high is None:
        return Markup("–")
    of = getattr(one, "value", value)
    short = f", {TOO_SHORT}" if is_too_short(of, one.design_effect) else ""
    return Markup(f"{one.low:.4f} to {one.high:.4f}{short}")
