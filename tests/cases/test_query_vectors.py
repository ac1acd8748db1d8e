"""The vectors of queries, passed to retrievers that take them."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

import recallbench
from recallbench import Case
from recallbench.errors import InputError, UsageError

ITEMS = {"north": [0.0, 1.0], "east": [1.0, 0.0]}
CASES = [Case("up", ["north"]), Case("right", ["east"])]
DIRECTIONS = {"up": [0.1, 0.9], "right": [0.8, 0.3]}


def nearest(query: str, k: int, vector: Any) -> list[tuple[str, float]]:
    scored = [(id, float(np.dot(vector, item))) for id, item in ITEMS.items()]
    return sorted(scored, key=lambda hit: -hit[1])[:k]


def embed(texts: list[str]) -> list[list[float]]:
    return [DIRECTIONS[text] for text in texts]


async def nearest_async(query: str, k: int, *, vector: Any) -> list[tuple[str, float]]:
    return nearest(query, k, vector)


@pytest.mark.parametrize("more", [{}, {"concurrency": 2}, {"timeout": None}])
def test_a_retriever_with_that_parameter_is_given_the_vector(more: dict[str, Any]) -> None:
    assert recallbench.evaluate(CASES, nearest, k=1, embed=embed, **more).recall == 1.0
    assert recallbench.evaluate(CASES, nearest_async, k=1, embed=embed, **more).recall == 1.0
    assert asyncio.run(recallbench.evaluate_async(CASES, nearest_async, k=1, embed=embed, **more)).recall == 1.0
    vector_first = lambda query, vector, k: nearest(query, k, vector)  # noqa: E731
    assert recallbench.evaluate(CASES, vector_first, k=1, embed=embed, **more).recall == 1.0


def test_all_queries_are_embedded_at_once_and_a_vector_of_the_case_goes_before() -> None:
    asked = []

    def counted(texts: list[str]) -> Any:
        asked.append(texts)
        return np.array(embed(texts), dtype=np.float32)

    cases = [CASES[0], {"query": "right", "relevant": ["east"], "vector": [0.0, 1.0]}]
    assert recallbench.evaluate(cases, nearest, k=1, embed=counted).recall == 0.5
    assert asked == [["up"]]
    assert recallbench.evaluate([Case("?", ["east"], vector=np.array([1, 0]))], nearest, k=1).recall == 1.0


def test_of_several_retrievers_those_that_take_vectors_get_them() -> None:
    both = recallbench.evaluate(CASES, {"near": nearest, "fixed": lambda query, k: ["east"]}, k=1, embed=embed)
    assert {name: report.recall for name, report in both.items()} == {"near": 1.0, "fixed": 0.5}


def test_a_model_with_encode_makes_vectors() -> None:
    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

    assert recallbench.evaluate(CASES, nearest, k=1, embed=Model()).recall == 1.0


def test_an_encoder_is_named_as_on_the_command_line() -> None:
    def longest(query: str, k: int, vector: Any) -> list[str]:
        return ["unit"] if abs(float(np.linalg.norm(vector)) - 1) < 1e-5 else ["other"]

    assert recallbench.evaluate([Case("up", ["unit"])], longest, k=1, embed="hash").recall == 1.0


def test_vectors_that_nobody_takes_or_makes_are_refused() -> None:
    with pytest.raises(UsageError, match="embed makes vectors that no retriever takes"):
        recallbench.evaluate(CASES, lambda query, k: ["east"], embed=embed)
    with pytest.raises(InputError, match="case `up`: the retriever takes a vector, and there is none"):
        recallbench.evaluate(CASES, nearest)
    with pytest.raises(UsageError, match="embed makes vectors of texts"):
        recallbench.evaluate(CASES, nearest, embed=3)  # type: ignore[arg-type]
    # It can do without.
    assert recallbench.evaluate(CASES, lambda query, k, vector=None: ["east"], k=1).recall == 0.5


@pytest.mark.parametrize("wrong", [[], [[1.0, 2.0]], [[1.0], [1.0, 2.0]], [["a"], ["b"]], [1.0, 2.0], None])
def test_what_is_no_vector_for_each_text_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="embed returned no vector for each text"):
        recallbench.evaluate(CASES, nearest, embed=lambda texts: wrong)


@pytest.mark.parametrize("wrong", [[], [[1.0]], ["a"], [float("nan")], 3.0])
def test_a_case_has_a_vector_of_finite_numbers(wrong: Any) -> None:
    with pytest.raises(InputError, match="`vector` is no vector"):
        Case("up", ["north"], vector=wrong)
