"""An age as people write it: 90d, 12w, 6m, 1y."""

from __future__ import annotations

import re
from datetime import timedelta

from recallbench.errors import UsageError

_AGE = re.compile(r"([1-9][0-9]{0,4})([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def parse_age(text: str) -> timedelta:
    """Return the age that --stale-after states; raises UsageError for any other text."""
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(
            f"--stale-after {text} is no age",
            expected="a number with d, w, m or y, as 90d",
            found=text,
            remedy="--stale-after 90d",
        )
    return timedelta(days=int(match[1]) * _DAYS[match[2]])
