"""What a survey of every universe comes to."""

from __future__ import annotations

from pathlib import Path

from recallbench.foreign.multiverse import FigureRange, Multiverse, PlacedNumber
from recallbench.foreign.outcome import conclusion
from recallbench.foreign.universes import Cell, Definition


def cell(definition: Definition, scope: str, value: float) -> Cell:
    return Cell(definition, scope, "all", 20, value, value, value, value, True)


FIRST, FRAC, ANY = Definition("mrr", 10), Definition("recall_frac", 10), Definition("recall_any", 10)
CELLS = (
    *(cell(FIRST, scope, 0.6) for scope in ("own", "alike")),
    *(cell(FRAC, scope, 0.75) for scope in ("own", "alike")),
    *(cell(ANY, scope, 0.9) for scope in ("own", "alike")),
    cell(FRAC, "other", 0.75),
    cell(ANY, "other", 0.8),
)
RANGES = (FigureRange("mrr", 10, 0.1, 0.6), FigureRange("recall", 10, 0.7, 0.9))
APART = "ne set of rankings gives {}"
WIDEST, RECALL = APART.format("mrr@10 from 0.1000 to 0.6000"), APART.format("recall@10 from 0.7000 to 0.9000")


def told(*placed: PlacedNumber, ranges: tuple[FigureRange, ...] = RANGES, warnings: tuple[str, ...] = ()) -> str:
    survey = Multiverse(
        Path("theirs"), "ours", 20, 10, "named", "own", 0, (), CELLS, ranges, placed, "the dataset", warnings
    )
    return str(conclusion(survey))


def number(text: str) -> PlacedNumber:
    return PlacedNumber(text, tuple(cell for cell in CELLS if cell.low == float(text)), "")


def test_the_widest_range_is_told_where_nothing_is_asked() -> None:
    assert told() == (
        f"O{WIDEST}, by definition, scope and denominator; next: --published NUMBER finds a number that somebody states"
    )
    assert told(ranges=()) == "theirs: no figure follows from these rankings"


def test_a_published_number_is_answered_first_and_with_the_range_of_its_name() -> None:
    assert told(number("0.9")) == f"0.9 is what recall_any@10, own, over all (20) gives; o{RECALL}"
    # Scopes that are alike count once.
    assert told(number("0.75")) == f"0.75 is what recall_frac@10, own, over all (20) gives, and one other; o{RECALL}"
    assert told(number("0.75"), number("0.6"), number("0.99"), number("0.98")) == (
        f"2 of 4 numbers are found, as above; 0.99, 0.98 are what no universe gives; o{RECALL}"
    )
    assert told(number("0.99")) == f"0.99 is what no universe gives; o{WIDEST}"


def test_a_changed_folder_is_said_to_be_one() -> None:
    assert told(warnings=("changed",)) == (
        f"O{WIDEST}; the folder is not as it was written; next: recallbench audit, which says what was changed"
    )


def test_the_line_stays_short_however_many_numbers_are_looked_for() -> None:
    found, lost = [number("0.75"), number("0.6"), number("0.9")], [number(f"0.5{n}") for n in range(9)]
    for placed in (found, [*found, *lost], lost, [found[0], lost[0]]):
        assert len(told(*placed)) <= 220, told(*placed)
