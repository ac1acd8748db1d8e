"""No BLOCKED.md lies in the folder."""

from recallbench.audit.gate import Finding, Gate, GateEvidence, passed_if
from recallbench.results.folder import BLOCKED


def check(evidence: GateEvidence) -> Finding:
    if evidence.folder is None:
        return Finding("pass", "the run was completed")
    present = (evidence.folder / BLOCKED).exists()
    return passed_if(not present, f"{BLOCKED} is {'there' if present else 'not there'}")


GATE = Gate("BLOCKED absent", check, "RB-BLOCKED")
