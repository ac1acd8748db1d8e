"""Texts that have their vectors are read once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.registry import open_embedder
from recallbench.retrieval.selection import select_questions
from recallbench.runs.embedded_texts import FoundVectors, embed_texts


def vectors(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), 1] for text in texts], np.float32)


def haystack(*texts: str) -> Haystack:
    segments = tuple(Segment("s", position, text) for position, text in enumerate(texts))
    asked = Question("s", "q1", "who is it", frozenset({0}), "kind")
    return Haystack("s", segments, (asked, Question("s", "q2", "not asked", frozenset(), "kind")))


def unread() -> Iterator[Haystack]:
    pytest.fail("read again")
    yield


@pytest.fixture
def embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Embedder]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    opened = open_embedder(f"python:{Path(__file__).stem}:vectors", cache_dir=tmp_path)
    yield opened
    opened.close()


def test_haystacks_whose_vectors_were_all_found_are_not_read_again(embedder: Embedder) -> None:
    corpus = [haystack("a cat", "two dogs"), haystack("a cat", "an owl", "who is it")]
    embed_texts(select_questions(corpus, None), embedder, 5)
    found = FoundVectors(embedder)
    for each in corpus:
        found.look(each)
    assert found.questions == ["who is it", "who is it"]
    parts = embed_texts(unread(), embedder, 5, found)
    assert [(part.computed, part.reused) for part in parts.values()] == [(0, 0), (0, 0)]


def test_what_was_found_and_what_was_made_count_together(embedder: Embedder, tmp_path: Path) -> None:
    known, fresh = haystack("a cat", "two dogs"), haystack("a cat", "an owl", "three owls", "who is it")
    embed_texts(select_questions([known], None), embedder, 2)
    embedder.close()
    again = open_embedder(embedder.name, cache_dir=tmp_path)
    found = FoundVectors(again)
    for each in (known, fresh, known):
        found.look(each)
    assert not found.all_passages
    parts = embed_texts(select_questions([known, fresh], None), again, 6, found)
    assert [(part.computed, part.reused) for part in parts.values()] == [(2, 3), (0, 0)]
    assert parts["passage"].cpu_seconds > found.cpu_seconds > 0
    again.close()
