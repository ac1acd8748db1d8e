"""The rules a result was made under."""

from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding, passed_if
from recallbench.audit.subject import AuditSubject
from recallbench.protocol.rules import applied


def protocol(subject: AuditSubject) -> Finding:
    rules, stated = subject.rules, subject.metrics.protocol
    expected = {
        "version": rules.version,
        "cited_as": rules.cited_as,
        "sha256": rules.sha256,
        "published_sha256": rules.published_sha256,
    }
    wrong = [
        f"{name} {getattr(stated, name)}, frozen {value}"
        for name, value in expected.items()
        if getattr(stated, name) != value
    ]
    return pass_unless(wrong, f"{stated.version}, sha256 {stated.sha256}")


def clarifications(subject: AuditSubject) -> Finding:
    stated, rules = subject.metrics.protocol.clarifications_sha256, subject.rules
    return passed_if(stated in (rules.clarifications_sha256, *rules.earlier_clarifications), f"sha256 {stated}")


def applied_clarifications(subject: AuditSubject) -> Finding:
    embedder = subject.metrics.embedder
    expected = applied(
        subject.rules,
        subject.corpus,
        subject.dataset.corpus.clarifications,
        subject.metrics.store.name,
        embedder.name if embedder else None,
        packed=embedder is not None and embedder.pack is not None,
    )
    stated = subject.metrics.protocol.clarifications
    if subject.metrics.protocol.clarifications_sha256 != subject.rules.clarifications_sha256:
        # An earlier result can't have applied clarifications that were added since.
        expected = tuple(number for number in expected if number <= max(stated, default=0))
    return passed_if(stated == list(expected), f"{_row(stated)} stated, {_row(expected)} follow from corpus and store")


def _row(numbers: object) -> str:
    return ", ".join(map(str, numbers)) if isinstance(numbers, (list, tuple)) and numbers else "none"


PROTOCOL = Examination("RB-PROTOCOL", "protocol", "version, name and hashes of the frozen protocol", protocol)
CLARIFICATIONS = Examination(
    "RB-CLARIFICATIONS",
    "clarifications",
    "sha256 of the clarifications in force, or of an earlier release",
    clarifications,
)
APPLIED = Examination(
    "RB-APPLIED", "clarifications applied", "those that corpus, store and embedder call for", applied_clarifications
)
