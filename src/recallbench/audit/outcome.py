"""An audit in five words, for whoever does not know the protocol's labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from recallbench.audit.decision import decide
from recallbench.audit.examination import NO_DATASET
from recallbench.audit.gate import Check
from recallbench.reports.conclusions.names import listed

Word = Literal["holds", "holds, not committed", "not checked", "does not hold", "blocked"]
WORDS: tuple[Word, ...] = ("holds", "holds, not committed", "not checked", "does not hold", "blocked")
"""From the best to the worst."""
DATASET = ("RB-DATASET", "RB-F-CORPUS")
"""The checks that say why the dataset is not there."""
GOLD = "gold"
"""What can't be checked without the dataset, and everything that goes with it."""


@dataclass(frozen=True, slots=True)
class AuditOutcome:
    """One of the five words, and which checks it is about."""

    word: Word
    what: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it as `not checked (gold)`."""
        return f"{self.word} ({listed(self.what)})" if self.what else self.word


def outcome(checks: Sequence[Check]) -> AuditOutcome:
    """Return the word for an audit with these checks.

    What a check contradicts does not hold, whatever else could not be checked; a folder that only waits for git to have
    its files holds.
    """
    if decide(checks, ()).label == "BLOCKED":
        return AuditOutcome("blocked")
    failed = tuple(dict.fromkeys(check.name for check in checks if check.status == "fail"))
    if failed:
        return AuditOutcome("does not hold", failed)
    if unchecked := not_checked(checks):
        return AuditOutcome("not checked", unchecked)
    return AuditOutcome("holds, not committed" if any(check.status == "pending" for check in checks) else "holds")


def not_checked(checks: Sequence[Check]) -> tuple[str, ...]:
    """Return what needed checks can't tell; without the dataset that is the gold, in a word."""
    return tuple(dict.fromkeys(_not_checked(checks)))


def _not_checked(checks: Sequence[Check]) -> Iterator[str]:
    for check in checks:
        if check.status == "cannot-tell" and check.needed:
            yield GOLD if check.code in DATASET or waits_for_dataset(check, checks) else check.name


def waits_for_dataset(check: Check, checks: Sequence[Check]) -> bool:
    """Whether a check could tell if it had the dataset, which another check misses, too."""
    missing = missing_dataset(checks)
    return missing is not None and check is not missing and check.observed in (missing.observed, NO_DATASET)


def missing_dataset(checks: Sequence[Check]) -> Check | None:
    """Return the check that says why the dataset is not there; None where it is."""
    return next((check for check in checks if check.code in DATASET and check.status == "cannot-tell"), None)
