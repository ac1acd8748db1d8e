"""The conditions under which a run may be compared with a published figure."""

from pathlib import Path

import pytest

from recallbench.audit.reproduced import obstacles
from recallbench.protocol.frozen import load
from recallbench.protocol.reproductions import find_reproduction
from recallbench.results.metrics import Metrics

ROOT = Path(__file__).parents[2]
LOCOMO = find_reproduction("baseline-v0.2.1", "locomo")
SHA256 = load().corpora["locomo"].sha256


@pytest.fixture
def published() -> Metrics:
    """Return the committed result as if the published system had made it; its figures differ."""
    (path,) = (ROOT / "benchmarks" / "locomo" / "results").glob("pgvector_*/metrics.json")
    metrics = Metrics.model_validate_json(path.read_bytes())
    assert metrics.embedder is not None
    return metrics.model_copy(
        update={
            "store": metrics.store.model_copy(update={"name": "pgmnemo", "version": "0.2.1", "variant": ""}),
            "embedder": metrics.embedder.model_copy(update={"name": "dragon-plus"}),
        }
    )


def test_the_published_system_may_be_compared_with_its_figure(published: Metrics) -> None:
    assert obstacles(LOCOMO, published, SHA256) == []


def test_another_version_may_not_be_compared(published: Metrics) -> None:
    other = published.model_copy(update={"store": published.store.model_copy(update={"version": "0.20.0"})})
    assert obstacles(LOCOMO, other, SHA256) == ["the version is 0.20.0, the published figure is that of pgmnemo 0.2.1"]


def test_other_questions_or_data_may_not_be_compared(published: Metrics) -> None:
    part = published.model_copy(update={"retrieval": published.retrieval.model_copy(update={"limit": 7})})
    assert obstacles(LOCOMO, part, SHA256) == ["only the first 7 questions were asked"]
    data = published.model_copy(update={"dataset_sha256": "0" * 64})
    assert obstacles(LOCOMO, data, SHA256) == [f"the corpus file is {'0' * 64}, the published one was {SHA256}"]
