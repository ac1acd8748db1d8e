"""The cells of tables: figures at the printed precision, intervals, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallbench.escaping.markdown import Markup
from recallbench.scoring.intervals import is_too_short

if TYPE_CHECKING:  # pydantic takes long to import, and reports of one's own cases do without
    from recallbench.results.answers_part import AnswerSharePart
    from recallbench.results.metrics import EstimatePart, IntervalPart, Metrics
    from recallbench.scoring.estimate import Estimate

TOO_SHORT = "*too short*"
"""The mark of an interval that covers the truth less often than 95% of the time."""


def figure(value: float | None, digits: int = 4) -> str:
    """Return a figure at the printed precision; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def every_digit(value: object) -> str:
    """Return a value for a program, as it is; nothing where there is none."""
    return "" if value is None else str(value)


def ten_digits(value: object) -> str:
    """Return the same with ten digits of a number."""
    return f"{value:.10g}" if isinstance(value, float) else every_digit(value)


def system(metrics: Metrics) -> str:
    """Return the name of the store, with its settings that are not defaults and the stages around it."""
    stages = metrics.pipeline.words if metrics.pipeline else ""
    return system_name(metrics.store.name, metrics.store.variant, stages)


def system_name(store: str, variant: str, stages: str = "") -> str:
    """Return the name of a store with the words for its settings that are not defaults, and for a pipeline's stages."""
    named = f"{store} ({variant})" if variant else store
    return f"{named}: {stages}" if stages else named


def share(value: float | None) -> str:
    """Return a share in percent; a dash where there is none."""
    return "–" if value is None else f"{value:.1%}"


def saturation(estimate: EstimatePart, *, early: bool = False) -> str:
    """Return the share of haystacks no larger than k; a dash where the order counts all the same.

    Reports of release 0.1, which are `early`, had it there too.
    """
    return share(estimate.saturated if early or not estimate.ordered else None)


def interval(part: EstimatePart | IntervalPart | AnswerSharePart | Estimate, value: float | None = None) -> Markup:
    """Return a 95% interval, or a dash; `value` is that of a part without its own."""
    if part.low is None or part.high is None:
        return Markup("–")
    of = getattr(part, "value", value)
    short = f", {TOO_SHORT}" if is_too_short(of, part.design_effect) else ""
    return Markup(f"{part.low:.4f} to {part.high:.4f}{short}")


def rate(value: float | None) -> str:
    """Return how often a second, with four digits that count, and never as a power of ten."""
    if value is None:
        return "–"
    return f"{float(f'{value:.4g}'):.10g}"


def milliseconds(value: float | None) -> str:
    """Return a time at three digits, as far as it has any before the point; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def in_no_mean(abstaining: int) -> str:
    """Return how many questions should find nothing, and count in no mean."""
    return f"{abstaining} that should find nothing, in no mean"
