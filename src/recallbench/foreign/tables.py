"""The figures in the tables of a foreign folder's reports, beside the claims of its files of figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from recallbench.foreign.definitions import named
from recallbench.foreign.layouts.layout import Claim, plain
from recallbench.foreign.layouts.tables import Figure

_MOST = 200
"""Claims that are taken from tables; a report of more is no report."""


@dataclass(slots=True)
class Compared:
    """What became of each figure that stands in a table."""

    agreeing: int = 0
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    """Told of another run, or a difference."""
    alone: list[Claim] = field(default_factory=list)
    """No other file claims this measure of these questions: they are claims of their own."""


def compared(figures: Sequence[Figure], claims: Sequence[Claim]) -> Compared:
    """Each figure beside the claims of the same measure, at the precision it is printed with."""
    found = Compared()
    by_name: dict[tuple[str, str], list[Claim]] = {}
    for figure in figures:
        if (figure.name, figure.label) not in by_name:
            by_name[figure.name, figure.label] = _claimed(figure, claims)
    held = [(figure, by_name[figure.name, figure.label]) for figure in figures]
    placed = {
        (figure.group, plain(figure.name))
        for figure, same in held
        if not figure.other and any(_agrees(figure, claim) for claim in same)
    }
    for figure, same in held:
        text = f"{figure.where}: {figure.name}{' of ' + figure.label if figure.label else ''} {_printed(figure)}"
        if figure.other:
            found.elsewhere.append(text)
        elif any(_agrees(figure, claim) for claim in same):
            fitting = [claim for claim in same if _agrees(figure, claim)]
            _interval(found, figure, fitting[0], text)
        elif (
            not figure.plain
            or (figure.group, plain(figure.name)) in placed
            or not _known(figure)
            or (not same and len(found.alone) == _MOST)
        ):
            found.open.append(text)
        elif not same:
            where = figure.where
            found.alone.append(
                Claim(
                    figure.name,
                    figure.value,
                    where,
                    figure.label,
                    None,
                    figure.low,
                    figure.high,
                    False,
                    figure.decimals,
                )
            )
        elif any(abs(claim.value - figure.value) <= 0.5 * 10.0**-figure.decimals + 1e-9 for claim in same):
            found.open.append(f"{text}, of so few decimals")
        else:
            found.wrong.append(f"{text}, where {same[0].where} has {same[0].value}")
    return found


def _known(figure: Figure) -> bool:
    return bool(named(figure.name).family)


def _claimed(figure: Figure, claims: Sequence[Claim]) -> list[Claim]:
    """Claims of the same part of the questions under the same name, else under another name of the same measure."""
    beside = [claim for claim in claims if not claim.quoted and _letters(claim.slice) == _letters(figure.label)]
    same = [claim for claim in beside if plain(claim.name) == plain(figure.name)]
    meant = named(figure.name).protocol
    return same or [claim for claim in beside if meant is not None and named(claim.name).protocol == meant]


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _agrees(figure: Figure, claim: Claim) -> bool:
    away = abs(claim.value - figure.value)
    # One decimal would agree with a tenth of all there is.
    return away <= 0.5 * 10.0**-figure.decimals + 1e-9 and (figure.decimals > 1 or away <= 1e-4)


def _interval(found: Compared, figure: Figure, claim: Claim, text: str) -> None:
    if figure.low is None or figure.high is None:
        found.agreeing += 1
        return
    told = f"{text} [{figure.low}, {figure.high}]"
    if claim.low is None or claim.high is None:
        found.open.append(f"{told}: {claim.where} has no interval")
    elif (
        max(abs(figure.low - claim.low), abs(figure.high - claim.high)) > 0.5 * 10.0 ** -min(figure.decimals, 3) + 1e-9
    ):
        found.wrong.append(f"{told}, where {claim.where} has [{claim.low}, {claim.high}]")
    else:
        found.agreeing += 1


def _printed(figure: Figure) -> str:
    return f"{figure.value:.{max(figure.decimals, 1)}f}"
