"""The base of every part of `metrics.json`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class MetricsPart(BaseModel):
    """A part of metrics.json: what stands in it was declared, can't change, and is no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def left_out(description: str) -> Any:
    """Declare a field that is None, and then not written, where a result has no such thing."""
    return Field(default=None, exclude_if=lambda value: value is None, description=description)
