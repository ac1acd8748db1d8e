"""Which of many cases of one kind are looked at in the short stage too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], each: int = 4) -> list[Any]:
    """All cases, of which the short stage takes the first of every `each`; the rest belongs to the long stage."""
    return [
        one if i % each == 0 else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.marked)
        for i, one in enumerate(cases)
    ]
