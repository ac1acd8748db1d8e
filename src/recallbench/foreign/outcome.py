"""What a survey of every universe comes to, in words."""

from __future__ import annotations

from recallbench.foreign.multiverse import Multiverse
from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion

_AUDIT = "recallbench audit, which says what was changed"


def conclusion(universes: Multiverse) -> Conclusion:
    """Return how far the figures of one set of rankings lie apart, and where the published numbers are among them."""
    widest = max(universes.ranges, key=lambda span: (span.high - span.low, span.k), default=None)
    if widest is None:
        return Conclusion(f"{universes.folder}: no figure follows from these rankings", tone="bad")
    between = f"One set of rankings gives {widest.family}@{widest.k} from {widest.low:.4f} to {widest.high:.4f}"
    if universes.warnings:
        return Conclusion(between, "the folder is not as it was written", _AUDIT, tone="bad")
    if not universes.placed:
        then = "--published NUMBER finds a number that somebody states"
        return Conclusion(f"{between}, by definition, scope and denominator", "", then)
    found = [number for number in universes.placed if number.equals]
    lost = [number.text for number in universes.placed if not number.equals]
    told = [f"{len(found)} of {len(universes.placed)} numbers are found, as above"] if found else []
    if len(found) == 1:
        (first,) = found
        told = [f"{first.text} is what {first.equals[0].universe} gives{_more(len(first.equals))}"]
    told += [f"{listed(lost)} {'is' if len(lost) == 1 else 'are'} in none of them"] if lost else []
    return Conclusion(between, "; ".join(told), tone="bad" if lost else "good")


def _more(count: int) -> str:
    return f", and {count - 1} others" if count > 2 else ", and one other" if count == 2 else ""
