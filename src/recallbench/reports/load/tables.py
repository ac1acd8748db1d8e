"""The tables of a latency study: a row for each level, and one for each difference of two systems."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.reports.cells import figure, milliseconds, rate, share, system_name
from recallbench.reports.table import Table
from recallbench.results.load.levels import LatencyDocument, LevelPart, LoadPercentilePart, MeasuredSystemPart
from recallbench.scoring.load.figures import STORE_CALL

LEFT = ["system", "loop"]
"""Columns of words, which name a level."""


def named_system(system: MeasuredSystemPart) -> str:
    """Return a system's name with its settings and stages."""
    return system_name(system.store, system.variant, system.pipeline)


def level_table(document: LatencyDocument) -> Table:
    """Return the levels in the order in which they were run; columns that would say one thing throughout are left out.

    A percentile stands with its bounds, and with ≥ where calls without an answer could raise it.
    """
    rows = document.rows
    several, sizes = len(document.systems) > 1, len({row.size for row in rows}) > 1
    measures = [quality.measure for quality in rows[0].quality]
    short = any(row.rows is not None and row.rows.short_calls for row in rows)
    columns = [
        *_names(several, sizes),
        "utilisation",
        "n",
        "answers/s",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "slowest ms",
        "lag p99 ms",
        *measures,
        *(["rows returned"] if short else []),
        "remarks",
    ]
    cells = [
        [
            *_named(row, several, sizes),
            "–" if row.utilisation is None else share(row.utilisation),
            str(row.n),
            rate(row.throughput),
            *(percentile(found) for found in (row.p50, row.p95, row.p99)),
            milliseconds(row.slowest_ms),
            "–" if row.rate is None else milliseconds(row.lag_p99_ms),
            *(figure(quality.value) for quality in row.quality),
            *([_returned(row)] if short else []),
            "; ".join(remarks(row)) or "–",
        ]
        for row in rows
    ]
    return Table(columns, cells, caption="Levels of load", left=[*LEFT, "remarks"])


def part_table(document: LatencyDocument) -> Table | None:
    """Return what the times of each level are made of; None where no system tells its own calls apart."""
    rows = [row for row in document.rows if row.parts]
    parts = list(dict.fromkeys(part.name for row in rows for part in row.parts))
    if STORE_CALL not in parts:
        return None
    several, sizes = len(document.systems) > 1, len({row.size for row in rows}) > 1
    columns = [*_names(several, sizes), *(f"{part} {share} ms" for part in parts for share in ("p50", "p95"))]
    cells = []
    for row in rows:
        told = {part.name: (milliseconds(part.p50), milliseconds(part.p95)) for part in row.parts}
        cells.append([*_named(row, several, sizes), *(cell for part in parts for cell in told.get(part, ("–", "–")))])
    return Table(columns, cells, caption="What a time is made of", left=LEFT)


def difference_table(document: LatencyDocument) -> Table:
    """Return the differences of two systems that were asked in turns."""
    rows = [
        [
            *([f"{found.size}x"] if len({each.size for each in document.differences}) > 1 else []),
            f"closed, {found.clients}" if found.rate is None else f"open, {rate(found.rate)}/s",
            found.percentile,
            milliseconds(found.first),
            milliseconds(found.second),
            _signed(found.difference),
            "–" if found.low is None or found.high is None else f"{_signed(found.low)} to {_signed(found.high)}",
            f"{found.p:.3f}",
            f"{found.smallest_p:.3f}",
        ]
        for found in document.differences
    ]
    sizes = ["size"] if len({each.size for each in document.differences}) > 1 else []
    columns = [*sizes, "loop", "of blocks", "A ms", "B ms", "B - A ms", "95% interval", "p", "smallest p"]
    return Table(columns, rows, caption="B minus A, over pairs of blocks", left=["loop"])


def percentile(found: LoadPercentilePart) -> str:
    """Return a percentile with its bounds."""
    if found.value is None:
        return "–"
    value = ("≥ " if found.at_least else "") + milliseconds(found.value)
    if found.low is None and found.high is None:
        return value
    return f"{value} ({milliseconds(found.low)} to {milliseconds(found.high)})"


def remarks(row: LevelPart) -> Sequence[str]:
    """Return what a reader of a level has to know."""
    return [
        *(["void"] if row.void else []),
        *(["saturated"] if row.saturated else []),
        *([f"{row.skipped} skipped"] if row.skipped else []),
        *([f"{row.failed} failed"] if row.failed else []),
        *([] if row.machine.quiet else ["machine not quiet"]),
    ]


def _names(several: bool, sizes: bool) -> list[str]:
    return [*(["system"] if several else []), *(["size"] if sizes else []), "loop", "clients"]


def _named(row: LevelPart, several: bool, sizes: bool) -> list[str]:
    return [
        *([row.side] if several else []),
        *([f"{row.size}x ({row.stored})"] if sizes else []),
        "closed" if row.rate is None else f"open, {rate(row.rate)}/s",
        str(row.clients),
    ]


def _returned(row: LevelPart) -> str:
    return "–" if row.rows is None or not row.rows.eligible else share(row.rows.returned / row.rows.eligible)


def _signed(value: float) -> str:
    return f"{value:+.3g}"
