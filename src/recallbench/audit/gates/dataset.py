"""The corpus file is the registered one."""

from recallbench.audit.gate import Finding, Gate, GateEvidence, passed_if


def check(evidence: GateEvidence) -> Finding:
    stated, registered = evidence.metrics.dataset_sha256, evidence.corpus.sha256
    if evidence.metrics.corpus.sha256 != stated:
        return Finding("fail", f"dataset_sha256 {stated} and corpus.sha256 {evidence.metrics.corpus.sha256} disagree")
    if evidence.corpus.name not in evidence.rules.corpora and not evidence.corpus.questions:
        return passed_if(
            stated == registered, f"sha256 {stated}; nothing is registered of this set, its name has the hash"
        )
    return passed_if(
        stated == registered, f"sha256 {stated}" + ("" if stated == registered else f", pinned {registered}")
    )


GATE = Gate("dataset integrity", check, "RB-DATASET-PINNED")
