"""What a survey of every universe comes to, in words."""

from __future__ import annotations

from recallbench.foreign.multiverse import Multiverse
from recallbench.reports.printing.conclusion import Conclusion


def conclusion(universes: Multiverse) -> Conclusion:
    """Return how far the figures of one set of rankings lie apart, and where the published numbers are among them."""
    widest = max(universes.ranges, key=lambda span: (span.high - span.low, span.k), default=None)
    if widest is None:
        return Conclusion(f"{universes.folder}: no figure follows from these rankings", tone="bad")
    happened = (
        f"One set of rankings gives {widest.family}@{widest.k} from {widest.low:.4f} to {widest.high:.4f}, "
        "by definition, scope and denominator"
    )
    found = [number for number in universes.placed if number.equals]
    lost = [number.text for number in universes.placed if not number.equals]
    told = [f"{number.text} is what {number.equals[0].universe} gives{_more(len(number.equals))}" for number in found]
    told += [f"{', '.join(lost)} {'is' if len(lost) == 1 else 'are'} in none of them"] if lost else []
    if universes.warnings:
        return Conclusion(happened, "; ".join([*told, "the folder is not as it was written"]), _AUDIT, tone="bad")
    if not universes.placed:
        return Conclusion(happened, "", "--published NUMBER finds a number that somebody states")
    return Conclusion(happened, "; ".join(told), tone="bad" if lost else "good")


_AUDIT = "recallbench audit, which says what was changed"


def _more(count: int) -> str:
    return f", and {count - 1} others" if count > 2 else ", and one other" if count == 2 else ""
