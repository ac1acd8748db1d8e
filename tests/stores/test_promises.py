"""The promises of every answer, by one rule for all stores and retrievers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from recallbench.stores.promises import find_breach


@pytest.mark.parametrize(
    ("ids", "scores", "more", "breach"),
    [
        ([], [], {"k": 0, "known": range(0)}, None),
        ([4, 2], [0.5, 0.5], {"k": 2, "known": range(2, 5)}, None),
        (["b", "a"], None, {}, None),
        ([1, 2, 3], [3.0, 2.0, 1.0], {"k": 2}, ("at most k hits", 2)),
        ([1, 2], [1.0, math.nan], {}, ("finite scores", 1)),
        ([1, 2], [math.inf, 1.0], {}, ("finite scores", 0)),
        ([1, 2], [1e308, 1e308], {}, None),
        ([1, 2, 3], [0.2, 0.1, 0.3], {}, ("best first", 2)),
        ([1, 2, 3], [0.2, 0.1, 0.3], {"ordered": False}, None),
        ([1, 2, 1], [0.3, 0.2, 0.1], {}, ("each id once", 2)),
        ([1, 2, 1], [0.3, 0.2, 0.1], {"repeats": True}, None),
        ([2, 5], [0.3, 0.2], {"known": range(2, 5)}, ("ids of the scope", 1)),
        ([1, 2], [0.3, 0.2], {"known": frozenset({2, 3})}, ("ids of the scope", 0)),
    ],
)
def test_the_first_broken_promise_of_an_answer_is_named(
    ids: list[Any], scores: list[float] | None, more: dict[str, Any], breach: tuple[str, int] | None
) -> None:
    assert find_breach(ids, scores, **more) == breach
