"""Maximal marginal relevance, held to values that were worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from question_batch import batch_of
from recallbench.errors import UsageError
from recallbench.retrieval.stages.candidates import Candidates, Memory
from recallbench.retrieval.stages.mmr import MmrStage
from recallbench.retrieval.stages.stage import QuestionBatch, StageRequest
from recallbench.stores.store import Item, Query

VECTORS = {1: (24.0, -7.0), 2: (5.0, 0.0), 3: (0.0, 1.0), 4: (0.0, 0.0)}
ASKED = (4.0, 3.0)
"""Its cosine to 2 is .8, to 1 and to 3 .6, to 4, which has no direction, 0; 1 and 2 have .96, 1 and 3 -.28."""


def chosen(candidates: list[tuple[int, float]], **options: str) -> list[tuple[int, float]]:
    batch = batch_of(["?"], vectors=VECTORS, asked=[ASKED])
    stage = MmrStage.open(StageRequest("mmr", options))
    return [(hit.id, round(hit.score, 6)) for hit in stage.apply(batch, Candidates.of([candidates])).hits_of(0)]


def test_what_is_like_the_chosen_comes_later() -> None:
    # 2: .5 x .8 + .5; then 3: .5 x .6 - .5 x 0; last 1: .5 x .6 - .5 x .96.
    assert chosen([(2, 9.0), (1, 8.0), (3, 7.0)], relevance="cosine") == [(2, 0.9), (3, 0.3), (1, -0.18)]


def test_the_share_of_relevance() -> None:
    assert chosen([(3, 9.0), (2, 8.0), (1, 7.0)], relevance="cosine", **{"lambda": "1"}) == [
        (2, 0.8),
        (1, 0.6),
        (3, 0.6),
    ]
    # Of diversity alone: the first is the most relevant still, the second the least like it.
    assert chosen([(1, 9.0), (2, 8.0), (3, 7.0)], relevance="cosine", **{"lambda": "0"}) == [
        (2, 1.0),
        (3, 0.0),
        (1, -0.96),
    ]
    assert chosen([(4, 2.0), (3, 1.0)], relevance="cosine", **{"lambda": "1"}) == [(3, 0.6), (4, 0.0)]


def test_relevance_by_score_keeps_what_a_fusion_decided() -> None:
    given = [(3, 0.03), (1, 0.02), (2, 0.01)]
    assert chosen(given, **{"lambda": "1"}) == [(3, 1.0), (1, 0.5), (2, 0.0)]
    # 3: .5 x 1 + .5; 1: .5 x .5 + .5 x .28; 2: .5 x 0 - .5 x .96.
    assert chosen(given) == [(3, 1.0), (1, 0.39), (2, -0.48)]


def test_those_behind_top_keep_their_order_below() -> None:
    assert chosen([(1, 9.0), (3, 8.0), (2, 7.9), (4, 7.8)], top="2", relevance="cosine", **{"lambda": "1"}) == [
        (1, 0.6),
        (3, 0.6),
        (2, -0.4),
        (4, -1.4),
    ]
    assert MmrStage.most_looked_at({"top": "2"}, 50) == 2
    assert MmrStage.most_looked_at({}, 50) == 50


def test_a_question_gets_one_answer_alone_and_among_others() -> None:
    rng = np.random.default_rng(1)
    memory = Memory(texts=False, vectors=True)
    vectors = rng.standard_normal((40, 24)).astype(np.float32)
    vectors[7] = vectors[3]  # the same text twice: the lower id is chosen first
    memory.add([Item(100 + row, 1, "", None, 0.5) for row in range(40)], vectors)
    memory.add([Item(row, 2, "", None, 0.5) for row in range(40)], vectors)
    queries = [Query(2 if row == 5 else 1, "?", vectors[3] + vectors[row]) for row in range(20)]
    lists = []
    for row, query in enumerate(queries):
        first = 0 if query.scope == 2 else 100
        found = rng.permutation(40)[: 0 if row == 9 else 14]
        lists.append([(first + int(id), 20.0 - place) for place, id in enumerate(found)])
    lists[0] = [(107, 2.0), (103, 1.0), (120, 0.5)]
    together = MmrStage(0.6).apply(QuestionBatch(queries, memory), Candidates.of(lists))
    for row, query in enumerate(queries):
        alone = MmrStage(0.6).apply(QuestionBatch([query], memory), Candidates.of(lists[row : row + 1]))
        assert alone.hits_of(0) == together.hits_of(row)
        scores = together.scores[row, : together.sizes[row]]
        assert (np.diff(scores) <= 0).all()
    assert together.ids_of(0)[0] == 103
    assert together.sizes[9] == 0


def test_nothing_found_stays_nothing() -> None:
    assert chosen([]) == []


@pytest.mark.parametrize(("name", "value"), [("lambda", "1.1"), ("lambda", "x"), ("relevance", "rank"), ("top", "0")])
def test_options_that_make_no_sense_are_told(name: str, value: str) -> None:
    option = next(option for option in MmrStage.options if option.name == name)
    with pytest.raises(UsageError, match=f"`{name}` {value}"):
        option.check(value)
