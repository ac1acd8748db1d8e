"""What a run still takes follows from what was done, and each stage corrects it."""

from __future__ import annotations

import pytest

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.progress import Silent
from recallbench.runs.forecast.ahead import Ahead, RunPart, TextLengths, parts_of, seconds_left


def not_asked() -> float:
    raise AssertionError("the pace is known from what was done")


def test_the_pace_of_what_was_done_is_that_of_the_rest() -> None:
    passages = RunPart("embedding passages", "embedding", 800.0, total=10, done=4, begun=100.0)
    queries = RunPart("embedding queries", "embedding", 200.0)
    # 320 of 1,000 in 16 s: 34 more.
    assert seconds_left([passages, queries], 116.0, not_asked) == pytest.approx(34.0)
    passages.done, passages.ended = 10, 130.0
    assert seconds_left([passages, queries], 500.0, not_asked) == pytest.approx(30.0 / 800 * 200)


def test_the_longest_texts_come_first_so_that_half_of_them_are_most_of_the_work() -> None:
    part = RunPart("embedding passages", "embedding", 100.0, shares=[0.6, 0.9, 1.0], total=3, done=1, begun=0.0)
    assert seconds_left([part], 12.0, not_asked) == pytest.approx(8.0)


def test_before_anything_was_embedded_nothing_is_told() -> None:
    waiting = [RunPart("embedding passages", "embedding", 800.0, begun=1.0), RunPart("ingesting", "plain", 5.0)]
    assert seconds_left(waiting, 9.0, lambda: 1.0) is None


def test_plain_work_is_told_by_the_pace_of_the_machine_until_some_is_done() -> None:
    parts = [RunPart("ingesting", "plain", 6.0, total=100), RunPart("(writing)", "plain", 2.0)]
    assert seconds_left(parts, 0.0, lambda: 3.0) == 24.0
    parts[0].begun, parts[0].done = 0.0, 50
    assert seconds_left(parts, 6.0, not_asked) == pytest.approx(10.0)


def haystack(scope: str, texts: list[str], asked: int) -> Haystack:
    segments = tuple(Segment(scope, place, text) for place, text in enumerate(texts))
    questions = tuple(Question(scope, f"{scope}{n}", "Who is it?", frozenset({0}), "k") for n in range(asked))
    return Haystack(scope, segments, questions)


def test_lengths_are_those_that_encoders_read_up_to_the_limit() -> None:
    lengths = TextLengths(2)
    for one in (haystack("a", ["x" * 5000, "yy"], 1), haystack("b", ["zzz"], 2), haystack("c", ["w"], 1)):
        lengths.look(one)
    read = lengths.passages.each.tolist(), lengths.queries.each.tolist()
    assert (*read, lengths.characters) == ([2200, 2, 3], [10] * 3, 5005)
    assert (lengths.passages.count, lengths.passages.read) == (3, 2205)


def test_a_run_embeds_asks_and_writes() -> None:
    lengths = TextLengths(None)
    lengths.look(haystack("a", ["x" * 30, "x" * 10], 1))
    every = parts_of(lengths, "exact", embeds=True, passages_kept=False)
    assert [(part.stage, part.kind) for part in every] == [
        ("embedding passages", "embedding"),
        ("embedding queries", "embedding"),
        ("ingesting", "plain"),
        ("(writing)", "plain"),
    ]
    assert (every[0].units, list(every[0].shares)) == (40.0, [0.75, 1.0])
    kept = parts_of(lengths, "exact", embeds=True, passages_kept=True)
    assert [part.stage for part in kept] == ["embedding queries", "ingesting", "(writing)"]
    assert [part.stage for part in parts_of(lengths, "bm25", embeds=False, passages_kept=False)] == [
        "ingesting",
        "(writing)",
    ]


def test_stages_are_heard_by_whoever_listens_and_counted_on_the_way() -> None:
    ahead = Ahead(Silent())
    assert ahead.left() is None
    ahead.parts = [RunPart("embedding passages", "embedding", 100.0), RunPart("ingesting", "plain", 0.0)]
    with ahead.stage("embedding passages", 4, "texts") as advance:
        assert ahead.left() is None
        advance(1)
        assert ahead.parts[0].share == 0.25
        assert ahead.left() is not None
    assert (ahead.parts[0].share, ahead.left()) == (1.0, 0.0)
    with ahead.stage("anything else", 4, "texts") as advance:
        advance(4)
    assert ahead.parts[1].begun is None
