from __future__ import annotations

from collections import Counter

import pytest

from recallbench.scoring.choice.split import split_questions

CLUSTERS = [f"c{i // 3}" for i in range(30)]
IDS = [f"q{i}" for i in range(30)]


def test_six_of_ten_conversations_are_for_tuning_each_of_them_whole() -> None:
    split = split_questions(IDS, CLUSTERS)
    tuning = {cluster for cluster, chosen in zip(CLUSTERS, split.tuning, strict=True) if chosen}
    held_out = {cluster for cluster, chosen in zip(CLUSTERS, split.held_out, strict=True) if chosen}
    assert (len(tuning), len(held_out), tuning & held_out) == (6, 4, set())
    assert (split.unit, split.tuning_units, split.held_out_units) == ("cluster", 6, 4)
    # 2 of 64 flips: one pair at .05.
    assert (split.support.smallest_p, split.support.points) == (1 / 32, 2)


def test_a_split_depends_on_names_and_seed_not_on_the_order_of_questions() -> None:
    forth, back = split_questions(IDS, CLUSTERS), split_questions(IDS[::-1], CLUSTERS[::-1])
    assert forth.tuning.tolist() == back.tuning.tolist()[::-1]
    assert forth.tuning.tolist() != split_questions(IDS, CLUSTERS, seed=43).tuning.tolist()


def test_independent_questions_are_drawn_by_kind_in_proportion() -> None:
    kinds = ["rare"] * 5 + ["frequent"] * 25
    split = split_questions(IDS, [""] * 30, kinds)
    assert split.unit == "question"
    assert Counter(kind for kind, chosen in zip(kinds, split.tuning, strict=True) if chosen) == {
        "rare": 3,
        "frequent": 15,
    }


def test_both_parts_have_a_cluster_and_one_alone_is_refused() -> None:
    two = split_questions(["a", "b", "c"], ["x", "x", "y"], share=0.99)
    assert (two.tuning_units, two.held_out_units) == (1, 1)
    assert not two.support.chooses
    with pytest.raises(ValueError, match="1 cluster can't be split"):
        split_questions(["a", "b"], ["x", "x"])
    with pytest.raises(ValueError, match="same id"):
        split_questions(["a", "a"])
