"""The sample of many cases of one kind that the short stage runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], each: int = 4) -> list[Any]:
    """All cases, of which the short stage takes the first of every `each`; the rest belongs to the long stage."""
    return [
        case
        if i % each == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.marked)
        for i, case in enumerate(cases)
    ]
