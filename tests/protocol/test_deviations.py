"""A deviation is of a known kind and has one line."""

import pytest

from recallbench.protocol.deviations import Deviation


def test_a_deviation_has_a_name_and_a_line() -> None:
    embedder = Deviation("embedder", "minilm instead of dragon-plus")
    assert embedder.name == "embedder minilm"
    assert str(embedder) == "embedder: minilm instead of dragon-plus"
    assert Deviation("limit", "only the first 20 questions were asked").name == "limit"


@pytest.mark.parametrize(("kind", "detail"), [("embeder", "minilm"), ("embedder", " "), ("embedder", "mini\nlm")])
def test_a_malformed_deviation_is_refused(kind: str, detail: str) -> None:
    with pytest.raises(ValueError, match="deviation"):
        Deviation(kind, detail)
