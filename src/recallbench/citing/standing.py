"""What forbids citing a result in a text, and what the text has to tell of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from recallbench.citing.citation import AuditedResult
from recallbench.citing.figure_grammar import CitedFigure, names_in
from recallbench.protocol.frozen import read_data
from recallbench.results.metrics import Metrics

AUTHORITY = "recall benchmark protocol"
_DISCLAIMED = re.compile(
    r"not canonical|none (?:of (?:them|these|those) )?is canonical|none of (?:them|these|those) is\b|never canonical",
    re.IGNORECASE,
)
"""A text that speaks of the protocol, and says that these are no results under it."""
_DISCLOSED = re.compile(rf"deviat|\bdeparts?\b|\bdepartures?\b|unverified|{_DISCLAIMED.pattern}", re.IGNORECASE)
_NO_DEVIATION = re.compile(
    r"\b(?:no|not|never|none|without|zero|0)(?:\s+(?:a|an|any|one|single|known|does|do|did|it)){0,3}"
    r"\s+(?:deviat\w*|depart\w*)|\b(?:deviat\w*|departs?) (?:from it )?in nothing",
    re.IGNORECASE,
)

Weight = Literal["forbidden", "undisclosed", "not known"]
"""The result may not be cited so; the text lacks something; what the folder is worth can't be told here."""


class Objection(NamedTuple):
    """One thing against a figure beside its value."""

    weight: Weight
    text: str


def objections(figure: CitedFigure, side: AuditedResult, text: str) -> Iterator[Objection]:
    """Yield all that stands against citing this result, or citing it in these words."""
    metrics, name = side.result.metrics, side.result.folder.name
    yield from _of_the_audit(side)
    if not side.audit.verdict.canonical and (deviations := "; ".join(side.audit.deviations)):
        under_its_name = AUTHORITY in figure.section.lower() and not _DISCLAIMED.search(figure.section)
        if under_its_name or AUTHORITY in figure.sentence.lower():
            yield Objection(
                "forbidden", f"{name} is not CANONICAL ({deviations}), but is cited under the protocol's name"
            )
        if not _DISCLOSED.search(_NO_DEVIATION.sub("", figure.section)):
            yield Objection(
                "undisclosed", f"{name} is not CANONICAL, and the text does not tell its deviations: {deviations}"
            )
    elif (version := metrics.protocol.version) not in text:
        yield Objection("undisclosed", f"the text names no version of the protocol; {name} is under {version}")
    known = read_data().frozen["substitution"]
    stands_in = metrics.corpus.name == known["corpus"] and metrics.embedder_name in known["stands_in"]
    if stands_in and known["paper_embedder"].split("/")[-1] not in text:
        yield Objection(
            "undisclosed", f"the text does not tell that {known['stands_in']} stands in for {known['paper_embedder']}"
        )
    for what, names in _has_to_name(metrics).items():
        if not names_in(figure.around, names):
            yield Objection("undisclosed", f"the text does not name the {what}: {names[0]}")


def _of_the_audit(side: AuditedResult) -> Iterator[Objection]:
    """Yield why the audit does not let the result be cited."""
    verdict, name = side.audit.verdict, side.result.folder.name
    if verdict.label == "VERIFIED":
        return
    checks = side.audit.checks
    failed = [check for check in checks if check.status == "fail"]
    unknown = [check for check in checks if check.status == "cannot-tell" and check.needed]
    pending = [check for check in checks if check.status == "pending"]
    hindering = failed or unknown or pending
    first = (
        f"{hindering[0].code} {hindering[0].name}: {hindering[0].observed}".strip() if hindering else "no check failed"
    )
    more = f"; also {', '.join(check.code or check.name for check in hindering[1:])}" if hindering[1:] else ""
    weight: Weight = "not known" if unknown and not failed else "undisclosed" if pending and not failed else "forbidden"
    yield Objection(weight, f"{name} is {verdict.text}, and only what is VERIFIED is cited ({first}{more})")


def _has_to_name(metrics: Metrics) -> dict[str, list[str]]:
    """Return what the protocol wants named in every citation beside its own version, each with the names it goes by."""
    corpus = metrics.corpus.name
    named = {"corpus": [corpus, corpus.partition("/")[2].partition("@")[0] or corpus]}
    if metrics.embedder:
        fingerprint = metrics.embedder.fingerprint
        repos = [fingerprint[key].partition("@")[0] for key in ("encoder", "passage", "query") if key in fingerprint]
        named["embedder"] = [metrics.embedder.name, *repos, *(repo.rpartition("/")[2] for repo in repos)]
    return named
