"""Ids that name groups of questions."""

from __future__ import annotations

import pytest

from recallbench.compare.dependent_ids import dependence_note


def test_ids_that_name_groups_are_noted() -> None:
    assert dependence_note(["conv-26/q8", "conv-26/q9", "conv-30/q1", "conv-30/q2"]) == (
        "the questions were taken as independent, though ids such as conv-26/q8 name 2 groups: "
        "--cluster-prefix / takes those of one group as dependent"
    )
    assert "--cluster-prefix : takes" in dependence_note(["a:1", "a:2", "b:1", "b:2"])


@pytest.mark.parametrize(
    "questions",
    [
        ["q1", "q2", "q3"],
        ["gpt4_1", "gpt4_2", "a_1", "a_2"],
        ["a/1", "b/1", "c/1"],  # a group of its own each
        ["all/1", "all/2", "all/3"],  # one group says nothing
        ["a/1", "a/2", "b/1", "alone"],
        [],
    ],
)
def test_other_ids_are_not(questions: list[str]) -> None:
    assert dependence_note(questions) == ""
