"""What has to be said of an encoder that is not a registered one, or that was used otherwise than as registered."""

from __future__ import annotations

from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.fingerprint import PINNED
from recallbench.results.metrics import Metrics


def encoder_words(metrics: Metrics) -> str:
    """Return an encoder's name, and its length where that is not the registered one."""
    name = metrics.embedder_name
    read = metrics.embedder.fingerprint.get("max_tokens") if metrics.embedder else None
    registered = ENCODERS.get(name)
    return name if registered is None or read in (None, str(registered.max_tokens)) else f"{name} at {read} tokens"


def encoder_remarks(metrics: Metrics) -> list[str]:
    """Return sentences on what nobody can know or get again of the encoder; none for a registered one."""
    embedder = metrics.embedder
    if embedder is None:
        return []
    remarks = [] if metrics.exposure else ["How much of a text the encoder reads is not known."]
    pinned, _, reason = embedder.fingerprint.get(PINNED, "").partition(": ")
    if pinned == "no":
        remarks.append(f"The encoder is pinned to no public revision: it is {reason}.")
    return remarks
