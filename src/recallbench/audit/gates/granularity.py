"""The corpus was cut into sessions, not into turns."""

from recallbench.audit.gate import Finding, Gate, GateEvidence, passed_if


def check(evidence: GateEvidence) -> Finding:
    segments, rules = evidence.metrics.corpus.segments, evidence.corpus
    if not rules.forbidden_segments:
        return Finding("pass", f"{segments} segments; the protocol asks this of LoCoMo only")
    return passed_if(
        segments == rules.segments,
        f"{segments} segments; {rules.segments} are sessions, {rules.forbidden_segments} would be turns",
    )


GATE = Gate("corpus granularity", check, "RB-GRANULARITY")
