"""Many systems on the same questions, paired with each other, and Holm's correction for all of these tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

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


def alike(rankings: Sequence[Rankings], measure: Measure) -> list[list[int]]:
    """Return the places of the systems, those together that have the same value for every question."""
    groups: dict[bytes, list[int]] = {}
    for place, each in enumerate(rankings):
        groups.setdefault(each.values(measure)[each.counted(measure)].tobytes(), []).append(place)
    return list(groups.values())


def paired_systems(rankings: Sequence[Rankings], measure: Measure, places: Iterable[Places]) -> list[SystemPair]:
    """Return the comparison of each of these pairs, corrected by Holm for all of them."""
    pairs = list(places)
    return _corrected(pairs, [pair(rankings[first], rankings[second], [measure])[0] for first, second in pairs])


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
    return _corrected(pairs, compared)


def letters_of(values: Sequence[float], pairs: Iterable[SystemPair]) -> list[str]:
    """Return the letters of systems, in their order, by the comparison of every pair: the best one has an `a`."""
    best_first = sorted(range(len(values)), key=lambda place: -values[place])
    place_of = {system: place for place, system in enumerate(best_first)}
    apart = [(place_of[first], place_of[second]) for (first, second), _, p in pairs if p <= LEVEL]
    letters = shared_letters(len(values), apart)
    return [letters[place_of[system]] for system in range(len(values))]


def _corrected(places: Sequence[Places], compared: Sequence[Paired]) -> list[SystemPair]:
    adjusted = holm([paired.test.p for paired in compared])
    return [SystemPair(*each) for each in zip(places, compared, adjusted, strict=True)]
