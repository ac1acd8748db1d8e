"""Every foreign layout by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recallbench.foreign.layouts import longmemeval, pgmnemo, trec
from recallbench.foreign.layouts.layout import Layout
from recallbench.results import manifest

LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        pgmnemo.LAYOUT,
        longmemeval.LAYOUT,
        trec.LAYOUT,
    )
}


def find_layout(folder: Path) -> Layout | None:
    """Return the layout of another tool's folder; None for this tool's own, and for an unknown one."""
    if (folder / manifest.NAME).exists():
        return None
    return next((layout for layout in LAYOUTS.values() if layout.recognises(folder)), None)
