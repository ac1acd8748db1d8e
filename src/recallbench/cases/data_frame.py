"""DataFrames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recallbench.extras import require

if TYPE_CHECKING:
    import pandas


def data_frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return the rows as a DataFrame; raises Blocked, with what to install, without pandas."""
    require("pandas", "a DataFrame")
    import pandas

    return pandas.DataFrame(list(rows))
