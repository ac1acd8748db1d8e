"""Checks on the published numbers of a foreign folder, and on their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from recallbench.audit.gate import Check, Status
from recallbench.corpora.registry import CORPORA
from recallbench.foreign.case import CODES, ForeignCase, abridge, check
from recallbench.foreign.definitions import NO_RANKING, Origin, trace
from recallbench.foreign.layouts.layout import Claim
from recallbench.foreign.names import label_key, meaning_of
from recallbench.foreign.universes import (
    DEPTHS,
    Cell,
    Definition,
    Denominator,
    View,
    bounds,
    cells,
    definitions,
    printed_decimals,
)
from recallbench.scoring.judgement import Bools, Floats


@dataclass(frozen=True, slots=True)
class TracedClaim(Check):
    """A published number, and the definition that gives it."""

    claim: Claim = field(kw_only=True)
    cause: str = field(kw_only=True)
    """The kind of finding, in words that many numbers can share."""
    equals: str = field(kw_only=True)
    """The definition it follows and the protocol's figure, as far as either is known."""


@dataclass(frozen=True, slots=True)
class _Reproduced:
    """A claim whose number the protocol's definition gives."""

    claim: Claim
    view: View
    definition: Definition
    questions: Bools
    """(Q,): the questions it is over."""

    def values(self) -> Floats | None:
        """Return the value of each question, where the rows determine it for at least two."""
        low, high = bounds(self.definition, self.view)
        counted = self.questions & (self.view.judged.gold > 0)
        values: Floats = low[counted]
        return None if len(values) < 2 or float((high - low)[counted].max(initial=0.0)) > 1e-9 else values


def check_claims(case: ForeignCase) -> Iterator[Check]:
    """Trace each published number to its definition, then check the intervals."""
    published = (*case.imported.claims, *case.comparison.alone)
    if all(claim.quoted for claim in published):
        yield check("RB-F-CLAIM", "published numbers", "cannot-tell", "nothing is claimed of this run")
    digits = max((_decimals(claim) for claim in published if _decimals(claim) <= 6), default=4)
    table: list[Cell] = []
    if case.imported.questions:
        depths = {*DEPTHS, *(k for claim in published if (k := meaning_of(claim.name).k) and k <= 100)}
        table = cells(case.rescored.views, definitions(depths), case.rescored.denominators)
    reproduced: list[_Reproduced] = []
    for claim in published:
        if claim.quoted:
            other = "told of another run"
            yield _traced(claim, "cannot-tell", f"{claim.value} is {other}", other, needed=False)
        elif not case.imported.questions:
            yield _traced(claim, "cannot-tell", f"{claim.value}: not one ranking was kept", NO_RANKING)
        else:
            traced, reproduction = _trace(case, claim, table, digits)
            reproduced += [reproduction] if reproduction is not None else []
            yield traced
    if with_interval := [claim for claim in published if _has_interval(claim)]:
        yield _check_intervals(case, with_interval, reproduced, digits)


def _trace(case: ForeignCase, claim: Claim, table: list[Cell], digits: int) -> tuple[TracedClaim, _Reproduced | None]:
    """Return the definition of a number, and its reproduction if the protocol gives it."""
    label, questions = "", np.ones(len(case.imported.questions), dtype=np.bool_)
    if claim.slice:
        label, questions, table = _slice(case, claim, digits)
    if not table:
        text = f"{claim.value}: which questions are {claim.slice} can't be told"
        return _traced(claim, "cannot-tell", text, "which questions it is of can't be told"), None
    origin = trace(
        claim.name,
        claim.value,
        table,
        case.rescored.own_view,
        max(digits, _decimals(claim)) if claim.decimals is None else claim.decimals,
        contradicted=case.rescored.scoping == "contradicted",
    )
    text = origin.text + (f" [{label}]" if label else "")
    traced = _traced(claim, origin.status, text, origin.cause, _equals(origin))
    if not origin.follows or not origin.follows[0].protocol:
        return traced, None
    first = origin.follows[0]
    view = next(view for view in case.rescored.views if view.name == first.scope)
    return traced, _Reproduced(claim, view, first.definition, questions)


def _has_interval(claim: Claim) -> bool:
    return not claim.quoted and (claim.low is not None or claim.high is not None)


def _decimals(claim: Claim) -> int:
    return printed_decimals(claim.value) if claim.decimals is None else claim.decimals


def _traced(
    claim: Claim, status: Status, observed: str, cause: str, equals: str = "", needed: bool = True
) -> TracedClaim:
    return TracedClaim(
        f"published {claim.name}" + (f", {claim.slice}" if claim.slice else ""),
        status,
        CODES["RB-F-CLAIM"],
        f"{observed} ({claim.where})",
        code="RB-F-CLAIM",
        needed=needed,
        claim=claim,
        cause=cause,
        equals=equals,
    )


def _equals(origin: Origin) -> str:
    followed = f"{origin.follows[0].definition} {origin.follows[0].low:.4f}" if origin.follows else origin.cause
    return "; ".join(part for part in (followed, origin.beside) if part)


def _slice(case: ForeignCase, claim: Claim, digits: int) -> tuple[str, Bools, list[Cell]]:
    """Return the part of the questions that a label means: by name, else by count and the figure itself."""
    slices = case.rescored.slices
    plain_name = label_key(claim.slice)
    by_name = [label for label in slices if label_key(label.partition(" ")[2]) == plain_name]
    by_count = [label for label, mask in slices.items() if claim.n is not None and int(mask.sum()) == claim.n]
    candidates = [label for label in by_name if claim.n is None or label in by_count] or by_count or by_name
    best: tuple[str, Bools, list[Cell]] | None = None
    for label in candidates:
        mask = slices[label]
        part = cells(
            case.rescored.views,
            definitions((*DEPTHS, meaning_of(claim.name).k or 1)),
            [Denominator(label, mask, protocol=True)],
        )
        source = trace(claim.name, claim.value, part, case.rescored.own_view, max(digits, _decimals(claim)))
        note = f"{claim.slice} is {label}{_kind_of(case, label)}"
        if best is None or source.follows:
            best = (note, mask, part)
        if source.follows:
            break
    return best or ("", np.zeros(len(case.imported.questions), dtype=np.bool_), [])


def _kind_of(case: ForeignCase, label: str) -> str:
    """Return the dataset's name of a category that rows give by number (clarification 3)."""
    number = label.removeprefix("category ")
    if label.startswith("category ") and number.isdigit() and int(number) in case.rules.locomo_kinds:
        return f", which the dataset calls {case.rules.locomo_kinds[int(number)]}"
    return ""


def _check_intervals(
    case: ForeignCase,
    published: Sequence[Claim],
    reproduced: Sequence[_Reproduced],
    digits: int,
) -> Check:
    """Check whether intervals are the mean and 1.96 standard errors, cut at 0 and 1."""
    form = "the normal one over questions taken as independent"
    outside = [_interval(claim) for claim in published if not _contains_value(claim)]
    if outside:
        return check("RB-F-INTERVAL", "intervals", "fail", f"without the number they belong to: {abridge(outside)}")
    values_of = {id(each.claim): each.values() for each in reproduced}
    tried, wrong, bare = 0, [], []
    for claim in published:
        values = values_of.get(id(claim))
        if values is None or claim.low is None or claim.high is None:
            bare.append(_interval(claim))
            continue
        tried += 1
        half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
        mean, slack = float(values.mean()), 1.5 * 10.0 ** -min(digits, max(3, printed_decimals(claim.low)))
        if abs(max(0.0, mean - half) - claim.low) > slack or abs(min(1.0, mean + half) - claim.high) > slack:
            wrong.append(_interval(claim))
    if case.corpus is not None and CORPORA[case.corpus.name].clustered and tried > len(wrong):
        text = f"{tried - len(wrong)} are {form}, which those of one haystack are not (clarification 10)"
        return check("RB-F-INTERVAL", "intervals", "fail", text)
    if wrong or bare:
        parts = [f"not {form}: {abridge(wrong)}"] if wrong else []
        parts += [f"the numbers they belong to are not reproduced: {abridge(bare)}"] if bare else []
        return check("RB-F-INTERVAL", "intervals", "cannot-tell", "; ".join(parts))
    return check("RB-F-INTERVAL", "intervals", "pass", f"{tried} are {form}")


def _interval(claim: Claim) -> str:
    return f"{claim.name}{' ' + claim.slice if claim.slice else ''} [{claim.low}, {claim.high}]"


def _contains_value(claim: Claim) -> bool:
    low, high = -math.inf if claim.low is None else claim.low, math.inf if claim.high is None else claim.high
    return low - 1e-4 <= claim.value <= high + 1e-4
