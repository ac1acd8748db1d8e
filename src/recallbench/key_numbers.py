"""Numbers by keys that are hashes, in 12 bytes each: a dict takes ten times as much, and a corpus has 100,000 texts."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RECENT = 4096
"""Keys of late that are held in a dict until they are sorted in; a larger table takes more at once."""
NONE = -1


class KeyNumbers:
    """A number, 0 or more, by key. Keys count as one where their first eight bytes are equal."""

    def __init__(self) -> None:
        self._sorted = array("Q")
        self._numbers = array("i")
        self._recent: dict[int, int] = {}
        self._removed = 0

    def __len__(self) -> int:
        self._sort()
        return len(self._sorted) - self._removed

    def __contains__(self, key: bytes) -> bool:
        return self.get(key) is not None

    def get(self, key: bytes) -> int | None:
        """Return the number of a key; None where it has none."""
        number = self._find(int.from_bytes(key[:8], "little"))
        return None if number == NONE else number

    def update(self, keys: Sequence[bytes], numbers: Sequence[int]) -> None:
        """Give each key its number, the last one where it comes again."""
        self._recent.update(zip((int.from_bytes(key[:8], "little") for key in keys), numbers, strict=True))
        if len(self._recent) > max(RECENT, len(self._sorted) // 32):
            self._sort()

    def update_many(self, beginnings: npt.NDArray[np.uint64], first: int) -> None:
        """Number keys from `first` on, which are given by their first eight bytes, little end first."""
        self._sort()
        self._merge(beginnings, np.arange(first, first + len(beginnings), dtype=np.int32))

    def remove(self, key: bytes) -> None:
        """Forget a key that has a number."""
        self._recent[int.from_bytes(key[:8], "little")] = NONE

    def numbers(self) -> npt.NDArray[np.int32]:
        """Return the number of every key, in no order that means anything."""
        self._sort()
        every = np.frombuffer(self._numbers, np.int32) if self._numbers else np.zeros(0, np.int32)
        kept: npt.NDArray[np.int32] = every[every != NONE]
        return kept

    def _find(self, prefix: int) -> int:
        if prefix in self._recent:
            return self._recent[prefix]
        place = bisect_left(self._sorted, prefix)
        return self._numbers[place] if place < len(self._sorted) and self._sorted[place] == prefix else NONE

    def _sort(self) -> None:
        """Sort in what came of late; of equal keys the last one stays."""
        if not self._recent:
            return
        count = len(self._recent)
        self._merge(np.fromiter(self._recent, np.uint64, count), np.fromiter(self._recent.values(), np.int32, count))
        self._recent = {}

    def _merge(self, more: npt.NDArray[np.uint64], their: npt.NDArray[np.int32]) -> None:
        if not len(more):
            return
        order = np.argsort(more, kind="stable")
        more, their = more[order], their[order]
        last = np.append(more[1:] != more[:-1], True)
        more, their = more[last], their[last]
        # What is there stays as it is: to sort all of it anew would take several times its size for a moment.
        keys = _column(self._sorted, np.uint64)
        places = np.searchsorted(keys, more)
        known = places < len(keys)
        known[known] = keys[places[known]] == more[known]
        _column(self._numbers, np.int32)[places[known]] = their[known]
        new = ~known
        self._sorted = _inserted(self._sorted, places[new], more[new])
        self._numbers = _inserted(self._numbers, places[new], their[new])
        self._removed = int(np.count_nonzero(_column(self._numbers, np.int32) == NONE))


def _inserted(numbers: array[int], places: npt.NDArray[np.intp], more: npt.NDArray[np.generic]) -> array[int]:
    every = array(numbers.typecode)
    every.frombytes(np.insert(_column(numbers, more.dtype), places, more).view(np.uint8).data)
    return every


def _column(numbers: array[int], kind: npt.DTypeLike) -> npt.NDArray[np.generic]:
    return np.frombuffer(numbers, kind) if numbers else np.zeros(0, kind)
