"""All evidence resolves to a segment, so that an oracle could answer everything."""

from recallbench.audit.gate import Finding, Gate, GateEvidence, passed_if


def check(evidence: GateEvidence) -> Finding:
    corpus = evidence.metrics.corpus
    reached = corpus.with_evidence - corpus.unresolved_evidence
    return passed_if(
        corpus.unresolved_evidence == 0 and corpus.with_evidence > 0,
        f"{reached} of {corpus.with_evidence} questions with evidence reach a segment",
    )


GATE = Gate("oracle coverage", check, "RB-COVERAGE")
