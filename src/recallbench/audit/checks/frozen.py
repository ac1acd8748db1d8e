"""The rules a result was made under."""

from recallbench.audit.case import Case
from recallbench.audit.examination import Examination, listed
from recallbench.audit.gate import Finding, passed_if
from recallbench.protocol.rules import applied


def protocol(case: Case) -> Finding:
    rules, stated = case.rules, case.metrics.protocol
    wanted = {
        "version": rules.version,
        "cited_as": rules.cited_as,
        "sha256": rules.sha256,
        "published_sha256": rules.published_sha256,
    }
    wrong = [
        f"{name} {getattr(stated, name)}, frozen {value}"
        for name, value in wanted.items()
        if getattr(stated, name) != value
    ]
    return listed(wrong, f"{stated.version}, sha256 {stated.sha256}")


def clarifications(case: Case) -> Finding:
    stated, rules = case.metrics.protocol.clarifications_sha256, case.rules
    return passed_if(stated in (rules.clarifications_sha256, *rules.earlier_clarifications), f"sha256 {stated}")


def applied_clarifications(case: Case) -> Finding:
    embedder = case.metrics.embedder.name if case.metrics.embedder else None
    expected = applied(case.rules, case.corpus, case.dataset.corpus.clarifications, case.metrics.store.name, embedder)
    stated = case.metrics.protocol.clarifications
    if case.metrics.protocol.clarifications_sha256 != case.rules.clarifications_sha256:
        # A result made before the last ones were added can't have applied these.
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
