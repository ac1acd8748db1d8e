"""Rows as aligned columns, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.escaping.terminal import visible


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """One line a row; every column as wide as its widest cell."""
    rows = [tuple(map(visible, row)) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
