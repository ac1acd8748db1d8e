"""The figures of the protocol's own metrics, as citations and attestations state them."""

from __future__ import annotations

from typing import Any

from recallbench.results.metrics import Metrics


def headline_figures(metrics: Metrics) -> list[dict[str, Any]]:
    """Return each metric of the headline by the protocol's name and its own, with value, interval and n."""
    return [
        {
            "protocol_name": headline.protocol_name,
            "measure": headline.estimate.measure,
            "value": headline.estimate.value,
            "low": headline.estimate.low,
            "high": headline.estimate.high,
            "n": headline.estimate.n,
        }
        for headline in metrics.headline
    ]
