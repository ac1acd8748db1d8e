"""The answer of a memory outside this project, checked against its promises before anything is counted."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from recallbench.errors import InputError
from recallbench.escaping.terminal import shortened
from recallbench.stores.outside.sources import DERIVED, PER_HIT, TOLD, FoundItem, fold, most_entries, repeated
from recallbench.stores.promises import Breach, find_breach
from recallbench.stores.store import Hit, Query

SCORES = "scores"
"""The evidence that says how such a memory scores; results of the first edition of the statistics lack it."""
ALIKE, BY_K = "one for an item, whatever k is", "depend on k, as the memory says of itself"
RANKS = "none of its own: 1 / rank stands for them"
SOURCES = "as source the id of an item it was given for this scope; none for a hit that is such an item"
GO_ON = "with --keep-going run and evaluate go on, and count that question as the worst answer"
DERIVED_EVIDENCE = {DERIVED: rf"{TOLD} [0-9]+ for [0-9]+ hits(, [0-9]+ for [0-9]+)*"}
"""The pattern of that evidence."""


class Contract:
    """The promises of one memory; `whose` is how errors call it, `remedy` what its owner should do."""

    def __init__(self, whose: str, remedy: str) -> None:
        self.whose = whose
        self.remedy = remedy
        self.derived: dict[int, int] = {}
        """By k the most items of its own that an answer had, where answers had any."""

    def hits(self, pairs: Any, query: Query, k: int, known: Collection[int]) -> list[Hit]:
        """The hits of one question: at most k, ids of its scope, each once, finite scores, best first.

        (id, score, source) is an item of the memory's own, which counts as its source.

        Hits of equal score may come in any order and go by id. Another order than that of the scores is refused, not
        repaired: it may be a distance, which gets smaller as it gets better, and sorting it would rank the worst first.
        """
        if not isinstance(pairs, Iterable) or isinstance(pairs, (str, bytes, Mapping)):
            description = "None" if pairs is None else f"a {type(pairs).__name__}"
            raise self.broken(query, "a list of (id, score) pairs", description)
        entries = [pair if isinstance(pair, FoundItem) else self._entry(pair, query, known) for pair in pairs]
        own = sum(entry.derived for entry in entries)
        if len(entries) > most_entries(k) and own:
            raise self.broken(query, f"at most {PER_HIT} items of its own for each of {k} hits", f"{len(entries)}")
        if (again := repeated(entries)) is not None:
            raise self.broken(query, "each item of its own once", f"the id {again.own!r:.80} twice")
        hits = fold(entries)
        breach = find_breach([hit.id for hit in hits], [hit.score for hit in hits], k=k, known=known)
        named: Sequence[tuple[Hashable, float]] = hits
        if own and (not breach or breach.promise in ("finite scores", "best first")):
            # The order and the numbers of what was folded away are promised too.
            breach = find_breach([entry.source for entry in entries], [e.score for e in entries], repeats=True)
            named = [(entry.name, entry.score) for entry in entries]
        if breach:
            raise self._breach(breach, named, k, query, "sources" if own else "hits")
        if own:
            self.derived[k] = max(self.derived.get(k, 0), own)
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def evidence(self) -> dict[str, str]:
        """Return how items of its own were counted; nothing where there were none."""
        if not self.derived:
            return {}
        first, *others = sorted(self.derived)
        more = "".join(f", {self.derived[k]} for {k}" for k in others)
        return {DERIVED: f"{TOLD} {self.derived[first]} for {first} hits{more}"}

    def broken(self, query: Query, expected: str, found: str) -> InputError:
        """The error of an answer that breaks a promise."""
        return InputError(
            f"{self.whose} broke its contract on the question {question_of(query)}",
            expected=expected,
            found=found,
            remedy=self.remedy,
        )

    def _breach(
        self, breach: Breach, hits: Sequence[tuple[Hashable, float]], k: int, query: Query, counted: str
    ) -> InputError:
        (id, score), (id_before, score_before) = hits[breach.place], hits[breach.place - 1]
        if breach.promise == "at most k hits":
            return self.broken(query, f"at most k = {k} {counted}", f"{len(hits)} {counted}")
        if breach.promise == "finite scores":
            return self.broken(query, "a finite score for each hit", f"{score} for the id {id!r:.80}")
        if breach.promise == "each id once":
            return self.broken(query, "each id once", f"the id {id} twice")
        if breach.promise == "best first":
            description = f"the id {id!r:.80} with {score:g} behind the id {id_before!r:.80} with {score_before:g}"
            return self.broken(
                query, "hits with the highest score first (a distance is to be turned round)", description
            )
        return self.broken(query, "ids of the items it was given for this scope", f"the id {id}")

    def _entry(self, item: Any, query: Query, known: Collection[int]) -> FoundItem:
        try:
            own, score, *sources = item
            if len(sources) > 1 or isinstance(score, (bool, str, bytes)) or isinstance(own, (bool, bytes)):
                raise TypeError
            if not sources and isinstance(own, str):
                raise TypeError
            number, _ = float(score), hash(own)
            if not sources:
                entry = FoundItem(own, number, int(own), derived=False)
        except (TypeError, ValueError, OverflowError):
            raise self.broken(query, "pairs of item id and score", repr(item)[:80]) from None
        if sources:
            (source,) = sources
            if not isinstance(source, Integral) or isinstance(source, bool) or source not in known:
                raise self.broken(query, SOURCES, f"the source {source!r:.80} of {own!r:.80}")
            return FoundItem(own, number, int(source))
        if entry.source != own:
            raise self.broken(query, "whole numbers as ids", repr(own)[:80])
        return entry


def question_of(query: Query) -> str:
    """The question as an error names it."""
    return f"`{shortened(query.text)}`"
