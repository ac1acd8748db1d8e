"""The tables of a board: its groups on the page, and everything as CSV."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.compare.rules import BASELINE, Requirement
from recallbench.escaping.sheet import csv_text
from recallbench.reports.cells import figure, interval, milliseconds, ten_digits
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart
from recallbench.scoring.measures.measure import Measure
from recallbench.site.board import Board, Group
from recallbench.site.choices import SiteChoices
from recallbench.site.curve import Standing
from recallbench.site.entry import Entry
from recallbench.site.links import Links, linked
from recallbench.site.picture import price_words

ADMITTED, RESCORED, APART = "audited", "re-scored", "apart"
RECORDED = " (recorded)"
"""Marks a column that no audit can work out again."""


def result_table(group: Group, standing: Standing, choices: SiteChoices, links: Links, caption: str) -> Table:
    """Return a row for each audited result of a group, best first."""
    priced = any(entry.usd_per_1000 is not None for entry in group.entries)
    columns = ["result", *map(str, choices.measures), "not told from the best", "front"]
    columns += [f"p95 ms{RECORDED}", f"build s{RECORDED}"]
    columns += [f"{choices.prices.currency}/1000{RECORDED}"] if priced else []
    columns += ["store", f"version{RECORDED}", "pipeline", "encoder", "date", "audit", "folder", "remarks"]
    columns += [f"command that made it{RECORDED}"]
    rows = []
    for place, entry in enumerate(group.entries):
        page, folder = links.page(entry.place.path, entry.name), links.folder(entry.place.path)
        rows.append(
            [
                linked(entry.name, page),
                *map(cell, entry.estimates),
                "yes" if standing.is_among_best(place) else "–",
                standing.fronts(entry) or "–",
                milliseconds(entry.p95_ms),
                figure(entry.build_s, 2),
                *(["–" if entry.usd_per_1000 is None else price_words(entry.usd_per_1000)] if priced else []),
                *(entry.store, entry.version, entry.pipeline, entry.embedder),
                entry.day,
                entry.verdict,
                linked(entry.place.path.resolve().name, folder),
                remarks(entry, choices.gates) or "–",
                entry.command or "not stated",
            ]
        )
    return Table(columns, rows, caption=caption)


def rescored_table(group: Group, choices: SiteChoices, links: Links, caption: str) -> Table:
    """Return a row for each of the rankings that others published."""
    columns = ["re-scored", *map(str, choices.measures), "what to know"]
    rows = [
        [linked(entry.name, links.folder(entry.place.path)), *map(cell, entry.estimates), remarks(entry, ()) or "–"]
        for entry in group.rescored
    ]
    return Table(columns, rows, caption=caption)


def apart_table(board: Board, links: Links) -> Table:
    """Return a row for each folder or file that is on no board, with the reason."""
    rows = [[linked(each.place.name, links.folder(each.place.path)), each.reason] for each in board.apart]
    return Table(["kept out", "why"], rows, caption="On no board")


def cell(estimate: EstimatePart | None) -> str:
    """Return a value with its interval; a dash where the rankings are not deep enough."""
    if estimate is None or estimate.value is None:
        return "–"
    return figure(estimate.value) if estimate.low is None else f"{figure(estimate.value)} ({interval(estimate)})"


def remarks(entry: Entry, gates: Sequence[Requirement]) -> str:
    """Return what a reader has to know of an entry, with the gates that it does not keep."""
    missed = [str(gate) for gate in gates if not keeps(entry, gate)]
    return "; ".join([*entry.remarks, *([f"does not keep {', '.join(missed)}"] if missed else [])])


def keeps(entry: Entry, gate: Requirement) -> bool:
    """Return whether an entry keeps a gate."""
    values = {str(each.measure): each.value for each in entry.estimates if each is not None}
    values |= {"p95": entry.p95_ms, "usd_per_1000": entry.usd_per_1000}
    return gate.keeps(values.get(gate.name), None)


def refuse_gate(gate: Requirement, measures: Sequence[Measure], currency: str) -> str:
    """Return why a board can't hold its results to a gate; empty where it can."""
    if gate.bound is None:
        return f"a board has no {BASELINE}"
    if gate.measure is not None:
        return "" if gate.measure in measures else f"{gate.name} is not among the measures of the board"
    if gate.name == "usd_per_1000" and currency != "USD":
        return f"the prices are in {currency}"
    return "" if gate.name in ("p95", "usd_per_1000") else f"{gate.name} is in no column of the board"


def board_sheet(board: Board, standings: Sequence[Standing], choices: SiteChoices, links: Links) -> str:
    """Return `board.csv`: every entry with every digit, and what is apart with the reason."""
    ends = ("", " low", " high")
    measured = [f"{measure}{end}" for measure in choices.measures for end in ends]
    columns = ["group", "asked", "status", "result", *measured, "n", "not told from the best", "front"]
    columns += ["p95 ms", "build s", f"{choices.prices.currency}/1000", "store", "version", "pipeline", "encoder"]
    columns += ["date", "audit", "content_sha256", "folder", "command", "remarks"]
    rows = []
    for number, (group, standing) in enumerate(zip(board.groups, standings, strict=True), 1):
        for place, entry in enumerate((*group.entries, *group.rescored)):
            audited = entry.metrics is not None
            rows.append(
                [
                    str(number),
                    group.asked,
                    ADMITTED if audited else RESCORED,
                    entry.name,
                    *(ten_digits(value) for estimate in entry.estimates for value in _ends(estimate)),
                    _count(entry),
                    "yes" if audited and standing.is_among_best(place) else "",
                    standing.fronts(entry),
                    ten_digits(entry.p95_ms),
                    ten_digits(entry.build_s),
                    ten_digits(entry.usd_per_1000),
                    *map(_stated, (entry.store, entry.version, entry.pipeline, entry.embedder, entry.day)),
                    entry.verdict,
                    entry.content_sha256,
                    links.folder(entry.place.path) or "",
                    entry.command,
                    remarks(entry, choices.gates if audited else ()),
                ]
            )
    for each in board.apart:
        blank = [""] * (len(columns) - 7)
        row = ["", "", APART, each.place.name, *blank, links.folder(each.place.path) or "", "", each.reason]
        rows.append(row[: len(columns)])
    return csv_text([columns, *rows])


def _ends(estimate: EstimatePart | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)


def _count(entry: Entry) -> str:
    return next((str(estimate.n) for estimate in entry.estimates if estimate is not None), "")


def _stated(text: str) -> str:
    return "" if text == "–" else text
