"""The work of a run is what it will read, embed and ask."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.runs.forecast.forecast import MachinePace
from recallbench.runs.forecast.probe import nearby
from recallbench.runs.forecast.work import RunWork, count_work

HAYSTACKS = [
    Haystack(
        "a",
        tuple(Segment("a", place, text) for place, text in enumerate(("one", "three", "one"))),
        (Question("a", "a0", "Who?", frozenset({1}), "k"), Question("a", "a1", "one", frozenset({0}), "k", visible=2)),
    ),
    Haystack("b", (Segment("b", 0, "another"),), (Question("b", "b0", "What?", frozenset({0}), "k"),)),
]


def plan(**changed: Any) -> Any:
    options = SimpleNamespace(limit=None, depth=2)
    corpus = SimpleNamespace(segments=0)
    named = {"options": options, "corpus": corpus, "embedder": "minilm", "timed": False, "select": iter}
    return SimpleNamespace(**(named | changed))


def corpus(path: Path) -> Any:
    return SimpleNamespace(haystacks=lambda: HAYSTACKS, path=path)


class Keeps:
    """An embedder that has the vectors of short texts."""

    def reuse(self, texts: list[str], role: str) -> bool:
        return all(len(text) < 5 for text in texts)


def test_everything_is_counted_once(tmp_path: Path) -> None:
    work = count_work(plan(), corpus(tmp_path), None)
    assert (work.haystacks, work.segments, work.questions, work.characters) == (2, 4, 3, 18)
    assert (work.hits, work.compared) == (2 + 2 + 1, 3 + 2 + 1)
    assert (work.largest, work.largest_characters, work.times, work.whole) == (3, 11, 1.0, True)
    assert sorted(work.missing) == [3, 4, 5, 5, 7]
    assert [text for _, text in work.sample] == ["one", "three", "Who?", "another", "What?"]


def test_kept_vectors_are_no_work(tmp_path: Path) -> None:
    work = count_work(plan(), corpus(tmp_path), Keeps())  # type: ignore[arg-type]
    assert (work.kept, sorted(work.missing)) == (2, [5, 5, 7])
    assert count_work(plan(embedder=None), corpus(tmp_path), None).missing == []


def test_of_a_large_corpus_the_rest_is_taken_in_proportion(tmp_path: Path) -> None:
    registered = SimpleNamespace(segments=12)
    work = count_work(plan(corpus=registered), corpus(tmp_path), None, limit=-1.0)
    assert (work.segments, work.times, work.whole) == (3, 4.0, False)


def test_a_slice_is_asked_after_the_whole_file_was_surveyed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x" * 1800)
    sliced = plan(options=SimpleNamespace(limit=3, depth=2))
    work = count_work(sliced, corpus(tmp_path / "file"), None)
    assert work.surveying == pytest.approx(100 * work.reading)


def test_few_texts_are_told_from_their_characters_and_the_size_of_the_encoder() -> None:
    few = RunWork(missing=[1000, 3000])  # of which 2,200 are read
    told = nearby(few, MachinePace(2.0, 1e-7), 768, at_first=True)
    assert (told.encoder_start, told.encoder_memory) == (20.0, 1.8e9)
    ((group, seconds),) = told.texts
    assert group.texts == 2
    assert seconds == pytest.approx(1600 * 16e-6 * 4 * 2)
    assert nearby(few, MachinePace(2.0, 1e-7), 384, at_first=False).encoder_start == 8.0
