"""The answer of a class of the user's, read as pairs of item id and score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple
from uuid import UUID

from recallbench.stores.outside.answer import SOURCES, Contract
from recallbench.stores.outside.method import IDS
from recallbench.stores.outside.sources import FoundItem, SourceCount, most_entries
from recallbench.stores.store import Item, Query

ID_FIELDS = (*IDS, "_id")
TEXT_FIELDS = ("text", "content", "page_content", "document", "memory")
SOURCE = ("source",)
"""The field of a hit that names the item it was derived from."""
SCORE_FIELDS = ("score", "similarity", "relevance", "relevance_score")
LISTS = ("results", "hits", "matches", "memories")
"""The keys under which a mapping may hold its hits."""
HITS = "a list of ids, of (id, score) pairs or (id, score, source), or of dicts or objects with id and score"


class _Names(NamedTuple):
    """One way to name the items: by these fields of a hit, or of its metadata."""

    fields: tuple[str, ...]
    items: Mapping[Any, int]
    of_metadata: bool = False

    def name_in(self, hit: Any) -> Any:
        if self.of_metadata:
            return _field(_field(hit, ("metadata",)), self.fields)
        return hit if _is_id(hit) else _field(hit, self.fields)


class KnownItems:
    """The items of one scope, by all that a hit may call them."""

    def __init__(self, items: Sequence[Item], *, by_id: bool, by_metadata: bool, returned: Sequence[Any] = ()) -> None:
        """`by_id`: `add` was given ids; `by_metadata`: only the metadata had them; `returned`: what `add` answered."""
        given = {name: item.id for item in items for name in (item.id, str(item.id))}
        self._ways: list[_Names] = []
        self._alike: dict[str, list[int]] = {}
        if by_metadata:
            self._ways.append(_Names(("id",), given, of_metadata=True))
            self.expected = "hits whose metadata has the id that `add` was given in it"
        if by_id:
            self._ways.append(_Names(ID_FIELDS, given))
            self.expected = f"ids that `add` was given for this haystack, such as {str(items[0].id)!r}"
            return
        own = [answer if _is_id(answer) else _field(answer, ID_FIELDS) for answer in returned]
        if len(own) == len(items) and all(map(_is_id, own)) and len(set(own)) == len(own):
            self._ways.append(_Names(ID_FIELDS, {name: item.id for name, item in zip(own, items, strict=True)}))
            self.expected = f"ids that `add` returned, such as {own[0]!r}"
        elif not by_metadata:
            for item in items:
                self._alike.setdefault(item.text, []).append(item.id)
            self._ways.append(_Names(TEXT_FIELDS, {text: ids[0] for text, ids in self._alike.items()}))
            self.expected = "the texts that `add` was given, since it takes no id or metadata, and returns no ids"

    def find(self, hit: Any, before: Collection[int] = ()) -> tuple[int | None, Any]:
        """Return the item that a hit names, None where it names none, and the name.

        Of items with one text, where texts are the names, it is the first that is not among those `before`.
        """
        names = [way.name_in(hit) for way in self._ways]
        for way, name in zip(self._ways, names, strict=True):
            if _is_id(name) and name in way.items:
                return next((id for id in self._alike.get(name, ()) if id not in before), way.items[name]), name
        return None, next((name for name in names if name is not None), hit)

    def find_source(self, name: Any) -> int | None:
        """Return the item of that name; None where there is none."""
        return next((way.items[name] for way in self._ways if _is_id(name) and name in way.items), None)

    def own_name(self, hit: Any) -> Any:
        """Return the id of a hit's own where only its metadata names an item; None for a hit without one."""
        if _is_id(hit) or not any(way.of_metadata for way in self._ways):
            return None
        name = _field(hit, ID_FIELDS)
        return name if _is_id(name) and all(name not in way.items for way in self._ways) else None


class Reading(NamedTuple):
    """The items of an answer."""

    entries: list[FoundItem]
    scored: bool
    """Else the rank stands for the score: 1 / rank."""


def read_answer(answer: Any, query: Query, k: int, known: KnownItems, contract: Contract, *, cut: bool) -> Reading:
    """Return the hits of an answer; raises InputError where they can't be read, or are more than k and not to be cut.

    Of an answer that may never end no more is read than decides.
    """
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in LISTS if name in answer), answer)
    if not isinstance(answer, Iterable) or isinstance(answer, (str, bytes, Mapping)):
        keys = f" with the keys {', '.join(map(str, answer))}" if isinstance(answer, Mapping) else ""
        raise contract.broken(query, HITS, _kind(answer) + keys)
    found: list[tuple[Any, int, bool]] = []
    scores: list[float] = []
    counted: set[int] = set()
    count = SourceCount()
    for number, hit in enumerate(islice(answer, most_entries(k) + 1), 1):
        own, id, derived = _named(hit, query, known, counted, contract)
        count.adds(id, derived=derived)
        if count.hits > k:
            if cut:
                break
            if derived or any(entry[2] for entry in found):
                last = isinstance(answer, Sized) and number == len(answer)
                raise contract.broken(
                    query, f"at most k = {k} sources", f"{count.hits}{'' if last else ' or more'} sources"
                )
            told = str(len(answer)) if isinstance(answer, Sized) else f"{number} or more"
            raise contract.broken(query, f"at most k = {k} hits", f"{told} hits")
        counted.add(id)
        found.append((own, id, derived))
        score = hit[1] if _is_row(hit) else None if _is_id(hit) else _field(hit, SCORE_FIELDS)
        if score is not None:
            try:
                if isinstance(score, (bool, str, bytes)):
                    raise TypeError
                scores.append(float(score))
            except (TypeError, ValueError):
                raise contract.broken(query, "a number as score", f"{score!r:.80}, {_kind(score)}") from None
    if scores and len(scores) < len(found):
        raise contract.broken(query, "a score for each hit, or for none", f"{len(scores)} for {len(found)} hits")
    scored = bool(scores) or not found
    scores = scores or [1 / rank for rank in range(1, len(found) + 1)]
    return Reading(
        [FoundItem(own, score, id, derived) for (own, id, derived), score in zip(found, scores, strict=True)],
        scored=scored,
    )


def _named(
    hit: Any, query: Query, known: KnownItems, before: Collection[int], contract: Contract
) -> tuple[Any, int, bool]:
    """Return how a hit is called, the item that it counts as, and whether it was derived from that."""
    named = hit[0] if _is_row(hit) else hit
    stated = _is_row(hit) and len(hit) == 3
    source = hit[2] if stated else None if _is_id(named) else _field(named, SOURCE)
    id = known.find_source(source)
    # A field of that name may say something else of an item that the memory was given.
    if _is_id(source) and (id is not None or stated or known.find(named)[0] is None):
        own = named if _is_id(named) else _field(named, ID_FIELDS)
        if id is None:
            raise contract.broken(query, f"{SOURCES}; {known.expected}", f"the source {source!r:.80} of {own!r:.80}")
        # Without a name of its own it is another one each time.
        return (own if _is_id(own) else object()), id, True
    found, name = known.find(named, before)
    if found is None:
        if _is_row(hit) and isinstance(named, float) and known.find(hit[1])[0] is not None:
            raise contract.broken(query, "pairs of (id, score)", f"({named!r}, {hit[1]!r:.80}), which is (score, id)")
        raise contract.broken(query, known.expected, f"{name!r:.80}, {_kind(name)}")
    own = known.own_name(named)
    return (found, found, False) if own is None else (own, found, True)


def _is_row(hit: Any) -> bool:
    return isinstance(hit, (tuple, list)) and len(hit) in (2, 3)


def _field(holder: Any, names: Sequence[str]) -> Any:
    """Return the first of these fields that a mapping or object has; None where it has none."""
    values = (holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None) for name in names)
    return next((value for value in values if value is not None), None)


def _is_id(name: Any) -> bool:
    return isinstance(name, (str, Integral, UUID)) and not isinstance(name, bool)


def _kind(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
