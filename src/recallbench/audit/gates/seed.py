"""PYTHONHASHSEED was set to the protocol's value, and the result says so."""

from recallbench.audit.gate import Evidence, Finding, Gate, passed_if


def check(evidence: Evidence) -> Finding:
    seed = evidence.metrics.seed
    return passed_if(seed == evidence.rules.seed, f"seed {seed}")


GATE = Gate("seed recorded", check, "RB-SEED")
