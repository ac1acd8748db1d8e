"""Every foreign layout by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recallbench.foreign.layouts import (
    agent_memory_benchmark,
    longmemeval,
    mem0,
    memorybench,
    mempalace,
    mempalace_longmemeval,
    mempalace_membench,
    pgmnemo,
    trec,
)
from recallbench.foreign.layouts.layout import Layout
from recallbench.results import manifest

LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        pgmnemo.LAYOUT,
        mempalace.LAYOUT,
        mempalace_membench.LAYOUT,
        mempalace_longmemeval.LAYOUT,
        agent_memory_benchmark.LAYOUT,
        memorybench.LAYOUT,
        mem0.LAYOUT,
        longmemeval.LAYOUT,
        trec.LAYOUT,
    )
}


def described_layouts() -> str:
    """Return what the layouts read, for an error."""
    *most, last = (layout.description for layout in LAYOUTS.values())
    return f"{', '.join(most)}, or {last}"


def find_layout(folder: Path) -> Layout | None:
    """Return the layout of another tool's folder; None for this tool's own, and for an unknown one."""
    if (folder / manifest.NAME).exists():
        return None
    return next((layout for layout in LAYOUTS.values() if layout.recognises(folder)), None)
