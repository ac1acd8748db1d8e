"""What a survey of every universe comes to, in words."""

from __future__ import annotations

from recallbench.foreign.multiverse import Multiverse
from recallbench.foreign.universes import Cell
from recallbench.reports.conclusions.names import listed
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.scoring.measures.registry import MEASURES, family

_AUDIT = "recallbench audit, which says what was changed"


def conclusion(universes: Multiverse) -> Conclusion:
    """Return which universe gives the published numbers, and how far figures of that name lie apart.

    Where no number is asked about, or none is found, those that lie furthest apart are told of.
    """
    found = [(number.text, matches) for number in universes.placed if (matches := universes.matches(number))]
    lost = [number.text for number in universes.placed if not number.equals]
    between = _range(universes, found[0][1][0][0] if found else None)
    if not between:
        return Conclusion(f"{universes.folder}: no figure follows from these rankings", tone="bad")
    told = [f"{len(found)} of {len(universes.placed)} numbers are found, as above"] if found else []
    if len(found) == 1:
        ((text, matches),) = found
        told = [f"{text} is what {matches[0][0].universe} gives{_more(len(matches))}"]
    told += [f"{listed(lost)} {'is' if len(lost) == 1 else 'are'} what no universe gives"] if lost else []
    first, *others = [*told, between]
    happened = first[0].upper() + first[1:]
    if universes.warnings:
        return Conclusion(happened, "; ".join([*others, "the folder is not as it was written"]), _AUDIT, tone="bad")
    if not universes.placed:
        then = "--published NUMBER finds a number that somebody states"
        return Conclusion(f"{happened}, by definition, scope and denominator", "", then)
    return Conclusion(happened, "; ".join(others), tone="bad" if lost else "good")


def _range(universes: Multiverse, like: Cell | None) -> str:
    """Return between what the figures of one name lie; empty where there are none."""
    name = None if like is None else (family(MEASURES[like.definition.kind]), like.definition.k)
    spans = [span for span in universes.ranges if name in (None, (span.family, span.k))]
    widest = max(spans, key=lambda span: (span.high - span.low, span.k), default=None)
    if widest is None:
        return ""
    return f"one set of rankings gives {widest.family}@{widest.k} from {widest.low:.4f} to {widest.high:.4f}"


def _more(count: int) -> str:
    return f", and {count - 1} others" if count > 2 else ", and one other" if count == 2 else ""
