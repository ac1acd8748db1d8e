"""A forecast in words."""

from __future__ import annotations

from typing import Any

from recallbench.runs.forecast.forecast import MB, Forecast

UNITS = ((5400.0, 3600.0, "h"), (90.0, 60.0, "min"), (0.0, 1.0, "s"))
"""From how many seconds on a unit is used, and what it has of them."""


def forecast_words(told: Forecast) -> str:
    """Return wall time, memory and disk of a run: `about 12 min (10 to 15), 900 MB of memory, 40 MB of disk`."""
    _, unit, name = next(each for each in UNITS if told.seconds >= each[0])
    low, most, high = (_number(seconds / unit) for seconds in (told.low, told.seconds, told.high))
    words = f"about {most} {name} ({low} to {high}), {size(told.memory)} of memory, {size(told.disk)} of disk"
    if told.unknown:
        return f"{words}, all without embedding: {told.unknown}"
    part, seconds = max(told.parts, key=lambda each: each[1])
    return f"{words}; {seconds / told.seconds:.0%} of it {part}"


def size(count: float) -> str:
    """Return bytes as people say them: two digits, in MB or GB."""
    unit, name = (1000 * MB, "GB") if count >= 1000 * MB else (MB, "MB")
    return f"{_number(count / unit)} {name}"


def _number(value: float) -> str:
    if value < 10:
        return f"{value:.1f}"
    digits = 10 if value >= 100 else 1
    return f"{round(value / digits) * digits:,}"


def forecast_document(told: Forecast) -> dict[str, Any]:
    """Return it for programs."""
    return {
        "seconds": round(told.seconds, 1),
        "low": round(told.low, 1),
        "high": round(told.high, 1),
        "memory_bytes": round(told.memory),
        "disk_bytes": round(told.disk),
        "parts": {name: round(seconds, 1) for name, seconds in told.parts},
        "unknown": told.unknown,
    }
