"""Whether a console speaks of the protocol's labels, where nobody asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recallbench.protocol.frozen import load
from recallbench.stores.registry import REFERENCE_STORE

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
    """Whether somebody may look for a label of the result: of the protocol's store, or of the one in its place.

    A result on one's own data or the canary, of one's own memory, or of what that is held against (`bm25`, `exact`) is
    nobody's claim under the protocol.
    """
    rules = load()
    return corpus in rules.corpora and store in (rules.canonical_store, REFERENCE_STORE)


def mattering(deviations: Sequence[Kept]) -> list[str]:
    """Return what anybody has to know who reads the figures, in words without the protocol's names."""
    return [deviation.detail for deviation in deviations if deviation.kind in MATTERING]


def notes(deviations: Sequence[Kept]) -> list[str]:
    """Return the same as sentences of a report."""
    return [f"Note: {detail}." for detail in mattering(deviations)]
