"""The answer of a memory outside this project, checked against its promises before anything is counted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from recallbench.errors import InputError
from recallbench.escaping.terminal import shortened
from recallbench.stores.promises import Breach, find_breach
from recallbench.stores.store import Hit, Query

SCORES = "scores"
"""The evidence that says how such a memory scores; results of the first edition of the statistics lack it."""
ALIKE, BY_K = "one for an item, whatever k is", "depend on k, as the memory says of itself"
RANKS = "none of its own: 1 / rank stands for them"
GO_ON = "evaluate and run go on without that question with --keep-going"


class Contract:
    """The promises of one memory; `whose` is how errors call it, `remedy` what its owner should do."""

    def __init__(self, whose: str, remedy: str) -> None:
        self.whose = whose
        self.remedy = remedy

    def hits(self, pairs: Any, query: Query, k: int, known: Collection[int]) -> list[Hit]:
        """The hits of one question: at most k, ids of its scope, each once, finite scores, best first.

        Hits of equal score may come in any order and go by id. Another order than that of the scores is refused, not
        repaired: it may be a distance, which gets smaller as it gets better, and sorting it would rank the worst first.
        """
        if not isinstance(pairs, Iterable) or isinstance(pairs, (str, bytes, Mapping)):
            description = "None" if pairs is None else f"a {type(pairs).__name__}"
            raise self.broken(query, "a list of (id, score) pairs", description)
        pairs = list(pairs)
        hits = [self._hit(pair, query) for pair in pairs]
        breach = find_breach([hit.id for hit in hits], [hit.score for hit in hits], k=k, known=known)
        if breach:
            raise self._breach(breach, hits, k, query)
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def broken(self, query: Query, expected: str, found: str) -> InputError:
        """The error of an answer that breaks a promise."""
        return InputError(
            f"{self.whose} broke its contract on the question {question_of(query)}",
            expected=expected,
            found=found,
            remedy=self.remedy,
        )

    def _breach(self, breach: Breach, hits: Sequence[Hit], k: int, query: Query) -> InputError:
        hit, before = hits[breach.place], hits[breach.place - 1]
        if breach.promise == "at most k hits":
            return self.broken(query, f"at most k = {k} hits", f"{len(hits)} hits")
        if breach.promise == "finite scores":
            return self.broken(query, "a finite score for each hit", f"{hit.score} for the id {hit.id}")
        if breach.promise == "each id once":
            return self.broken(query, "each id once", f"the id {hit.id} twice")
        if breach.promise == "best first":
            description = f"the id {hit.id} with {hit.score:g} behind the id {before.id} with {before.score:g}"
            return self.broken(
                query, "hits with the highest score first (a distance is to be turned round)", description
            )
        return self.broken(query, "ids of the items it was given for this scope", f"the id {hit.id}")

    def _hit(self, pair: Any, query: Query) -> Hit:
        try:
            identity, score = pair
            if isinstance(identity, (bool, str, bytes)) or isinstance(score, (bool, str, bytes)):
                raise TypeError
            hit = Hit(int(identity), float(score))
            whole = hit.id == identity
        except (TypeError, ValueError, OverflowError):
            raise self.broken(query, "pairs of item id and score", repr(pair)[:80]) from None
        if not whole:
            raise self.broken(query, "whole numbers as ids", repr(identity)[:80])
        return hit


def question_of(query: Query) -> str:
    """The question as an error names it."""
    return f"`{shortened(query.text)}`"
