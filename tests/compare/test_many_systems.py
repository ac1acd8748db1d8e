"""Many systems in pairs: over one corpus, and over the questions of several together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hit_rankings import hits, rankings
from recallbench.compare.many import every_pair, letters_of, paired_over_corpora, paired_systems
from recallbench.errors import InputError
from recallbench.scoring.measures.registry import parse

ANY = parse("recall_any@1")


def test_letters_stand_in_the_order_given_and_the_best_has_an_a() -> None:
    systems = [rankings(hits(count)) for count in (20, 39, 38)]
    pairs = paired_systems(systems, ANY, every_pair(3))
    assert [pair.places for pair in pairs] == [(0, 1), (0, 2), (1, 2)]
    assert [pair.paired.difference for pair in pairs] == pytest.approx([0.475, 0.45, -0.025])
    assert letters_of([0.5, 0.975, 0.95], pairs) == ["b", "a", "a"]


def test_over_several_corpora_each_question_counts_once() -> None:
    small = [rankings([False] * 10), rankings([True] * 10)]
    large = [rankings(hits(20)), rankings(hits(20))]
    (pair,) = paired_over_corpora([small, large], ["one", "two"], ANY, [(0, 1)])
    assert (pair.paired.first, pair.paired.second) == (20 / 50, 30 / 50)
    assert (pair.paired.wins, pair.paired.ties, pair.paired.losses) == (10, 40, 0)
    assert pair.paired.test.p == 2 / 2**10


def test_clusters_of_one_dataset_are_the_same_and_those_of_two_are_not() -> None:
    clustered = [replace(rankings(hits(count)), clusters=("x", "y") * 20) for count in (10, 30)]
    of_two = paired_over_corpora([clustered, clustered], ["one", "two"], ANY, [(0, 1)])[0].paired
    of_one = paired_over_corpora([clustered, clustered], ["one", "one"], ANY, [(0, 1)])[0].paired
    assert (of_two.clusters, of_one.clusters) == (4, 2)


def test_systems_that_were_asked_something_else_are_refused() -> None:
    with pytest.raises(InputError, match="were not asked the same questions"):
        paired_over_corpora([[rankings(hits(3)), rankings(hits(3), gold=1)]], ["one"], ANY, [(0, 1)])
