"""The settings of a session of the reference store: those of its own, and those that its score reads."""

from __future__ import annotations

from recallbench.stores.pgvector.score_constants import CONSTANTS, ScoreConstants
from recallbench.stores.pgvector.weights import PARTS, Weights

# Exact order and one plan for every question, whatever the server's own settings are.
SESSION = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "synchronous_commit": "off",
    "client_min_messages": "warning",
    "client_encoding": "UTF8",
    "extra_float_digits": "1",
    "TimeZone": "UTC",
}


def score_settings(weights: Weights, constants: ScoreConstants = CONSTANTS) -> dict[str, str]:
    """The settings that the score reads."""
    factors = {f"weight_{part}": repr(getattr(weights, part)) for part in PARTS}
    return {f"recallbench.{name}": value for name, value in (factors | constants.settings).items()}
