"""One thing that an audit looks at, and what it says when it can't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallbench.audit.gate import Check, Finding
from recallbench.errors import RecallBenchError

if TYPE_CHECKING:
    from recallbench.audit.case import Case


class CannotTell(Exception):
    """What is needed to decide is not here; the message says what."""


@dataclass(frozen=True, slots=True)
class Examination:
    """A check of the audit. Its code stays what it is; benchmarks/AUDIT.md explains each."""

    code: str
    name: str
    required: str
    look: Callable[[Case], Finding]
    needed: bool = True

    def check(self, case: Case) -> Check:
        """Decide it. A refusal on the way is a failed check, and so is a crash."""
        try:
            finding = self.look(case)
        except CannotTell as reason:
            finding = Finding("cannot-tell", str(reason))
        except RecallBenchError as error:
            finding = Finding("fail", told(error))
        except Exception as error:  # noqa: BLE001 - whatever a hostile folder makes of a check, it has not passed it
            finding = Finding("fail", f"the check broke down: {type(error).__name__}: {error}".replace("\n", " ")[:300])
        return Check(self.name, finding.status, self.required, finding.observed, finding.awaits, self.code, self.needed)


def told(error: RecallBenchError) -> str:
    """A refusal in one line."""
    parts = [error.problem, *([f"expected {error.expected}"] if error.expected else []), error.found]
    return "; ".join(" ".join(part.split()) for part in parts if part)


SHOWN = 5


def listed(found: list[str], nothing: str) -> Finding:
    """Fail with the first few of what was found, or pass with what is said when nothing was."""
    if not found:
        return Finding("pass", nothing)
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return Finding("fail", "; ".join(found[:SHOWN]) + more)
