"""The verdict that follows from checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recallbench.audit.gate import Check, GateEvidence
from recallbench.audit.gates import GATES
from recallbench.protocol.rules import CorpusRules, Rules
from recallbench.results.metrics import GatePart, Metrics, VerdictPart

Label = Literal["UNVERIFIED", "VERIFIED", "BLOCKED"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The label of a result. CANONICAL is VERIFIED without any deviation; only that is cited."""

    label: Label
    pending: tuple[str, ...]
    failed: tuple[str, ...]
    canonical: bool

    @property
    def text(self) -> str:
        """The label, with the pending gates where nothing failed."""
        if self.label == "UNVERIFIED" and self.pending and not self.failed:
            return f"UNVERIFIED (pending: {', '.join(self.pending)})"
        return self.label


def check_gates(evidence: GateEvidence) -> tuple[Check, ...]:
    """Check every gate, in the protocol's order."""
    required = dict(evidence.rules.gates)
    checks = []
    for gate in GATES:
        finding = gate.check(evidence)
        requirement = required.get(gate.name, gate.required)
        checks.append(Check(gate.name, finding.status, requirement, finding.observed, finding.awaits, gate.code))
    return tuple(checks)


def decide(checks: Sequence[Check], deviations: Sequence[object]) -> Verdict:
    """Return VERIFIED when every check passed: neither pending, nor unable to tell where that is needed."""
    failed = tuple(
        check.name for check in checks if check.status == "fail" or (check.status == "cannot-tell" and check.needed)
    )
    pending = tuple(check.awaits or check.name for check in checks if check.status == "pending")
    if any(check.name == "BLOCKED absent" and check.status == "fail" for check in checks):
        return Verdict("BLOCKED", pending, failed, canonical=False)
    verified = not failed and not pending
    return Verdict("VERIFIED" if verified else "UNVERIFIED", pending, failed, verified and not deviations)


def with_verdict(metrics: Metrics, rules: Rules, corpus: CorpusRules, folder: Path | None) -> Metrics:
    """Return the metrics with the gates checked, and the verdict that follows."""
    checks = check_gates(GateEvidence(metrics, rules, corpus, folder))
    verdict = decide(checks, metrics.deviations)
    return metrics.model_copy(
        update={
            "gates": [GatePart(name=c.name, status=c.status, required=c.required, observed=c.observed) for c in checks],
            "verdict": VerdictPart(
                label=verdict.label, text=verdict.text, pending=list(verdict.pending), canonical=verdict.canonical
            ),
        }
    )
