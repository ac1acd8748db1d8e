"""Every figure of metrics.json, against the one that the rankings give."""

from collections.abc import Mapping, Sequence
from typing import Any

from recallbench.audit.difference import differing, keys
from recallbench.audit.examination import Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.results.metrics import EstimatePart

_ALIKE = "worked out again, all equal"
_Rows = Mapping[str, Sequence[EstimatePart]]


def values(subject: AuditSubject) -> Finding:
    return _estimates(subject.metrics.estimates, subject.derived.estimates, ("measure", "value", "n"))


def intervals(subject: AuditSubject) -> Finding:
    fields = ("measure", "low", "high", "method", "design_effect")
    return _estimates(subject.metrics.estimates, subject.derived.estimates, fields)


def chance(subject: AuditSubject) -> Finding:
    fields = ("measure", "chance", "ceiling", "saturated", "ordered")
    return _estimates(subject.metrics.estimates, subject.derived.estimates, fields)


def control(subject: AuditSubject) -> Finding:
    return _same_figures("control_bm25", subject.metrics.control_bm25, subject.derived.control_bm25)


def headline(subject: AuditSubject) -> Finding:
    return _same_figures("headline", subject.metrics.headline, subject.derived.headline)


def denominators(subject: AuditSubject) -> Finding:
    return _same_figures("denominators", subject.metrics.denominators, subject.derived.denominators)


def abstention(subject: AuditSubject) -> Finding:
    return _same_figures("abstention", subject.metrics.abstention, subject.derived.abstention)


def retrieval(subject: AuditSubject) -> Finding:
    stated, derived = subject.metrics, subject.derived
    problems = [
        difference
        for name in ("retrieval", "coverage", "time", "later")
        for difference in differing(getattr(stated, name), getattr(derived, name), name)
    ]
    return pass_unless(problems, _ALIKE)


def labelled(subject: AuditSubject) -> Finding:
    stated, derived = subject.metrics, subject.derived
    problems = [
        difference
        for name in ("tenants", "worst", "labels", "hub", "canary", "matching")
        for difference in differing(getattr(stated, name), getattr(derived, name), name)
    ]
    return pass_unless(problems, _ALIKE if derived.labels else "a registered corpus has none")


def abilities(subject: AuditSubject) -> Finding:
    return _same_figures("abilities", subject.metrics.abilities, subject.derived.abilities)


def _estimates(stated: _Rows, derived: _Rows, fields: Sequence[str]) -> Finding:
    def reduced(rows: _Rows) -> dict[str, list[dict[str, Any]]]:
        return {name: keys(row, fields) for name, row in rows.items()}

    count = sum(map(len, derived.values()))
    return pass_unless(
        list(differing(reduced(stated), reduced(derived), "estimates")), f"{count} scored again, all equal"
    )


def _same_figures(name: str, stated: Any, derived: Any) -> Finding:
    return pass_unless(list(differing(stated, derived, name)), _ALIKE)


VALUES = Examination("RB-VALUES", "values", "every measure overall and by kind, with its n, as re-scored", values)
INTERVALS = Examination("RB-INTERVALS", "intervals", "every interval and design effect as worked out again", intervals)
CHANCE = Examination("RB-CHANCE", "chance", "chance, ceiling and saturation as the counts give them", chance)
CONTROL = Examination("RB-CONTROL-FIGURES", "control figures", "BM25's figures as its kept run gives them", control)
HEADLINE = Examination("RB-HEADLINE", "headline", "the protocol's two figures, from the same rankings", headline)
DENOMINATORS = Examination(
    "RB-DENOMINATORS", "denominators", "every named denominator's count and figures", denominators
)
ABSTENTION = Examination(
    "RB-ABSTENTION", "abstention", "threshold, false retrieval and AUROC from the scores", abstention
)
RETRIEVAL = Examination(
    "RB-RETRIEVAL", "retrieval", "questions asked, calls, shortfall, agreement and coverage as kept", retrieval
)
ABILITIES = Examination(
    "RB-ABILITIES", "abilities", "every measure by ability, where the corpus has any, from the same rankings", abilities
)
LABELLED = Examination(
    "RB-LABELLED",
    "labelled set",
    "figures by tenant, worst questions, labels' age, matching and files as derived",
    labelled,
)
