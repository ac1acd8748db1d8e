"""Whether a console speaks of the protocol's labels, where nobody asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recallbench.protocol.frozen import load
from recallbench.stores.registry import find_store

MATTERING = frozenset({"dataset", "scope", "time", "limit", "failures", "reproduction"})
"""The deviations that decide what a figure means, whoever reads it. The others only say what was chosen to measure."""


class Kept(Protocol):
    """A deviation, of a run or of a result that was read."""

    @property
    def kind(self) -> str: ...
    @property
    def detail(self) -> str: ...


def of_protocol(corpus: str, store: str) -> bool:
    """Whether a run is one that the protocol speaks of: its own store on a corpus of its own."""
    rules = load()
    return corpus in rules.corpora and store == rules.canonical_store


def may_be_labelled(corpus: str, store: str) -> bool:
    """Whether somebody may look for a label of the result: of a store that comes with this, on the protocol's corpora.

    A result on one's own data or the canary, or of one's own memory, is nobody's claim under the protocol.
    """
    kind = find_store(store)
    return corpus in load().corpora and kind is not None and not kind.outside


def mattering(deviations: Sequence[Kept]) -> list[str]:
    """Return what anybody has to know who reads the figures, in words without the protocol's names."""
    return [deviation.detail for deviation in deviations if deviation.kind in MATTERING]


def notes(deviations: Sequence[Kept]) -> list[str]:
    """Return the same as sentences of a report."""
    return [f"Note: {detail}." for detail in mattering(deviations)]
