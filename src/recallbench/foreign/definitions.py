"""The definition that a published number follows, and whether the protocol means it by the number's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recallbench.foreign.names import PublishedName, meaning_of
from recallbench.foreign.universes import Cell, Definition, agrees, printed_decimals

OPEN = "rows keep too few ids to take it again"
NO_RANKING = "no ranking was kept"
_OTHER_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a published number."""

    status: Literal["pass", "fail", "cannot-tell"]
    follows: tuple[Cell, ...]
    """The universes that give the number, the protocol's first."""
    text: str
    cause: str
    """The kind of finding, in words that many numbers can share."""
    beside: str = ""
    """The protocol's figure of that name, where it differs."""


def trace(
    name: str,
    value: float,
    cells: Sequence[Cell],
    own: str,
    decimals: int | None = None,
    *,
    contradicted: bool = False,
) -> Origin:
    """Find the universes of a published number among the cells of its part of the questions.

    `own` is the view of the question's own scope, empty where there is none; `contradicted` says that rankings hold ids
    of other scopes.
    """
    digits = printed_decimals(value) if decimals is None else decimals
    meant = meaning_of(name)
    if not meant.family or meant.protocol is None:
        return Origin(
            "cannot-tell",
            (),
            f"{value}: no measure of rankings that this tool knows goes by that name",
            "no measure of rankings that is known here",
        )
    family = [cell for cell in cells if meant.follows(cell.definition)]
    follows = tuple(cell for cell in family if cell.exact and agrees(cell.low, value, digits))
    protocol_cells = [
        cell
        for cell in family
        if cell.definition == meant.protocol and cell.protocol and cell.scope == (own or cell.scope)
    ]
    protocol = protocol_cells[0] if protocol_cells else None
    if follows:
        return _origin_followed(meant.protocol, value, digits, follows, protocol, own, contradicted)
    return _origin_unfollowed(meant, value, digits, family, cells, protocol)


def _origin_followed(
    meant: Definition,
    value: float,
    digits: int,
    follows: tuple[Cell, ...],
    protocol: Cell | None,
    own: str,
    contradicted: bool,
) -> Origin:
    ordered = tuple(sorted(follows, key=lambda cell: (not cell.protocol, cell.definition != meant)))
    # Among so many universes, another denominator may give the number by chance.
    ordered = tuple(cell for cell in ordered if cell.protocol == ordered[0].protocol)
    ordered = tuple(cell for cell in ordered if cell.denominator == ordered[0].denominator)
    first = ordered[0]
    # Few decimals cover a wide range: one decimal is a tenth of all values.
    rounded = digits < 3 and abs(first.low - value) > 1e-4
    others = {f"{cell.low:.4f}" for cell in follows} - {f"{first.low:.4f}"}
    vague = rounded and (digits < 2 or bool(others))
    text = f"{value} is {_several(ordered)}"
    if rounded:
        half = 0.5 * 10.0**-digits
        text += f" (few decimals: as printed it covers {value - half:.4g} to {value + half:.4g}"
        text += f", and {len(others)} other figures of that name lie there)" if others else ")"
    if first.stated:
        text += (
            "; it rests on the stated rank of each first hit: the kept ids alone bound it to "
            f"{first.listed_low:.4f} to {first.listed_high:.4f}"
        )
    if protocol is None or protocol not in ordered:
        beside = f"; {meant} there {_figure(protocol)}" if protocol is not None else ""
        if protocol is not None and not protocol.exact and protocol.may_be(value):
            text = f"{text}; the protocol means {meant}{beside}, which the rows leave open"
            return Origin("cannot-tell", ordered, text, OPEN)
        foreign = ", and no higher where only ids of the own scope count" if contradicted else ""
        text = f"{text}; the protocol means {meant} by that name{beside}{foreign}"
        cause = f"{first.definition.kind}, where the protocol's name means {meant.kind}"
        if first.definition.kind == meant.kind:
            cause = "another depth or another count of questions than the protocol's"
            if first.definition.variant != meant.variant:
                cause = f"{meant.kind} over another best order or by other discounts than its name means"
        beside = f"{meant} {_figure(protocol)}" if protocol is not None else ""
        return Origin("fail", ordered, text, cause, beside)
    if contradicted:
        return Origin(
            "fail",
            ordered,
            f"{text}; the protocol counts only ids of the question's own scope, and these rankings hold others: the "
            "figure it means can't be taken from bare ids, and is no higher",
            "rankings hold ids of other scopes, so that the figure is an upper bound",
        )
    if not own:
        return Origin(
            "cannot-tell",
            ordered,
            f"{text}; whether each id is of its question's own scope can't be told",
            "whether ids are of their question's own scope can't be told",
        )
    if protocol.stated:
        return Origin("cannot-tell", ordered, text, "it rests on stated ranks of first hits")
    if vague:
        return Origin(
            "cannot-tell", ordered, f"{text}: too few to tell whether it is this one", "too few decimals are printed"
        )
    return Origin("pass", ordered, f"{text}, as the protocol means it", "as the protocol means it")


def _origin_unfollowed(
    meant: PublishedName,
    value: float,
    digits: int,
    family: Sequence[Cell],
    cells: Sequence[Cell],
    protocol: Cell | None,
) -> Origin:
    open_cells = [cell for cell in family if not cell.exact and cell.may_be(value)]
    if open_cells:
        several = len({cell.scope for cell in open_cells}) > 1
        shown = dict.fromkeys(
            f"{cell.definition}{f', {cell.scope},' if several else ''} {_figure(cell)}"
            for cell in open_cells
            if cell.protocol
        )
        bounded = "; ".join(list(shown)[:_OTHER_SHOWN]) or f"{open_cells[0].definition} {_figure(open_cells[0])}"
        text = f"{value} can't be taken again: rows keep too few ids, by which {bounded}"
        if protocol is None or protocol.may_be(value):
            return Origin("cannot-tell", (), text, OPEN)
        text = f"{text}; the protocol means {meant.protocol}, which {_figure(protocol)}"
        return Origin("fail", (), text, OPEN, f"{meant.protocol} {_figure(protocol)}")
    if not family:
        return Origin("cannot-tell", (), f"{value}: no ranking was kept that it could be taken from", NO_RANKING)
    nearest = min(family, key=lambda cell: cell.distance(value))
    text = f"{value} follows no definition of that name; the nearest is {nearest.universe}, which {_figure(nearest)}, "
    text += f"{nearest.distance(value):.{max(digits, 4)}f} away"
    elsewhere = [cell for cell in cells if cell.exact and cell.protocol and agrees(cell.low, value, digits)]
    if elsewhere and digits >= 3:
        text += f"; {_several(elsewhere)} happens to give it"
    return Origin("fail", (), text, "no definition of that name gives it")


def _several(cells: Sequence[Cell]) -> str:
    """Return a short text for universes; definitions that differ only in depth are named together."""
    first = cells[0]
    text = [f"{first.universe}: {first.low:.5f}"]
    depths = sorted({c.definition.k for c in cells if c.definition.kind == first.definition.kind == "mrr"})
    if len(depths) > 1:
        text[0] = f"{first.definition.kind}@{depths[0]} to @{depths[-1]} alike, {first.scope}, over "
        text[0] += f"{first.denominator} ({first.n}): {first.low:.5f}"
    kinds = dict.fromkeys(
        str(c.definition) + (", by stated ranks" if c.stated and not first.stated else "")
        for c in cells
        if c.definition != first.definition and not (len(depths) > 1 and c.definition.kind == "mrr")
    )
    text += list(kinds)[:_OTHER_SHOWN]
    return ", or ".join(text)


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return "can't be told"
    rests = ", by stated ranks" if cell.narrowed else ""
    return (f"is {cell.low:.4f}" if cell.exact else f"lies between {cell.low:.4f} and {cell.high:.4f}") + rests
