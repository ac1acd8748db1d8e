"""The options of the store: which function is called, and what its rows are dated."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.stores.options import StoreOption
from recallbench.stores.pgmnemo.lessons import DATES, Dates
from recallbench.stores.pgmnemo.signature import CANONICAL, FUNCTIONS

CREATED_AT: Mapping[Dates, str] = {"constant": "one constant for all rows", "dataset": "the corpus' dates"}
"""The words of each choice of dates in the evidence of a run."""
FUNCTION = StoreOption(
    "function",
    "The function of the extension that is called",
    default=CANONICAL,
    values=FUNCTIONS,
    flag="pgmnemo-function",
)
ROW_DATES = StoreOption(
    "dates",
    "What created_at of the rows is: one constant, or the date of the dataset",
    default=DATES[0],
    values=DATES,
    deviation="created_at from the {}",
    flag="pgmnemo-dates",
)
