"""What `recallbench versions` ends with."""

from __future__ import annotations

from pathlib import Path

from recallbench.cli.columns import columns
from recallbench.escaping.terminal import visible
from recallbench.reports.versions import (
    MARKDOWN,
    PAGE,
    PAIR_HEADER,
    Versions,
    bands,
    header,
    identity,
    pair_rows,
    reading,
    rows,
    title,
)


def comparison(versions: Versions, folder: Path) -> str:
    """Both tables, how to read them, and where they lie."""
    pairs = [tuple(row) for row in pair_rows(versions)]
    lines = [
        title(versions),
        *identity(versions),
        "",
        *columns([tuple(header(versions)), *(tuple(row) for row in rows(versions))]),
        bands(versions),
        "",
        *(columns([PAIR_HEADER, *pairs]) if pairs else []),
        *reading(versions),
        f"table: {(folder / MARKDOWN).absolute()}",
        f"page: {(folder / PAGE).absolute()}",
    ]
    return "\n".join(map(visible, lines))
