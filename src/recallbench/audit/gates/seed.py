"""PYTHONHASHSEED was set to the protocol's value, and the result says so."""

from recallbench.audit.gate import Finding, Gate, GateEvidence, passed_if


def check(evidence: GateEvidence) -> Finding:
    seed = evidence.metrics.seed
    return passed_if(seed == evidence.rules.seed, f"seed {seed}")


GATE = Gate("seed recorded", check, "RB-SEED")
