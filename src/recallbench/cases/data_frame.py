"""DataFrames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recallbench.errors import Blocked

if TYPE_CHECKING:
    import pandas


def data_frame(rows: Iterable[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return the rows as a DataFrame; raises Blocked, with what to install, without pandas."""
    try:
        import pandas
    except ImportError:
        raise Blocked(
            "a DataFrame needs pandas",
            expected="pandas",
            found="not installed",
            remedy="pip install 'recallbench[pandas]'",
        ) from None
    return pandas.DataFrame(list(rows))
