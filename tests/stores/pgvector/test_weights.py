from __future__ import annotations

import pytest

from recallbench.errors import UsageError
from recallbench.stores.pgvector.weights import DEFAULT_WEIGHTS, WEIGHTS, Weights, parse_weights


def test_bare_name_counts_one_and_the_rest_nothing() -> None:
    assert parse_weights("cosine") == Weights(cosine=1, bm25=0, recency=0, importance=0, graph=0)
    assert parse_weights("cosine").cosine_only


def test_names_may_have_numbers() -> None:
    weights = parse_weights("cosine=1, bm25=0.5,recency=.1")
    assert weights == Weights(cosine=1, bm25=0.5, recency=0.1)
    assert not weights.cosine_only


def test_no_option_gives_the_documented_defaults() -> None:
    assert WEIGHTS.read({}) == DEFAULT_WEIGHTS
    assert all(getattr(DEFAULT_WEIGHTS, part) > 0 for part in ("cosine", "bm25", "recency", "importance", "graph"))


@pytest.mark.parametrize("text", ["cosine=1", "bm25=0.25,graph=3", "cosine=1,bm25=1,recency=0.1,importance=2,graph=1"])
def test_canonical_text_reads_back(text: str) -> None:
    assert str(parse_weights(text)) == text
    assert parse_weights(str(parse_weights(text))) == parse_weights(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an empty name"),
        ("cosine,", "an empty name"),
        ("cosinus", "`cosinus` is no part"),
        ("cosine=", "`` as the weight of cosine"),
        ("cosine=much", "`much`"),
        ("cosine=-1", "`-1`"),
        ("cosine=nan", "`nan`"),
        ("cosine=inf", "`inf`"),
        ("cosine,cosine=2", "named twice"),
        ("cosine=0,bm25=0", "every weight is 0"),
    ],
)
def test_bad_words_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_weights(text)
    assert complaint in caught.value.found
    assert "bm25" in caught.value.expected
