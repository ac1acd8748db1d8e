"""Rerankers: how many candidates are read, where the rest goes, and scores that are none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Self

import pytest

from question_batch import batch_of
from recallbench.errors import InputError, UsageError
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.rerank import RerankStage
from recallbench.retrieval.stages.stage import QuestionBatch, StageRequest

ITEMS = {3: "9 lives", 4: "2 owls", 5: "2 foxes", 6: "7 hens", 7: "5 words and some more"}
FOUND = [(7, 0.9), (4, 0.8), (5, 0.7), (3, 0.6), (6, 0.6)]


class Numbers(RerankStage):
    """Scores a text by the number that it begins with; a word is a token."""

    method = "numbers"
    summary = "by number"
    read: ClassVar[list[list[str]]] = []
    """The texts of each call."""

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls(request.name, request.options)

    def tokens(self, question: str, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        assert texts
        self.read.append(list(texts))
        if question == "fewer?":
            return [1.0] * (len(texts) - 1)
        return [math.nan if question == "none?" and text == "2 owls" else float(text[0]) for text in texts]


def reranked(
    question: str = "?", found: Sequence[tuple[int, float]] = FOUND, **options: str
) -> list[tuple[int, float]]:
    stage = Numbers.open(StageRequest("numbers", options))
    return stage.apply(batch_of([question], items=ITEMS), Candidates.of([found])).hits_of(0)


def test_scores_decide_and_ties_go_by_id() -> None:
    assert reranked() == [(3, 9.0), (6, 7.0), (7, 5.0), (4, 2.0), (5, 2.0)]
    assert reranked(found=[]) == []


def test_those_that_are_not_read_keep_their_order_below() -> None:
    assert reranked(top="3") == [(7, 5.0), (4, 2.0), (5, 2.0), (3, 1.0), (6, 0.0)]
    assert reranked(top="9")[0] == (3, 9.0)
    # A score so high that one less makes no difference.
    assert reranked(found=[(7, 1e300), (4, 1e300), (3, 0.5)], top="1") == [(7, 5.0), (4, 4.0), (3, 3.0)]


def test_as_many_are_read_as_fit_into_the_budget() -> None:
    # Five tokens, then two for each: nine hold three candidates, four none.
    assert reranked(token_budget="9") == reranked(top="3")
    assert reranked(token_budget="10") == reranked(top="3")
    assert reranked(token_budget="4") == FOUND


def test_how_many_it_can_move() -> None:
    assert Numbers.most_looked_at({"top": "10"}, 50) == 10
    assert Numbers.most_looked_at({"top": "10"}, 5) == 5
    assert Numbers.most_looked_at({"token_budget": "10"}, 50) == 50
    with pytest.raises(UsageError, match="takes `top` or `token_budget`"):
        Numbers.check({"top": "10", "token_budget": "100"})


@pytest.mark.parametrize(
    ("question", "told", "found"),
    [
        ("fewer?", r"numbers left out candidates of the question fewer\?", "4 scores"),
        ("none?", r"numbers gave no score to candidate 2 of the question none\?", "nan"),
    ],
)
def test_scores_that_are_none_are_told_with_the_question(question: str, told: str, found: str) -> None:
    with pytest.raises(InputError, match=told) as error:
        reranked(question)
    assert error.value.found == found


def test_a_pair_is_scored_once_but_anew_where_it_is_timed() -> None:
    stage, batch = Numbers.open(StageRequest("numbers", {})), batch_of(["?"], items=ITEMS)
    Numbers.read.clear()
    whole = stage.apply(batch, Candidates.of([FOUND[:3]]))
    without = stage.apply(batch, Candidates.of([FOUND[1:4]]))
    assert [whole.ids_of(0), without.ids_of(0)] == [[7, 4, 5], [3, 4, 5]]
    assert Numbers.read == [[ITEMS[7], ITEMS[4], ITEMS[5]], [ITEMS[3]]]
    stage.apply(QuestionBatch(batch.queries, batch.memory, timed=True), Candidates.of([FOUND[:1]]))
    stage.apply(batch_of(["another?"], items=ITEMS), Candidates.of([FOUND[:1]]))
    assert Numbers.read[2:] == [[ITEMS[7]], [ITEMS[7]]]
