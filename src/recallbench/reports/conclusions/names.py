"""Names in a line that has room for a few of them."""

from __future__ import annotations

from collections.abc import Sequence

NAMED = 3


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def joined(names: Sequence[str]) -> str:
    """Return the same with an "and" before the last name, as "a, b and c"."""
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    *first, last = [*names[:NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last
