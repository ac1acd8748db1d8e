"""What a memory derived from the items it was given: each counts through its source, at the source's first place.

k counts sources. An answer may have more items than k as long as they come from k sources at most: so a memory of facts
or turns is asked for as many sessions as any other, and more of its own items never bring it more of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from recallbench.stores.store import Hit

DERIVED = "derived"
"""The evidence that a memory answered with items of its own."""
TOLD = "each counts through its source, at its first place; at most"
"""What that evidence says, before the most items that an answer for k hits had, by k."""
PER_HIT = 1000
"""The most items of its own that a memory may return for each hit it is asked for: an answer has to end."""


class FoundItem(NamedTuple):
    """One item of an answer, and the item that it counts as."""

    own: Hashable
    """How the memory calls it."""
    score: float
    source: int
    derived: bool = True
    """Else it is an item that the memory was given."""

    @property
    def name(self) -> Hashable:
        """How an error names it: by the memory's own id, or by its source where the memory gave it none."""
        return self.source if type(self.own) is object else self.own


def most_entries(k: int) -> int:
    """Return the most items that an answer for k hits may have."""
    return PER_HIT * k


class SourceCount:
    """The hits of an answer so far: one for each source, and one for each given item that comes again."""

    def __init__(self) -> None:
        self.hits = 0
        self._sources: set[Hashable] = set()
        self._given: set[Hashable] = set()

    def adds(self, source: Hashable, *, derived: bool) -> bool:
        """Count an item of the answer; return whether it is a hit more."""
        more = source not in self._sources or (not derived and source in self._given)
        self.hits += more
        self._sources.add(source)
        self._given |= set() if derived else {source}
        return more


def fold(entries: Sequence[FoundItem]) -> list[Hit]:
    """Return a hit for each source at the place of its first item; a given item that came twice stays twice."""
    count = SourceCount()
    return [Hit(entry.source, entry.score) for entry in entries if count.adds(entry.source, derived=entry.derived)]


def repeated(entries: Sequence[FoundItem]) -> FoundItem | None:
    """Return the first derived item that came before under its own name; None where each came once."""
    seen: set[Hashable] = set()
    for entry in entries:
        if entry.derived and entry.own in seen:
            return entry
        seen |= {entry.own} if entry.derived else set()
    return None


def until_too_many(answer: Iterable[Any], k: int) -> Iterator[Any]:
    """Yield the items of an answer that may never end, up to the one that is too many."""
    count = SourceCount()
    for item in islice(answer, most_entries(k) + 1):
        yield item
        row = item if isinstance(item, (tuple, list)) and item else [object()]
        derived = len(row) == 3
        try:
            count.adds(row[2] if derived else row[0], derived=derived)
        except TypeError:
            return  # what has no hash is no id: the answer is refused for it
        if count.hits > k:
            return
