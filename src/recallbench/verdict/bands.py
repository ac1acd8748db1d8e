"""The protocol's run-to-run bands, which judge repeats of one configuration and nothing else."""

from __future__ import annotations

from recallbench.protocol.rules import CorpusRules

ONE_RUN = "not applicable: bands compare repeats of one version, embedder, store and settings; this is a single run"
UNREGISTERED = "not applicable: the protocol has no band for this corpus"


def band(corpus: CorpusRules, protocol_name: str) -> tuple[float | None, str]:
    """The width of the band for a protocol metric, and what it says of a single result."""
    width = corpus.bands.get(protocol_name)
    return width, UNREGISTERED if width is None else ONE_RUN
