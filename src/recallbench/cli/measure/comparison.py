"""The closing lines of `recallbench versions`."""

from __future__ import annotations

from pathlib import Path

from recallbench.reports.table import Part
from recallbench.reports.versions import (
    MARKDOWN,
    PAGE,
    Versions,
    bands,
    identity,
    pair_table,
    reading,
    title,
    version_table,
)


def comparison(versions: Versions, folder: Path) -> list[Part]:
    """Return both tables, how to read them, and where they lie."""
    return [
        title(versions),
        *identity(versions),
        "",
        version_table(versions),
        bands(versions),
        "",
        *([pair_table(versions)] if versions.pairs else []),
        *reading(versions),
        f"table: {(folder / MARKDOWN).absolute()}",
        f"page: {(folder / PAGE).absolute()}",
    ]
