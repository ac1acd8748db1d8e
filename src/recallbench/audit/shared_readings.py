"""What several audits read and work out alike: the dataset of one corpus, and the lexical control over it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MOST = 6
"""Readings that are kept, the last ones: folders of one corpus mostly follow each other."""
T = TypeVar("T")


class SharedReadings:
    """Readings by all that decides them."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def once(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what was read under this key, else read it; what can't be read is not kept."""
        if key not in self._kept:
            found = read()
            if len(self._kept) >= MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = found
        return self._kept[key]  # type: ignore[no-any-return]
