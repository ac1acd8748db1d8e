"""What a survey of every universe comes to."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from recallbench.foreign.multiverse import FigureRange, Multiverse, PlacedNumber
from recallbench.foreign.outcome import conclusion

RANGES = (FigureRange("mrr", 10, 0.5, 0.6), FigureRange("recall_any", 10, 0.7, 0.9))
BETWEEN = "One set of rankings gives recall_any@10 from 0.7000 to 0.9000"


def told(*placed: PlacedNumber, ranges: tuple[FigureRange, ...] = RANGES, warnings: tuple[str, ...] = ()) -> str:
    survey = Multiverse(
        Path("theirs"), "ours", 20, 10, "named", "own", 0, (), (), ranges, placed, "the dataset", warnings
    )
    return str(conclusion(survey))


def number(text: str, *universes: str) -> PlacedNumber:
    cells: Any = tuple(SimpleNamespace(universe=universe) for universe in universes)
    return PlacedNumber(text, cells, "")


def test_the_widest_range_is_told() -> None:
    assert told() == (
        f"{BETWEEN}, by definition, scope and denominator; next: --published NUMBER finds a number that somebody states"
    )
    assert told(ranges=()) == "theirs: no figure follows from these rankings"


def test_published_numbers_are_told_where_they_are_and_where_they_are_not() -> None:
    assert told(number("0.75", "recall_any@10, own")) == f"{BETWEEN}; 0.75 is what recall_any@10, own gives"
    assert told(number("0.75", "a", "b")) == f"{BETWEEN}; 0.75 is what a gives, and one other"
    assert told(number("0.75", "a", "b"), number("0.8", "c", "d", "e"), number("0.99"), number("0.98")) == (
        f"{BETWEEN}; 2 of 4 numbers are found, as above; 0.99, 0.98 are in none of them"
    )


def test_a_changed_folder_is_said_to_be_one() -> None:
    assert told(warnings=("changed",)) == (
        f"{BETWEEN}; the folder is not as it was written; next: recallbench audit, which says what was changed"
    )


def test_the_line_stays_short_however_many_numbers_are_looked_for() -> None:
    universe = "recall_frac@20, own scope, over all 1986 of the dataset, 0 for those without gold (4)"
    found = [number(f"0.8{n}", *[universe] * 20) for n in range(9)]
    lost = [number(f"0.7{n}") for n in range(9)]
    for placed in (found, [*found, *lost], lost, [found[0], lost[0]]):
        assert len(told(*placed)) <= 220, told(*placed)
