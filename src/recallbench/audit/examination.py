"""A check of the audit, and the exception of one that can't tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallbench.audit.gate import Check, Finding
from recallbench.errors import RecallBenchError

if TYPE_CHECKING:
    from recallbench.audit.subject import AuditSubject

NO_DATASET = "the dataset is not at hand: see RB-DATASET"
"""What a check says that needs the dataset, where RB-DATASET says why it is not there."""


class CannotTell(Exception):
    """Raised when something that a check needs is not here; the message names it, and the remedy behind a colon."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Examination:
    """A check of the audit. Its code never changes; `explained.toml` explains each."""

    code: str
    name: str
    required: str
    look: Callable[[AuditSubject], Finding]
    needed: bool = True

    def check(self, subject: AuditSubject) -> Check:
        """Return the outcome. An error on the way is a failed check, and so is a crash."""
        try:
            finding = self.look(subject)
        except CannotTell as reason:
            finding = Finding("cannot-tell", str(reason), remedy=reason.remedy)
        except RecallBenchError as error:
            finding = Finding("fail", one_line(error))
        except Exception as error:  # noqa: BLE001 - a check that a hostile folder breaks has not passed
            finding = Finding("fail", f"the check broke down: {type(error).__name__}: {error}".replace("\n", " ")[:300])
        return Check(
            self.name,
            finding.status,
            self.required,
            finding.observed,
            finding.awaits,
            self.code,
            self.needed,
            finding.remedy,
        )


def one_line(error: RecallBenchError) -> str:
    """Return an error in one line."""
    parts = [error.problem, *([f"expected {error.expected}"] if error.expected else []), error.found]
    return "; ".join(" ".join(part.split()) for part in parts if part)


SHOWN = 5


def pass_unless(faults: list[str], text: str) -> Finding:
    """Fail with the first faults or, without any, pass with the text."""
    if not faults:
        return Finding("pass", text)
    more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    return Finding("fail", "; ".join(faults[:SHOWN]) + more)
