"""Every figure of metrics.json, against the one that the rankings give."""

from collections.abc import Mapping, Sequence
from typing import Any

from recallbench.audit.case import Case
from recallbench.audit.difference import differing, keys
from recallbench.audit.examination import Examination, listed
from recallbench.audit.gate import Finding
from recallbench.results.metrics import EstimatePart

_Rows = Mapping[str, Sequence[EstimatePart]]


def values(case: Case) -> Finding:
    return _estimates(case.metrics.estimates, case.derived.estimates, ("measure", "value", "n"))


def intervals(case: Case) -> Finding:
    fields = ("measure", "low", "high", "method", "design_effect")
    return _estimates(case.metrics.estimates, case.derived.estimates, fields)


def chance(case: Case) -> Finding:
    fields = ("measure", "chance", "ceiling", "saturated", "ordered")
    return _estimates(case.metrics.estimates, case.derived.estimates, fields)


def control(case: Case) -> Finding:
    return _same("control_bm25", case.metrics.control_bm25, case.derived.control_bm25)


def headline(case: Case) -> Finding:
    return _same("headline", case.metrics.headline, case.derived.headline)


def denominators(case: Case) -> Finding:
    return _same("denominators", case.metrics.denominators, case.derived.denominators)


def abstention(case: Case) -> Finding:
    return _same("abstention", case.metrics.abstention, case.derived.abstention)


def retrieval(case: Case) -> Finding:
    return _same("retrieval", case.metrics.retrieval, case.derived.retrieval)


def labelled(case: Case) -> Finding:
    made, derived = case.metrics, case.derived
    found = [
        one
        for name in ("tenants", "worst", "labels", "hub", "matching")
        for one in differing(getattr(made, name), getattr(derived, name), name)
    ]
    return listed(found, "worked out again, all equal" if derived.labels else "a registered corpus has none")


def abilities(case: Case) -> Finding:
    return _same("abilities", case.metrics.abilities, case.derived.abilities)


def _estimates(stated: _Rows, derived: _Rows, fields: Sequence[str]) -> Finding:
    def reduced(rows: _Rows) -> dict[str, list[dict[str, Any]]]:
        return {name: keys(row, fields) for name, row in rows.items()}

    count = sum(map(len, derived.values()))
    return listed(list(differing(reduced(stated), reduced(derived), "estimates")), f"{count} scored again, all equal")


def _same(name: str, stated: Any, derived: Any) -> Finding:
    return listed(list(differing(stated, derived, name)), "worked out again, all equal")


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
    "RB-RETRIEVAL", "retrieval", "questions asked, calls, shortfall and agreement as kept", retrieval
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
