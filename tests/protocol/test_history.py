"""HISTORY.md can be read by the program, and has the entries that the protocol requires."""

from datetime import date
from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.protocol import load
from recallbench.protocol.deviations import KINDS, Deviation
from recallbench.protocol.history import DeviationRecord, deviations_named, entries, unrecorded

HISTORY = (Path(__file__).parents[2] / "HISTORY.md").read_text("utf-8")

SAMPLE = """# History

A record looks like this:

```
## 2020-01-01: an example
- Deviation: embedder example
```

## 2026-05-09: First

Something happened.

- Deviation: embedder minilm on locomo
Deviation: limit on locomo

### More

## 2026-05-10: Second: with a colon

- Deviation: store exact
Mentioned in passing: Deviation: store bm25
"""


def test_entries_are_read_with_their_records() -> None:
    first, second = entries(SAMPLE)
    assert (first.dated, first.title) == (date(2026, 5, 9), "First")
    assert first.body.startswith("Something happened.")
    assert first.body.endswith("### More")
    assert first.records == (DeviationRecord("embedder minilm", "locomo"), DeviationRecord("limit", "locomo"))
    assert (second.title, second.records) == ("Second: with a colon", (DeviationRecord("store exact", ""),))


def test_a_record_counts_for_its_corpus_or_for_all() -> None:
    assert deviations_named(SAMPLE) == {"embedder minilm", "limit", "store exact"}
    assert deviations_named(SAMPLE, "locomo") == {"embedder minilm", "limit", "store exact"}
    assert deviations_named(SAMPLE, "longmemeval") == {"store exact"}
    assert deviations_named("") == frozenset()


def test_deviations_that_are_not_on_record_are_listed() -> None:
    run = [
        Deviation("embedder", "minilm instead of dragon-plus"),
        Deviation("store", "pgvector instead of pgmnemo"),
        Deviation("limit", "only the first 20 questions were asked"),
    ]
    assert [deviation.name for deviation in unrecorded(run, SAMPLE, "locomo")] == ["store pgvector"]
    assert [deviation.name for deviation in unrecorded(run, SAMPLE, "longmemeval")] == [
        "embedder minilm",
        "store pgvector",
        "limit",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Deviation: embedder",
        "Deviation: embedder on locomo",
        "Deviation: embeder minilm",
        "Deviation: limit 20 on locomo",
        "Deviation: embedder minilm and store exact",
        "Deviation:",
    ],
)
def test_a_record_that_cannot_be_read_is_refused_by_line(line: str) -> None:
    with pytest.raises(InputError, match="line 3") as caught:
        entries(f"## 2026-05-09: First\n\n{line}\n")
    assert caught.value.found == line.strip() or caught.value.found == line + " "


def test_a_record_needs_a_dated_entry() -> None:
    with pytest.raises(InputError, match="before the first dated entry"):
        entries("# History\n\nDeviation: embedder minilm\n")


@pytest.mark.parametrize("heading", ["## First", "## 2026-13-09: First", "## 2026-05-09 First", "## 2026-05-09:"])
def test_an_entry_without_a_date_or_title_is_refused(heading: str) -> None:
    with pytest.raises(InputError, match="line 2"):
        entries(f"# History\n{heading}\n")


def test_entries_stand_in_order_of_time() -> None:
    days = [entry.dated for entry in entries(HISTORY)]
    assert days == sorted(days)


def entry(title: str) -> str:
    (match,) = [entry for entry in entries(HISTORY) if entry.title == title]
    return f"{match.dated} {match.body}"


def test_the_corrections_before_the_freeze_are_there() -> None:
    granularity = entry("LoCoMo is cut into sessions, not turns")
    assert granularity.startswith("2026-05-09")
    for row in (
        "| recall@10 | 0.366 | 0.795 |",
        "| recall@25 | 0.477 | 0.962 |",
        "| recall@50 | 0.574 | 0.999 |",
        "| MRR | 0.237 | 0.548 |",
    ):
        assert row in granularity
    assert "5882" in granularity
    assert "272" in granularity
    substitution = entry("bge-m3 stands in for stella on LongMemEval")
    assert substitution.startswith("2026-05-09")
    assert "NovaSearch/stella_en_1.5B_v5" in substitution
    truncation = entry("Texts are cut at 512 tokens, not at 500 characters")
    assert truncation.startswith("2026-05-09")
    assert "0.0008" in truncation
    assert entry("Protocol 1.0.0 is frozen").startswith("2026-05-10")


def test_every_clarification_has_its_entry() -> None:
    titled = {entry.title: entry.dated for entry in entries(HISTORY)}
    for clarification in load().clarifications:
        assert titled[f"Clarification {clarification.number}: {clarification.title}"] == clarification.dated


def test_the_deviations_of_the_first_committed_result_are_on_record() -> None:
    run = [
        Deviation("embedder", "minilm instead of dragon-plus"),
        Deviation("store", "pgvector instead of pgmnemo"),
    ]
    assert unrecorded(run, HISTORY, "locomo") == ()
    assert [deviation.name for deviation in unrecorded(run, HISTORY, "longmemeval")] == [
        "embedder minilm",
        "store pgvector",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_deviation_of_every_kind_can_be_put_on_record(kind: str) -> None:
    deviation = Deviation(kind, "something instead of another thing")
    text = f"## 2026-05-09: First\n\n- Deviation: {deviation.name} on locomo\n"
    assert unrecorded([deviation], text, "locomo") == ()
    assert unrecorded([deviation], text, "longmemeval") == (deviation,)
