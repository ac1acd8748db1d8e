"""The protocol's run-to-run bands, which judge repeats of one configuration and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.protocol.rules import CorpusRules

ONE_RUN = "not applicable: bands compare repeats of one version, embedder, store and settings; this is a single run"
UNREGISTERED = "not applicable: the protocol has no band for this corpus"
_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class BandCheck:
    """Whether repeats stayed inside the band of one metric."""

    width: float | None
    apart: float | None
    """The distance between the two that are furthest from each other."""
    inside: bool | None
    """None where no band judges these values."""
    description: str
    """The same in words."""


def band(corpus: CorpusRules, protocol_name: str) -> tuple[float | None, str]:
    """The width of the band for a protocol metric, and what it says of a single result."""
    width = corpus.bands.get(protocol_name)
    return width, UNREGISTERED if width is None else ONE_RUN


def check_band(corpus: CorpusRules, protocol_name: str, values: Sequence[float], unlike: str = "") -> BandCheck:
    """Whether repeats lie within the band: the band reaches to either side of a run, so of any two of them.

    `unlike` says why these are no repeats of what the band is for; empty where they are.
    """
    width, _ = band(corpus, protocol_name)
    apart = max(values) - min(values) if values else None
    if width is None:
        return BandCheck(None, apart, None, f"no band registered for {protocol_name} on {corpus.name}")
    if unlike or apart is None:
        return BandCheck(width, apart, None, f"not applicable: {unlike or 'nothing was measured'}")
    inside = apart <= width + _EXACT
    place = "inside" if inside else "outside"
    return BandCheck(width, apart, inside, f"{place} the band: runs lie {apart:.4f} apart, it allows {width}")
