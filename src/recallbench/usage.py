"""The tokens that an endpoint counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens by what is charged for them; no token stands in two of the counts."""

    fresh: int = 0
    """Read, and not from a cache."""
    cache_read: int = 0
    """Read from the endpoint's cache."""
    cache_write: int = 0
    """Read, and put into the endpoint's cache."""
    output: int = 0
    """Written."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.fresh + other.fresh,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )
