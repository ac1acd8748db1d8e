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
    """The outcome of a gate; `awaits` is the word for what a pending one waits for."""

    status: Status
    observed: str
    awaits: str = ""
    remedy: str = ""
    """What gets whatever the check lacks to tell, best as a command."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A requirement, by the name the protocol gives it."""

    name: str
    check: Callable[[GateEvidence], Finding]
    code: str
    required: str = ""
    """Its requirement, where the protocol has no words for it; those of the protocol's own gates are frozen data."""


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
    """Whether a result can't be VERIFIED where the check can't tell."""
    remedy: str = ""
    """The same as of the finding: the end of `observed`."""


def passed_if(holds: bool, observed: str) -> Finding:
    """Pass or fail, with what was observed."""
    return Finding("pass" if holds else "fail", observed)
