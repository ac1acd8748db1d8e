"""A run's departures follow from its settings."""

from dataclasses import replace

import pytest

from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.frozen import load

RULES = load()
LOCOMO = RULES.corpora["locomo"]
CANONICAL = Configuration(LOCOMO.sha256, "pgmnemo", "", "dragon-plus", pooled=False, depth=50, limit=None)


def test_the_protocols_own_way_departs_in_nothing() -> None:
    assert departures(CANONICAL, LOCOMO, RULES) == ()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"sha256": "0" * 64}, f"dataset: {'0' * 64} instead of the registered {LOCOMO.sha256}"),
        ({"store": "pgvector"}, "store: pgvector instead of pgmnemo"),
        ({"variant": "weights cosine=1"}, "settings: weights cosine=1 instead of the defaults"),
        ({"embedder": "minilm"}, "embedder: minilm instead of dragon-plus"),
        ({"embedder": ""}, "embedder: none instead of dragon-plus"),
        ({"pooled": True}, "scope: all haystacks pooled into one"),
        ({"dtype": "bf16"}, "precision: vectors computed in bf16 instead of fp32"),
        ({"depth": 20}, "depth: rankings are 20 deep instead of 50"),
        ({"limit": 7}, "limit: only the first 7 questions were asked"),
        (
            {"reproduction": "baseline-v0.2.1"},
            "reproduction: baseline-v0.2.1, in reproduction.md: a flawed definition, never citable",
        ),
    ],
)
def test_each_departure_has_its_label(change: dict[str, object], text: str) -> None:
    (departure,) = departures(replace(CANONICAL, **change), LOCOMO, RULES)  # type: ignore[arg-type]
    assert str(departure) == text


def test_a_corpus_that_is_not_registered_is_a_departure_itself() -> None:
    other = replace(LOCOMO, name="canary-locomo")
    assert [departure.kind for departure in departures(CANONICAL, other, RULES)] == ["corpus"]
