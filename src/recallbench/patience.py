"""The time limit of one call of something outside this project."""

from __future__ import annotations

import math
from collections.abc import Mapping

from recallbench.addresses import STORE, Part
from recallbench.errors import UsageError

PATIENCE = 60.0
"""Seconds: long for any search, short for someone who waits for a memory that hangs."""


def patience_of(environ: Mapping[str, str], part: Part = STORE) -> float:
    """The seconds that the environment allows for one call."""
    text = environ.get(part.patience)
    if not text:
        return PATIENCE
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 86_400:
        raise UsageError(f"{part.patience} can't be read", expected="seconds, from above 0 to 86400", found=text)
    return seconds
