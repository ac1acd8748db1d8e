"""The figures in the tables of a foreign folder's reports, compared with its other claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from recallbench.foreign.layouts.layout import Claim
from recallbench.foreign.names import label_key, meaning_of, plain
from recallbench.foreign.tables import TableFigure
from recallbench.foreign.universes import agrees


@dataclass(slots=True)
class TableComparison:
    """The figures in tables, by the outcome of their comparison."""

    agreeing: int = 0
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    elsewhere: int = 0
    """How many figures are of another run, or differences."""
    alone: list[Claim] = field(default_factory=list)
    """Figures that no other file has: claims of their own."""


def compare_tables(figures: Sequence[TableFigure], claims: Sequence[Claim]) -> TableComparison:
    """Compare each figure with the claims of the same measure, at its printed precision."""
    comparison = TableComparison()
    by_name = {(figure.name, figure.label): _claims_of(figure, claims) for figure in figures}
    beside = [(figure, by_name[figure.name, figure.label]) for figure in figures]
    agreeing_rows = {
        (figure.where, figure.name)
        for figure, same in beside
        if not figure.other and any(_agrees(figure, claim) for claim in same)
    }
    for figure, same in beside:
        text = f"{figure.where}: {figure.name}{' of ' + figure.label if figure.label else ''} {_printed(figure)}"
        agreeing = next((claim for claim in same if _agrees(figure, claim)), None)
        if figure.other:
            comparison.elsewhere += 1
        elif agreeing is not None:
            _compare_interval(comparison, figure, agreeing, text)
        elif not figure.plain or (figure.where, figure.name) in agreeing_rows or not meaning_of(figure.name).family:
            comparison.open.append(text)
        elif not same:
            comparison.alone.append(
                Claim(
                    figure.name,
                    figure.value,
                    figure.where,
                    figure.label,
                    low=figure.low,
                    high=figure.high,
                    decimals=figure.decimals,
                )
            )
        elif any(agrees(claim.value, figure.value, figure.decimals) for claim in same):
            comparison.open.append(f"{text}, of so few decimals")
        else:
            comparison.wrong.append(f"{text}, where {same[0].where} has {same[0].value}")
    return comparison


def _claims_of(figure: TableFigure, claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims of the same questions under the same name, else under another name of the measure."""
    beside = [claim for claim in claims if not claim.quoted and label_key(claim.slice) == label_key(figure.label)]
    same = [claim for claim in beside if plain(claim.name) == figure.name]
    meant = meaning_of(figure.name).protocol
    return same or [claim for claim in beside if meant is not None and meaning_of(claim.name).protocol == meant]


def _agrees(figure: TableFigure, claim: Claim) -> bool:
    # One decimal would agree with a tenth of all values.
    return agrees(claim.value, figure.value, figure.decimals) and (
        figure.decimals > 1 or abs(claim.value - figure.value) <= 1e-4
    )


def _compare_interval(comparison: TableComparison, figure: TableFigure, claim: Claim, text: str) -> None:
    if figure.low is None or figure.high is None:
        comparison.agreeing += 1
        return
    printed = f"{text} [{figure.low}, {figure.high}]"
    if claim.low is None or claim.high is None:
        comparison.open.append(f"{printed}: {claim.where} has no interval")
        return
    apart = max(abs(figure.low - claim.low), abs(figure.high - claim.high))
    if apart > 0.5 * 10.0 ** -min(figure.decimals, 3) + 1e-9:
        comparison.wrong.append(f"{printed}, where {claim.where} has [{claim.low}, {claim.high}]")
    else:
        comparison.agreeing += 1


def _printed(figure: TableFigure) -> str:
    return f"{figure.value:.{max(figure.decimals, 1)}f}"
