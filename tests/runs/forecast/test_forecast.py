"""A forecast is plain arithmetic over counts and paces."""

from __future__ import annotations

import pytest

from recallbench.runs.forecast import forecast as arithmetic
from recallbench.runs.forecast.forecast import MB, Forecast, MachinePace, StorePace, forecast
from recallbench.runs.forecast.words import forecast_document, forecast_words, size
from recallbench.runs.forecast.work import RunWork, Stratum, strata


@pytest.fixture(autouse=True)
def round_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paces that are easy to add up, whatever was measured last."""
    monkeypatch.setattr(arithmetic, "STORES", {"exact": StorePace(2.0, 0.001, 0.01, 0.0001, disk=1000.0, times=2.0)})
    monkeypatch.setattr(arithmetic, "CONTROL", StorePace(0.0, 0.002, 0.02, 0.0))
    for name, value in (("START", 1.0), ("HIT", 0.003), ("QUESTION", 0.1), ("ALONE", 0.05)):
        monkeypatch.setattr(arithmetic, name, value)


def work() -> RunWork:
    return RunWork(
        segments=1000,
        questions=100,
        characters=50_000,
        hits=1000,
        compared=10_000,
        largest=100,
        largest_characters=5000,
        missing=[10] * 200,
        reading=3.0,
        surveying=4.0,
    )


def pace() -> MachinePace:
    return MachinePace(2.0, 0.0001, 5.0, ((Stratum(150, 20), 0.02), (Stratum(50, 80), 0.1)), encoder_memory=900 * MB)


def test_the_parts_of_a_run_add_up() -> None:
    told = forecast(work(), pace(), "exact", 4)
    # Twice as slow as where the figures are from: start; encoder and texts; reading, the store (2 + 1 + 1 + 1),
    # the control (2 + 2) and cutting; hits and questions.
    assert dict(told.parts) == pytest.approx(
        {
            "reading": 2 + 4,
            "embedding": 5 + 3 + 5,
            "filling and asking": 3 + 2 * 5 + 5 + 2 * 4,
            "scoring and writing": 2 * (3 + 10),
        }
    )
    assert told.seconds == pytest.approx(71)
    assert (told.low, told.high) == pytest.approx((56.8, 88.75))


def test_what_was_read_in_part_counts_as_often_and_is_less_sure() -> None:
    once, thrice = work(), work()
    thrice.times = 3.0
    thrice.reading, thrice.surveying = 9.0, 12.0
    one, three = (dict(forecast(each, pace(), "exact", 4).parts) for each in (once, thrice))
    assert three["embedding"] == pytest.approx(5 + 3 * 8)
    assert three["scoring and writing"] == pytest.approx(3 * one["scoring and writing"])
    assert forecast(thrice, pace(), "exact", 4).spread > forecast(once, pace(), "exact", 4).spread


def test_questions_that_see_a_part_are_asked_alone_after_a_proof() -> None:
    timed = work()
    timed.timed = True
    more = dict(forecast(timed, pace(), "exact", 4).parts)["filling and asking"]
    # Reading and filling once more, and each question by itself.
    assert more == pytest.approx(26 + 3 + 2 * 3 + 2 * 5)


def test_nothing_is_embedded_without_an_encoder_or_where_all_is_kept() -> None:
    none = work()
    none.missing = []
    assert dict(forecast(none, pace(), "exact", 0).parts)["embedding"] == 0
    assert dict(forecast(none, pace(), "exact", 4).parts)["embedding"] == pytest.approx(0.6)


def test_memory_is_the_programs_and_the_little_that_grows() -> None:
    told = forecast(work(), pace(), "exact", 4)
    assert told.memory == 900 * MB + 100 * 10_000 + 1000 * 150 + 1000 * 16 + 100 * 48 + 4 * 5000
    alone = work()
    alone.missing = []
    assert forecast(alone, pace(), "exact", 4).memory == told.memory - 805 * MB


def test_disk_is_the_result_what_is_kept_and_the_stores_own() -> None:
    told = forecast(work(), pace(), "exact", 4)
    result, cached, store = 300_000 + 175_000 + 90_000, 200 * (16 + 60) + 25_000, 1000 + 2 * (50_000 + 16_000)
    assert told.disk == result + cached + store


def test_texts_are_grouped_by_length_with_as_many_tokens_each() -> None:
    # By three characters a token: 12 texts of 10 tokens, 4 of 30, 1 of 400 of which 120 are read.
    groups = strata([30] * 12 + [90] * 4 + [1200], 1 / 3, 120)
    assert [(group.texts, round(group.tokens, 6)) for group in groups] == [(12, 10), (4, 30), (1, 120)]
    assert strata([], 0.25, 512) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (4.0, "about 4.0 s (3.2 to 5.0)"),
        (48.0, "about 48 s (38 to 60)"),
        (720.0, "about 12 min (9.6 to 15)"),
        (9000.0, "about 2.5 h (2.0 to 3.1)"),
    ],
)
def test_a_forecast_in_words(seconds: float, words: str) -> None:
    told = Forecast((("reading", seconds / 4), ("embedding", 3 * seconds / 4)), 903 * MB, 1240 * MB, 0.25)
    assert forecast_words(told) == f"{words}, 900 MB of memory, 1.2 GB of disk; 75% of it embedding"


def test_a_forecast_without_the_encoder_says_so() -> None:
    told = Forecast((("reading", 3.0),), 95 * MB, 4 * MB, 0.25, "its weights are not here")
    words = "about 3.0 s (2.4 to 3.8), 95 MB of memory, 4.0 MB of disk, all without embedding: its weights are not here"
    assert forecast_words(told) == words
    assert forecast_document(told) == {
        "seconds": 3.0,
        "low": 2.4,
        "high": 3.8,
        "memory_bytes": 95_000_000,
        "disk_bytes": 4_000_000,
        "parts": {"reading": 3.0},
        "unknown": "its weights are not here",
    }


def test_bytes_have_two_digits() -> None:
    assert [size(count) for count in (5 * MB, 47.4 * MB, 123 * MB, 1500 * MB, 24_000 * MB)] == [
        "5.0 MB",
        "47 MB",
        "120 MB",
        "1.5 GB",
        "24 GB",
    ]
