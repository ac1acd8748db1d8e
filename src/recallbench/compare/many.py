"""Many systems on the same questions, paired with each other, and Holm's correction for all of these tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallbench.compare.pairs import pair, same_questions
from recallbench.reports.comparison import LEVEL
from recallbench.results.rankings import Rankings
from recallbench.scoring.letters import shared_letters
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.paired import Paired, holm, paired_columns

Places = tuple[int, int]


class SystemPair(NamedTuple):
    """Two systems by their places, the second minus the first."""

    places: Places
    paired: Paired
    p_holm: float


def every_pair(size: int) -> list[Places]:
    """Return the places of each pair among so many systems."""
    return list(combinations(range(size), 2))


def alike(rankings: Sequence[Rankings], measure: Measure) -> list[int]:
    """Return by system the first that has the same value for every question: itself, where none before it has."""
    return _first_alike([each.values(measure)[each.counted(measure)] for each in rankings])


def paired_systems(rankings: Sequence[Rankings], measure: Measure, places: Iterable[Places]) -> list[SystemPair]:
    """Return the comparison of each of these pairs, corrected by Holm for all of them.

    Systems that have the same value for every question count as one there: between them no test could ever find
    anything, and against any other they give the same one.
    """
    pairs = list(places)
    compared = [pair(rankings[first], rankings[second], [measure])[0] for first, second in pairs]
    return _corrected(pairs, compared, alike(rankings, measure))


def paired_over_corpora(
    corpora: Sequence[Sequence[Rankings]], names: Sequence[str], measure: Measure, places: Iterable[Places]
) -> list[SystemPair]:
    """Return the same over the questions of several corpora, each of which counts once.

    Each corpus has the rankings of all systems, in one order. Clusters of corpora with the same name are the same.
    """
    for rankings in corpora:
        for other in rankings[1:]:
            same_questions(rankings[0], other)
    counted = [rankings[0].counted(measure) for rankings in corpora]
    clusters = [
        f"{name}/{cluster}" if cluster else ""
        for rankings, name, keep in zip(corpora, names, counted, strict=True)
        for cluster, kept in zip(rankings[0].clusters, keep.tolist(), strict=True)
        if kept
    ]
    values = [
        np.concatenate(
            [rankings[system].values(measure)[keep] for rankings, keep in zip(corpora, counted, strict=True)]
        )
        for system in range(len(corpora[0]))
    ]
    pairs = list(places)
    compared = [paired_columns(values[first][:, None], values[second][:, None], clusters)[0] for first, second in pairs]
    return _corrected(pairs, compared, _first_alike(values))


def letters_of(values: Sequence[float], pairs: Iterable[SystemPair]) -> list[str]:
    """Return the letters of systems, in their order, by the comparison of every pair: the best one has an `a`."""
    best_first = sorted(range(len(values)), key=lambda place: -values[place])
    place_of = {system: place for place, system in enumerate(best_first)}
    apart = [(place_of[first], place_of[second]) for (first, second), _, p in pairs if p <= LEVEL]
    letters = shared_letters(len(values), apart)
    return [letters[place_of[system]] for system in range(len(values))]


def _first_alike(values: Sequence[NDArray[np.float64]]) -> list[int]:
    firsts: dict[bytes, int] = {}
    return [firsts.setdefault(column.tobytes(), place) for place, column in enumerate(values)]


def _corrected(places: Sequence[Places], compared: Sequence[Paired], firsts: Sequence[int]) -> list[SystemPair]:
    tests = [frozenset((firsts[first], firsts[second])) for first, second in places]
    ps = {test: paired.test.p for test, paired in zip(tests, compared, strict=True) if len(test) > 1}
    adjusted = dict(zip(ps, holm(list(ps.values())), strict=True))
    return [
        SystemPair(pair, paired, adjusted.get(test, 1.0))
        for pair, paired, test in zip(places, compared, tests, strict=True)
    ]
