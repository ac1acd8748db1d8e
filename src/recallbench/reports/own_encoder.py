"""What has to be said of an encoder that is not a registered one, or that was used otherwise than as registered."""

from __future__ import annotations

from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.fingerprint import PINNED
from recallbench.results.metrics import Metrics, PackPart


def encoder_words(metrics: Metrics) -> str:
    """Return an encoder's name, and its length where that is not the registered one."""
    fingerprint = metrics.embedder.fingerprint if metrics.embedder else {}
    return encoder_at(metrics.embedder_name, fingerprint.get("max_tokens"))


def encoder_at(name: str, tokens: int | str | None) -> str:
    """Return an encoder's name, and how many tokens it reads where those are not the registered ones."""
    registered = ENCODERS.get(name)
    as_registered = registered is None or tokens is None or str(tokens) == str(registered.max_tokens)
    return name if as_registered else f"{name} at {tokens} tokens"


def encoder_remarks(metrics: Metrics) -> list[str]:
    """Return sentences on what nobody can know or get again of the encoder; none for a registered one."""
    embedder = metrics.embedder
    if embedder is None:
        return []
    remarks = [] if metrics.exposure else ["How much of a text the encoder reads is not known."]
    pinned, _, reason = embedder.fingerprint.get(PINNED, "").partition(": ")
    if pinned == "no":
        remarks.append(f"The encoder is pinned to no public revision: it is {reason}.")
    if embedder.pack is not None:
        remarks.append(f"The vectors are those of {pack_sentence(embedder.pack)}.")
    return remarks


def pack_sentence(pack: PackPart, hashes: int | None = None) -> str:
    """Return what has to be said of vectors that somebody else may have made, with so many digits of hashes."""
    sha256, key = (text if hashes is None else f"{text[:hashes]}…" for text in (pack.sha256, pack.key))
    made = f"a pack that {pack.maker} made on {pack.made} ({pack.machine}), sha256 {sha256}"
    signed = f", signed with the key {key}" if pack.key else ""
    if not pack.compared_by:
        return f"{made}{signed}; nobody is known to have compared them with the encoder's"
    return f"{made}{signed}; {pack.compared_by} compared {pack.compared} with the encoder's"
