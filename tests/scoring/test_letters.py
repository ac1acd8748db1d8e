"""Letters for what can't be told apart."""

from __future__ import annotations

import pytest

from recallbench.scoring.letters import shared_letters


@pytest.mark.parametrize(
    ("size", "different", "letters"),
    [
        (1, [], ["a"]),
        (3, [], ["a", "a", "a"]),
        (3, [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        # A chain, in which only neighbours are alike.
        (4, [(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"]),
        # The ends differ, and both are like all between them.
        (4, [(0, 3)], ["a", "ab", "ab", "b"]),
        (3, [(0, 2)], ["a", "ab", "b"]),
        (0, [], []),
    ],
)
def test_two_share_a_letter_just_where_they_do_not_differ(
    size: int, different: list[tuple[int, int]], letters: list[str]
) -> None:
    assert shared_letters(size, different) == letters
    for first in range(size):
        for second in range(first + 1, size):
            shared = set(letters[first]) & set(letters[second])
            assert bool(shared) == ((first, second) not in different)


def test_the_alphabet_goes_on_behind_z() -> None:
    pairs = [(i, j) for i in range(28) for j in range(i + 1, 28)]
    assert shared_letters(28, pairs)[25:] == ["z", "a2", "b2"]
