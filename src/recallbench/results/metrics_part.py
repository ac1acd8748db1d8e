"""The base of every part of `metrics.json`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class MetricsPart(BaseModel):
    """A part of metrics.json: what stands in it was declared, can't change, and is no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
