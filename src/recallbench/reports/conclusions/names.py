"""Names in a line that has room for a few of them."""

from __future__ import annotations

from collections.abc import Sequence

NAMED = 3


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
