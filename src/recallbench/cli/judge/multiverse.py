"""`recallbench multiverse`: one set of rankings under every definition, scope and denominator."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import ALIAS, PATH, argument, command, flag, option
from recallbench.cli.printing import show
from recallbench.reports.cells import every_digit
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part, Table

if TYPE_CHECKING:
    from recallbench.foreign.multiverse import Multiverse


@command(
    argument("folder", "A result folder, of this tool or of another.", metavar="DIR", type=PATH),
    options.CORPUS_FILE,
    option("published", "A published number to look for, as it was printed; repeat it for several.", multiple=True),
    flag("controls", "Score BM25 and chance over the same questions; needs the dataset."),
    *options.FORMAT,
    flag("csv", "The same as --format csv: a row for each universe.", ALIAS + "csv"),
    epilog="Examples: recallbench multiverse DIR --published 0.795 --published 0.548; "
    "recallbench multiverse DIR --corpus-file locomo10.json --csv > universes.csv",
)
def multiverse(
    folder: Path, corpus_file: Path | None, published: tuple[str, ...], controls: bool, format: Format
) -> int:
    """Score one set of rankings under every definition, scope and denominator, and find published numbers there.

    Reads folders of this tool, a TREC run with qrels, and what pgmnemo, LongMemEval's and Mem0's own programs,
    MemPalace, memorybench and agent-memory-benchmark write. Where rows keep too few ids for a figure, its bounds are
    given. Gold comes from the dataset where that is at hand.
    """
    from recallbench.foreign.multiverse import survey
    from recallbench.foreign.outcome import conclusion

    universes = survey(folder, corpus_file, dict(os.environ), published, controls=controls)
    for warning in universes.warnings:
        print(f"recallbench: {universes.folder}: {warning}; `recallbench audit` tells more", file=sys.stderr)
    told = conclusion(universes)
    title = f"Every universe of {universes.folder}"
    show(Printed(title, _parts(universes), _document(universes), told, own_sheet=_sheet(universes)), format)
    return 0


_FIELDS = ("definition", "k", "scope", "denominator", "n", "low", "high", "rests_on_stated_ranks", "protocol")


_CONTROLS = ("BM25", "chance")


def _rows(universes: Multiverse) -> list[tuple[Any, ...]]:
    of_rankings: list[tuple[Any, ...]] = [
        (
            str(cell.definition),
            cell.definition.k,
            cell.scope,
            cell.denominator,
            cell.n,
            cell.low,
            cell.high,
            cell.stated,
            cell == universes.protocol_cell(cell),
        )
        for cell in universes.cells
    ]
    if universes.controls is None:
        return of_rankings
    n = universes.controls.questions
    return of_rankings + [
        (str(figure.definition), figure.definition.k, name, "the same questions", n, value, value, False, False)
        for figure in universes.controls.figures
        for name, value in zip(_CONTROLS, (figure.bm25, figure.chance), strict=True)
    ]


def _sheet(universes: Multiverse) -> Table:
    return Table(_FIELDS, [list(map(every_digit, row)) for row in _rows(universes)])


def _document(universes: Multiverse) -> dict[str, Any]:
    return {
        "folder": str(universes.folder),
        "layout": universes.layout,
        "questions": universes.questions,
        "depth_kept": universes.depth or None,
        "scoping": universes.scoping,
        "gold": universes.gold,
        "scopes": dict(universes.meanings),
        "warnings": list(universes.warnings),
        "rankings_with_other_haystacks": universes.leaking,
        "untold": list(universes.unstated),
        "cells": [dict(zip(_FIELDS, row, strict=True)) for row in _rows(universes)],
        "ranges": [
            {
                "family": span.family,
                "k": span.k,
                "smallest": span.low,
                "largest": span.high,
                "spread": span.high - span.low,
            }
            for span in universes.ranges
        ],
        "published": [
            {"number": number.text, "equals": [cell.universe for cell in number.equals], "place": number.place}
            for number in universes.placed
        ],
    }


def _parts(universes: Multiverse) -> list[Part]:
    depth = f"{universes.depth} ids kept of each ranking" if universes.depth else "rankings kept whole"
    lines: list[Part] = [
        f"{universes.folder}: {universes.layout}, {universes.questions} questions, {depth}",
        f"scope: {universes.scope_summary}",
    ]
    lines += [f"gold: {universes.gold}"]
    lines += [f"not stated: {definition}" for definition in universes.unstated]
    lines += [f"{name}: {meaning}" for name, meaning in universes.meanings]
    for (scope, denominator, n), alike in universes.distinct_tables:
        lines += ["", f"{scope}, over {denominator} ({n})", _table(universes, scope, denominator)]
        lines += [f"the same: {'; '.join(alike)}"] if alike else []
    lines += _controls(universes)
    lines += _legend(universes)
    lines += ["", "range over all universes, bounds included", _ranges(universes)]
    for number in universes.placed:
        lines += ["", f"{number.text}: {number.place}"]
        for cell, alike in universes.matches(number):
            same = f"; the same: {'; '.join(alike)}" if alike else ""
            lines.append(f"  equals {cell.universe}: {cell.low:.5f}{same}")
    return lines


def _controls(universes: Multiverse) -> list[Part]:
    """Return a table of BM25 and one of chance, where they were asked for."""
    controls = universes.controls
    if controls is None:
        return []
    kinds = list(dict.fromkeys(figure.definition.kind for figure in controls.figures))
    ks = sorted({figure.definition.k for figure in controls.figures})
    parts: list[Part] = []
    for name in _CONTROLS:
        values = {
            (figure.definition.kind, figure.definition.k): figure.bm25 if name == "BM25" else figure.chance
            for figure in controls.figures
        }
        rows = [(kind, *(f"{values[kind, k]:.4f}" if (kind, k) in values else "" for k in ks)) for kind in kinds]
        heading = f"{name}, own scope, over the same {controls.questions} questions that the dataset has gold for"
        parts += ["", heading, Table(("", *(f"@{k}" for k in ks)), rows)]
    return parts


def _legend(universes: Multiverse) -> list[str]:
    notes = []
    if any(cell.stated for cell in universes.cells):
        notes.append("* rests on stated ranks of first hits: the kept ids alone leave it open")
    if not all(cell.exact for cell in universes.cells):
        notes.append("a-b: the least and the most that what was kept allows")
    return ["", *notes] if notes else []


def _table(universes: Multiverse, scope: str, denominator: str) -> Table:
    here = {
        (_family(cell), cell.definition.k): cell
        for cell in universes.cells
        if (cell.scope, cell.denominator) == (scope, denominator)
    }
    kinds = list(dict.fromkeys(kind for kind, _ in here))
    ks = sorted({k for _, k in here})
    rows = [(kind, *(_cell(here.get((kind, k))) for k in ks)) for kind in kinds]
    return Table(("", *(f"@{k}" for k in ks)), rows)


def _family(cell: Any) -> str:
    return str(cell.definition.kind) + (f" ({cell.definition.variant})" if cell.definition.variant else "")


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if cell.exact:
        return f"{cell.low:.4f}" + ("*" if cell.stated else "")
    return f"{cell.low:.4f}-{cell.high:.4f}"


def _ranges(universes: Multiverse) -> Table:
    rows = [
        (f"{span.family}@{span.k}", f"{span.low:.4f}", f"{span.high:.4f}", f"{span.high - span.low:.4f}")
        for span in universes.ranges
    ]
    return Table(("", "smallest", "largest", "spread"), rows)
