"""The promises of every answer: of a store in process, a server, a function, or a retriever of a test."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from operator import ge
from typing import Any, Literal, NamedTuple


class Breach(NamedTuple):
    """A promise that an answer breaks, and the first hit that breaks it."""

    promise: Literal["at most k hits", "finite scores", "best first", "each id once", "ids of the scope"]
    place: int
    """Counted from 0."""


def find_breach(
    ids: Sequence[Any],
    scores: Sequence[float] | None,
    *,
    k: int | None = None,
    known: Collection[Any] | None = None,
    ordered: bool = True,
    repeats: bool = False,
) -> Breach | None:
    """The first promise that an answer breaks; None where it keeps them all.

    `known` are the ids that may come, `scores` None where there are none. Not `ordered`: hits may come in any order;
    `repeats`: an id may come again.
    """
    if k is not None and len(ids) > k:
        return Breach("at most k hits", k)
    # One sum tells whether any score is NaN or infinite.
    if scores is not None and not math.isfinite(sum(scores)):
        place = next((n for n, score in enumerate(scores) if not math.isfinite(score)), None)
        if place is not None:
            return Breach("finite scores", place)
    if scores is not None and ordered and not all(map(ge, scores, scores[1:])):
        return Breach("best first", next(n for n in range(1, len(scores)) if scores[n] > scores[n - 1]))
    if not repeats and len(set(ids)) < len(ids):
        return Breach("each id once", next(n for n, id in enumerate(ids) if id in ids[:n]))
    if known is not None and not _all_known(ids, known):
        return Breach("ids of the scope", next(n for n, id in enumerate(ids) if id not in known))
    return None


def _all_known(ids: Sequence[Any], known: Collection[Any]) -> bool:
    if isinstance(known, range):
        return not ids or (min(ids) in known and max(ids) in known)
    return all(map(known.__contains__, ids))
