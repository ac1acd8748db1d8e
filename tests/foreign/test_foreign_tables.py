"""Figures of tables have a measure, a place and a part, and are marked where they can mean something else."""

from __future__ import annotations

import pytest

from recallbench.foreign.layouts.layout import ReportText
from recallbench.foreign.tables import TableFigure, TableNumbers, table_numbers


def figures(text: str) -> list[TableFigure]:
    return list(table_numbers([ReportText("report.md", text)]).figures)


def test_prose_is_named_and_not_read() -> None:
    text = "recall@10 = 0.97 and **MRR** is `0.62` (n=500)\n- recall@10: 0.97"
    assert table_numbers([ReportText("report.md", text)]) == TableNumbers(prose=("report.md",))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("recall@10 = 0.97", ("recall@10", 0.97, 2, True)),
        ("**Recall@10**: `97.4%`", ("recall@10", 0.974, 3, True)),
        ("R@5 is 1.0", ("r@5", 1.0, 1, True)),
        ("MRR 1", ("mrr", 1.0, 0, True)),
        ("Hit rate at 10: .5", ("hit_rate@10", 0.5, 1, True)),
        ("recall@10 +0.02", ("recall@10", 0.02, 2, False)),
    ],
)
def test_a_cell_that_names_its_measure_is_a_figure(cell: str, expected: tuple[str, float, int, bool]) -> None:
    (figure,) = figures(f"| what | we |\n|---|---|\n| best | {cell} |")
    assert (figure.name, pytest.approx(figure.value), figure.decimals, figure.plain) == expected
    assert figure.where == "report.md line 3"


def test_counts_and_qualified_names_are_no_figures() -> None:
    rows = "| recall@1 | 0.5472 (n=500) |\n| F1 A-scale | 0.43 |\n| F1 token overlap | 0.0043 |"
    numbers = table_numbers([ReportText("a.md", f"| measure | value |\n|---|---|\n{rows}")])
    assert [(figure.name, figure.value) for figure in numbers.figures] == [("recall@1", 0.5472)]
    assert [number.shown for number in numbers.loose] == ["value: 0.0043"]


def test_a_table_with_measures_in_rows_is_read() -> None:
    text = "\n| metric | n | ours | baseline | 95% CI |\n|---|--:|---|---|---|\n| MRR | 9 | 0.55 | 0.24 | [0.5, 0.6] |"
    ours, baseline = figures(text)
    assert (ours.name, ours.value, ours.low, ours.high, ours.other) == ("mrr", 0.55, 0.5, 0.6, False)
    assert (baseline.value, baseline.other, baseline.low) == (0.24, True, None)
    assert (ours.where, ours.where == baseline.where) == ("report.md line 4", True)


def test_a_table_with_measures_in_columns_is_read() -> None:
    text = (
        "| category | N | recall@10 |\n|---|---|---|\n| temporal | 92 | 0.645 [0.559, 0.731] |\n| overall | 99 | 0.8 |"
    )
    part, overall = figures(text)
    assert (part.label, part.value, part.low, part.high) == ("temporal", 0.645, 0.559, 0.731)
    assert (overall.label, overall.value, overall.low) == ("", 0.8, None)


def test_numbers_without_a_measure_are_listed_apart() -> None:
    text = "| what | we |\n|---|---|\n| share | 0.9742 |\n| when | 2026-05-13, v0.3.1, D1:3 |"
    numbers = table_numbers([ReportText("a.md", text)])
    assert numbers.figures == ()
    assert [(number.where, number.shown) for number in numbers.loose] == [("a.md line 3", "we: 0.9742")]


def test_a_long_line_is_read_quickly() -> None:
    """Comparing every number with every name would take a billion steps."""
    assert len(figures("| a | " + "recall@10 0.5 " * 20_000 + "|")) == 20_000
    assert figures("-" * 200_000 + "x|y|z") == []
