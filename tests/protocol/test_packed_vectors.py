"""When vectors of a pack count as the embedder's own."""

from dataclasses import replace

import pytest

from recallbench.protocol.deviations import Configuration, departures
from recallbench.protocol.frozen import load
from recallbench.protocol.packed_vectors import PackedVectors

RULES = load()
LOCOMO = RULES.corpora["locomo"]
CANONICAL = Configuration(LOCOMO.sha256, "pgmnemo", "", "dragon-plus", pooled=False, depth=50, limit=None)
GOOD = PackedVectors(2000, 32, 0.9999999, "whoever signed it", beside=False)


@pytest.mark.parametrize("by", ["whoever used it", "whoever signed it"])
def test_a_pack_that_was_compared_departs_in_nothing(by: str) -> None:
    packed = replace(CANONICAL, pack=replace(GOOD, compared_by=by))  # type: ignore[arg-type]
    assert departures(packed, LOCOMO, RULES) == ()


def test_a_small_pack_is_compared_whole() -> None:
    assert departures(replace(CANONICAL, pack=replace(GOOD, texts=9, compared=9)), LOCOMO, RULES) == ()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"beside": True}, "vectors beside those of the pack that was used"),
        (
            {"compared_by": ""},
            "a pack that neither its user, nor a signer whose key was named, compared with the weights",
        ),
        (
            {"cosine": None, "compared": 0},
            "a pack that neither its user, nor a signer whose key was named, compared with the weights",
        ),
        ({"compared": 31}, "a pack of which 31 texts were compared, not 32"),
        ({"cosine": 0.99999}, "a pack whose vectors lie a cosine of 0.999990 from the embedder's"),
    ],
)
def test_any_other_is_a_departure(change: dict[str, object], text: str) -> None:
    packed = replace(CANONICAL, pack=replace(GOOD, **change))  # type: ignore[arg-type]
    [departure] = departures(packed, LOCOMO, RULES)
    assert str(departure) == f"vectors: {text}"


def test_where_the_protocol_names_no_embedder_there_is_nothing_to_depart_from() -> None:
    packed = replace(CANONICAL, pack=replace(GOOD, compared_by=""))
    assert [one.kind for one in departures(packed, replace(LOCOMO, name="canary-locomo"), RULES)] == ["corpus"]
