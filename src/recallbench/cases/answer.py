"""The answer of a retriever to one case, checked against its promises before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any

from recallbench.cases.case import SHOWN, Case
from recallbench.errors import InputError, RecallBenchError
from recallbench.stores.promises import Breach, find_breach

REMEDY = "return at most k distinct ids, or (id, score) pairs, best first"


@dataclass(frozen=True, slots=True)
class Answer:
    """The ids that came back, best first, and their scores where there are any."""

    ids: tuple[Any, ...]
    scores: tuple[float, ...] | None = None
    failure: RecallBenchError | None = None
    """Why the case failed; it then counts as an empty ranking."""
    ms: float | None = None
    """Milliseconds that the caller waited for it; None for a call that was not timed, and for a case that failed."""


def check_answer(
    case: Case, ranking: Any, k: int | None = None, *, repeats: bool = False, ms: float | None = None
) -> Answer:
    """Return the answer, if it keeps its promises; raises InputError, naming the case, if it does not.

    At most k hits, ids or (id, score) pairs, each id once (`repeats` lets texts come again), finite scores, the highest
    first. Another order than that of the scores is refused, not repaired: it may be a distance, which gets smaller as
    it gets better.
    """
    if type(ranking) is not list and (
        isinstance(ranking, (str, bytes, Mapping, Set)) or not isinstance(ranking, Iterable)
    ):
        description = "None" if ranking is None else f"a {type(ranking).__name__}"
        raise case.wrong(
            "the retriever returned no ranking", "a list of ids or of (id, score) pairs", description, REMEDY
        )
    hits = first_hits(ranking, k)
    scores: tuple[float, ...] | None = None
    if hits and _is_pair(hits[0]):
        ids, scores = _split(case, hits)
    else:
        ids = tuple(hits)
        if not {tuple, list}.isdisjoint(map(type, hits)):
            _refuse_odd_scores(case, hits)
    distinct = _distinct_ids(case, ids, scores is not None)
    # Whether an id comes twice is known by now: it is not to be counted again.
    if breach := find_breach(ids, scores, k=k, repeats=repeats or len(distinct) == len(ids)):
        if breach.promise == "at most k hits":
            count = f"{len(ranking)}" if isinstance(ranking, Sized) else f"{breach.place + 1} or more"
            raise case.wrong("the retriever returned too many", f"at most k = {k} hits", count, REMEDY)
        raise _refusal(case, breach, ids, scores or ())
    return Answer(ids, scores, None, ms)


def first_hits(ranking: Iterable[Any], k: int | None) -> list[Any]:
    """Return the hits; of anything but a list no more than k + 1 are read, for it may never end."""
    if type(ranking) is list:
        return ranking
    return list(ranking if k is None else islice(ranking, k + 1))


def failure_of(case: Case, error: BaseException) -> InputError:
    """Return the error of a retriever that raised, naming the case."""
    if isinstance(error, InputError):
        return error
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    failure = case.wrong("the retriever raised", "a ranking", message, "mend the retriever, or go on with keep_going")
    failure.__cause__ = error
    return failure


def _is_pair(hit: Any) -> bool:
    if type(hit) is str:
        return False
    return isinstance(hit, (tuple, list)) and len(hit) == 2 and _is_number(hit[1])


def _refuse_odd_scores(case: Case, hits: Sequence[Any]) -> None:
    """A pair is an id only where relevant ids are tuples too."""
    if any(isinstance(id, tuple) for id in case.relevant):
        return
    for place, hit in enumerate(hits, 1):
        paired = isinstance(hit, (tuple, list)) and len(hit) == 2
        if paired and not _is_number(hit[1]) and (case.relevant or hit[1] is None):
            raise _odd_score(case, hit, place)


def _odd_score(case: Case, hit: Any, place: int) -> InputError:
    description = f"{hit[1]!r} at place {place}, in {hit!r}"[: 2 * SHOWN]
    return case.wrong("a score is not a number", "(id, score), the score a finite number", description, REMEDY)


def _is_number(value: Any) -> bool:
    if type(value) is float:
        return True
    # NumPy's and torch's scalars are floats in all but type.
    return not isinstance(value, (str, bytes, bool)) and hasattr(value, "__float__")


def _split(case: Case, hits: list[Any]) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    try:
        ids, raw_scores = zip(*hits, strict=True)
        if set(map(type, raw_scores)) == {float}:
            scores = raw_scores
        elif all(map(_is_number, raw_scores)):
            scores = tuple(map(float, raw_scores))
        else:
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        at, odd = next(((n, hit) for n, hit in enumerate(hits, 1) if not _is_pair(hit)), (1, hits[0]))
        if isinstance(odd, (tuple, list)) and len(odd) == 2:
            raise _odd_score(case, odd, at) from None
        raise case.wrong(
            "the hits are of two forms", "all of them (id, score) pairs, or all of them ids", repr(odd)[:SHOWN], REMEDY
        ) from None
    return ids, scores


def _refusal(case: Case, breach: Breach, ids: Sequence[Any], scores: Sequence[float]) -> InputError:
    place = breach.place
    if breach.promise == "each id once":
        return case.wrong("an id came back twice", "each id once", f"{ids[place]!r} again at place {place + 1}", REMEDY)
    if breach.promise == "finite scores":
        description = f"{scores[place]} for {ids[place]!r} at place {place + 1}"
        return case.wrong("a score is not a number", "finite scores", description, "mend the retriever's scores")
    return case.wrong(
        "the scores are not in order",
        "the highest score first",
        f"{scores[place]:g} at place {place + 1}, behind {scores[place - 1]:g}",
        "sort by score, best first; a distance is to be turned round",
    )


def _distinct_ids(case: Case, ids: tuple[Any, ...], scored: bool) -> set[Any]:
    """Return the ids, each once; raises InputError for a hit that is none."""
    try:
        distinct = set(ids)
    except TypeError:
        odd = next(id for id in ids if not _hashable(id))
        expected = "(id, score) pairs whose id can be hashed" if scored else "ids that can be hashed, or (id, score)"
        raise case.wrong("a hit is not an id", expected, repr(odd)[:SHOWN], REMEDY) from None
    if None in distinct:
        raise case.wrong("a hit is not an id", "ids", f"None at place {ids.index(None) + 1}", REMEDY)
    if not scored and tuple in set(map(type, ids)) and any(_is_pair(id) for id in distinct):
        raise case.wrong(
            "the hits are of two forms", "all of them (id, score) pairs, or all of them ids", "both", REMEDY
        )
    return distinct


def _hashable(id: Any) -> bool:
    try:
        hash(id)
    except TypeError:
        return False
    return True
