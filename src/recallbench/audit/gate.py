"""A gate: one requirement of the protocol, decided from what a result states and from the folder it lies in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results.metrics import Metrics

Status = Literal["pass", "fail", "pending", "cannot-tell"]


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """The evidence that gates decide from. `folder` is None while the run that makes the result is still writing it."""

    metrics: Metrics
    rules: Rules
    corpus: CorpusRules
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one gate saw; `awaits` is the one word for what a pending gate waits for."""

    status: Status
    observed: str
    awaits: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A requirement, by the name the protocol gives it."""

    name: str
    check: Callable[[GateEvidence], Finding]
    code: str
    required: str = ""
    """What it asks, where the protocol does not say it: the words of the protocol's own gates are frozen data."""


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement beside what was observed."""

    name: str
    status: Status
    required: str
    observed: str
    awaits: str = ""
    code: str = ""
    """Stable, as the documents explain it: `RB-…`."""
    needed: bool = True
    """A result can't be VERIFIED where this can't be told."""


def passed_if(holds: bool, observed: str) -> Finding:
    """Pass or fail, with what was seen."""
    return Finding("pass" if holds else "fail", observed)
