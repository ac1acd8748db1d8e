"""Figures in words and tables: by which measure, where, of which part, and whether they can mean anything else."""

from __future__ import annotations

import pytest

from recallbench.results.layouts.layout import Text
from recallbench.results.layouts.prose import Figure, told


def figures(text: str) -> list[Figure]:
    return list(told([Text("report.md", text)]).figures)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("recall@10 = 0.97", ("recall@10", 0.97, 2, True)),
        ("**Recall@10**: `97.4%`", ("recall@10", 0.974, 3, True)),
        ("R@5 is 1.0", ("recall@5", 1.0, 1, True)),
        ("MRR 1", ("mrr", 1.0, 0, True)),
        ("Hit rate at 10: .5", ("hit_rate@10", 0.5, 1, True)),
        ("recall@10 rose by a lot, to 0.97", ("recall@10", 0.97, 2, False)),
        ("we saw 0.97 of recall@10", ("recall@10", 0.97, 2, False)),
        ("recall@10 +0.02", ("recall@10", 0.02, 2, False)),
    ],
)
def test_a_sentence(text: str, expected: tuple[str, float, int, bool]) -> None:
    (found,) = figures(text)
    assert (found.name, pytest.approx(found.value), found.decimals, found.plain) == expected
    assert found.where == "report.md line 1"


def test_a_table_by_rows() -> None:
    text = "\n| metric | n | ours | baseline | 95% CI |\n|---|--:|---|---|---|\n| MRR | 9 | 0.55 | 0.24 | [0.5, 0.6] |"
    ours, baseline = figures(text)
    assert (ours.name, ours.value, ours.low, ours.high, ours.other) == ("mrr", 0.55, 0.5, 0.6, False)
    assert (baseline.value, baseline.other, baseline.low) == (0.24, True, None)
    assert (ours.where, ours.group == baseline.group) == ("report.md line 4", True)


def test_a_table_by_columns() -> None:
    text = (
        "| category | N | recall@10 |\n|---|---|---|\n| temporal | 92 | 0.645 [0.559, 0.731] |\n| overall | 99 | 0.8 |"
    )
    part, whole = figures(text)
    assert (part.label, part.value, part.low, part.high) == ("temporal", 0.645, 0.559, 0.731)
    assert (whole.label, whole.value, whole.low) == ("", 0.8, None)


def test_numbers_by_no_measure_are_kept_apart() -> None:
    found = told([Text("a.md", "It is\n0.9742 of all.\n\nalpha 0.05, v0.3.1, D1:3, 2026-05-13")])
    assert found.figures == ()
    assert [(one.where, one.text) for one in found.loose] == [("a.md line 2", "It is 0.9742 of all.")]


def test_a_long_line_takes_no_time_to_speak_of() -> None:
    """Every number used to look at every name: ten billion steps where there are now a few million."""
    assert len(figures("recall@10 0.5 " * 20_000)) == 20_000
    assert figures("-" * 200_000 + "x|y|z") == []
