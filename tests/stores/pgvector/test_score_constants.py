"""The constants of the reference store's score: what each decides, and when it decides nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from recallbench.errors import UsageError
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.stores.pgvector.score_constants import CONSTANTS, OPTIONS, ScoreConstants, check_constants
from recallbench.stores.pgvector.settings import score_settings
from recallbench.stores.pgvector.weights import Weights, parse_weights
from recallbench.stores.store import Item, Query

NOW = datetime(2026, 5, 1)


def scores(dsn: str, weights: str, constants: ScoreConstants, items: list[Item]) -> dict[int, float]:
    store = PgvectorStore(dsn, parse_weights(weights), constants=constants)
    try:
        store.prepare(2)
        store.ingest(items, np.ones((len(items), 2), np.float32))
        store.ready()
        hits = store.search(Query(1, "x", np.ones(2, np.float32), NOW), 10)
        return {hit.id: round(hit.score, 9) for hit in hits}
    finally:
        store.close()


def test_recency_halves_with_the_half_life(dsn: str) -> None:
    items = [Item(age, 1, "x", NOW - timedelta(days=age), 0.5) for age in (0, 10, 20)]
    assert scores(dsn, "recency", ScoreConstants(half_life_days=10), items) == {0: 1.0, 10: 0.5, 20: 0.25}
    assert scores(dsn, "recency", ScoreConstants(half_life_days=20), items)[20] == 0.5
    # 2^-20000 is too small for a number.
    assert scores(dsn, "recency", ScoreConstants(half_life_days=0.001), items) == {0: 1.0, 10: 0.0, 20: 0.0}


def test_what_is_less_important_than_the_threshold_counts_nothing(dsn: str) -> None:
    items = [Item(1, 1, "x", None, 0.9), Item(2, 1, "x", None, 0.5), Item(3, 1, "x", None, 0.4)]
    assert scores(dsn, "importance", CONSTANTS, items) == {1: 0.9, 2: 0.5, 3: 0.4}
    assert scores(dsn, "importance", ScoreConstants(importance_threshold=0.5), items) == {1: 0.9, 2: 0.5, 3: 0.0}


def test_only_neighbours_of_the_best_count(dsn: str) -> None:
    items = [Item(id, 1, "x", None, value) for id, value in {1: 0.9, 2: 0.1, 5: 0.8, 6: 0.2}.items()]
    assert scores(dsn, "importance,graph", CONSTANTS, items) == {1: 1.9, 2: 1.1, 5: 1.8, 6: 1.2}
    assert scores(dsn, "importance,graph", ScoreConstants(graph_best=1), items) == {1: 0.9, 2: 1.1, 5: 0.8, 6: 0.2}


def test_settings_name_the_threshold_where_there_is_one() -> None:
    read = ScoreConstants.read({"half_life": "0.5", "graph_best": "3", "importance_threshold": ".25"})
    assert score_settings(Weights(cosine=1), read) == score_settings(Weights(cosine=1)) | {
        "recallbench.recency_half_life_days": "0.5",
        "recallbench.graph_best": "3",
        "recallbench.importance_threshold": "0.25",
    }
    assert ScoreConstants.read({}) == CONSTANTS
    assert "recallbench.importance_threshold" not in score_settings(Weights(cosine=1))


def test_no_digit_of_a_setting_is_lost() -> None:
    read = ScoreConstants.read({"half_life": "29.9999999", "importance_threshold": "0.12345678"})
    assert read.settings["recency_half_life_days"] == "29.9999999"
    assert read.settings["importance_threshold"] == "0.12345678"
    assert CONSTANTS.settings["recency_half_life_days"] == "30"
    weights = Weights(cosine=1, bm25=0.50000001)
    assert str(weights) == "cosine=1,bm25=0.50000001"
    assert parse_weights(str(weights)) == weights
    assert score_settings(weights)["recallbench.weight_bm25"] == "0.50000001"


@pytest.mark.parametrize(
    ("name", "text"),
    [("half_life", "0"), ("half_life", "inf"), ("graph_best", "0"), ("importance_threshold", "1.5")],
)
def test_values_outside_their_range_are_refused(name: str, text: str) -> None:
    option = next(option for option in OPTIONS if option.name == name)
    with pytest.raises(UsageError, match=f"--set {name} {text} can't be read"):
        option.check(text)


def test_a_constant_of_a_part_that_does_not_count_is_refused() -> None:
    with pytest.raises(UsageError, match="a score without recency has no use for --set half_life"):
        check_constants({"weights": "cosine", "half_life": "10"})
    check_constants({"weights": "cosine=1,recency=1", "half_life": "10"})
