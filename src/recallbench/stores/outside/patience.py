"""The time limit of one call of a memory outside this project."""

from __future__ import annotations

import math
from collections.abc import Mapping

from recallbench.errors import UsageError

VARIABLE = "RECALLBENCH_STORE_TIMEOUT"
PATIENCE = 60.0
"""Seconds: long for any search, short for someone who waits for a memory that hangs."""


def patience_of(environ: Mapping[str, str]) -> float:
    """The seconds that the environment allows for one call."""
    text = environ.get(VARIABLE)
    if not text:
        return PATIENCE
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 86_400:
        raise UsageError(f"{VARIABLE} can't be read", expected="seconds, from above 0 to 86400", found=text)
    return seconds
