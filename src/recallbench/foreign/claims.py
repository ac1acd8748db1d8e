"""Checks on the published numbers of a foreign folder, and on their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from recallbench.audit.gate import Check, Status
from recallbench.corpora.registry import CORPORA
from recallbench.foreign.case import CODES, ForeignCase, abridge, check
from recallbench.foreign.definitions import UNKEPT, Origin, trace
from recallbench.foreign.layouts.layout import Claim
from recallbench.foreign.names import meaning_of
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
    """What kind of finding it is, in words that many numbers can share."""
    equals: str = field(kw_only=True)
    """The definition it follows and the protocol's figure, as far as either is known."""


def check_claims(case: ForeignCase) -> Iterator[Check]:
    """One for each published number, one for their intervals, and one where there is none at all."""
    published = (*case.imported.claims, *case.comparison.alone)
    if all(claim.quoted for claim in published):
        yield check("RB-F-CLAIM", "published numbers", "cannot-tell", "nothing is claimed of this run")
    if not published:
        return
    asked = bool(case.imported.questions)
    digits = max((_decimals(claim) for claim in published if _decimals(claim) <= 6), default=4)
    depths = {*DEPTHS, *(k for claim in published if (k := meaning_of(claim.name).k) and k <= 100)}
    wanted = definitions(depths)
    table = cells(case.rescored.views, wanted, case.rescored.denominators) if asked else []
    reproduced: list[tuple[Claim, View, Definition, Bools]] = []
    for claim in published:
        name = f"published {claim.name}" + (f", {claim.slice}" if claim.slice else "")
        if claim.quoted:
            told = f"{claim.value} is told of another run"
            yield _traced(claim, name, "cannot-tell", told, "told of another run", needed=False)
        elif not asked:
            yield _traced(claim, name, "cannot-tell", f"{claim.value}: not one ranking was kept", UNKEPT)
        else:
            part, label, mask = table, "", np.ones(len(case.imported.questions), dtype=np.bool_)
            if claim.slice:
                label, mask, part = _slice(case, claim, digits)
            if not part:
                told = f"{claim.value}: which questions are {claim.slice} can't be told"
                yield _traced(claim, name, "cannot-tell", told, "which questions it is of can't be told")
                continue
            found = trace(
                claim.name,
                claim.value,
                part,
                case.rescored.own_view,
                max(digits, _decimals(claim)) if claim.decimals is None else claim.decimals,
                contradicted=case.rescored.scoping == "contradicted",
            )
            if found.follows and found.follows[0].protocol:
                first = found.follows[0]
                view = next(view for view in case.rescored.views if view.name == first.scope)
                reproduced.append((claim, view, first.definition, mask))
            told = found.text + (f" [{label}]" if label else "")
            yield _traced(claim, name, found.status, told, found.cause, _equals(found))
    if any(_bounded(claim) for claim in published):
        yield _intervals(case, [claim for claim in published if _bounded(claim)], reproduced, digits)


def _bounded(claim: Claim) -> bool:
    return not claim.quoted and (claim.low is not None or claim.high is not None)


def _decimals(claim: Claim) -> int:
    return printed_decimals(claim.value) if claim.decimals is None else claim.decimals


def _traced(
    claim: Claim, name: str, status: Status, observed: str, cause: str, equals: str = "", needed: bool = True
) -> TracedClaim:
    return TracedClaim(
        name,
        status,
        CODES["RB-F-CLAIM"],
        f"{observed} ({claim.where})",
        code="RB-F-CLAIM",
        needed=needed,
        claim=claim,
        cause=cause,
        equals=equals,
    )


def _equals(found: Origin) -> str:
    given = f"{found.follows[0].definition} {found.follows[0].low:.4f}" if found.follows else found.cause
    return "; ".join(part for part in (given, found.beside) if part)


def _slice(case: ForeignCase, claim: Claim, digits: int) -> tuple[str, Bools, list[Cell]]:
    """The part of the questions that a label means: by name, else by count, where only its figure can decide."""
    slices = case.rescored.slices
    wanted = _plain(claim.slice)
    by_name = [label for label in slices if _plain(label.partition(" ")[2]) == wanted]
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
        found = trace(claim.name, claim.value, part, case.rescored.own_view, max(digits, _decimals(claim)))
        note = f"{claim.slice} is {label}{_kind_of(case, label)}"
        if best is None or found.follows:
            best = (note, mask, part)
        if found.follows:
            break
    return best or ("", np.zeros(len(case.imported.questions), dtype=np.bool_), [])


def _kind_of(case: ForeignCase, label: str) -> str:
    """What the dataset calls a category that rows give by number (clarification 3)."""
    number = label.removeprefix("category ")
    if label.startswith("category ") and number.isdigit() and int(number) in case.rules.locomo_kinds:
        return f", which the dataset calls {case.rules.locomo_kinds[int(number)]}"
    return ""


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _intervals(
    case: ForeignCase,
    published: Sequence[Claim],
    reproduced: Sequence[tuple[Claim, View, Definition, Bools]],
    digits: int,
) -> Check:
    """Whether intervals are mean and 1.96 standard errors, cut at 0 and 1."""
    form = "the normal one over questions taken as independent"
    outside = [_interval(claim) for claim in published if not _holds_its_own(claim)]
    if outside:
        return check("RB-F-INTERVAL", "intervals", "fail", f"without the number they belong to: {abridge(outside)}")
    origins = {id(claim): (view, definition, mask) for claim, view, definition, mask in reproduced}
    tried, wrong, bare = 0, [], []
    for claim in published:
        values = _values(*origins[id(claim)]) if id(claim) in origins else None
        if values is None or claim.low is None or claim.high is None:
            bare.append(_interval(claim))
            continue
        tried += 1
        half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
        mean, slack = float(values.mean()), 1.5 * 10.0 ** -min(digits, max(3, printed_decimals(claim.low)))
        if abs(max(0.0, mean - half) - claim.low) > slack or abs(min(1.0, mean + half) - claim.high) > slack:
            wrong.append(_interval(claim))
    if case.corpus is not None and CORPORA[case.corpus.name].clustered and tried > len(wrong):
        told = f"{tried - len(wrong)} are {form}, which those of one haystack are not (clarification 10)"
        return check("RB-F-INTERVAL", "intervals", "fail", told)
    if wrong or bare:
        parts = [f"not {form}: {abridge(wrong)}"] if wrong else []
        parts += [f"the numbers they belong to are not reproduced: {abridge(bare)}"] if bare else []
        return check("RB-F-INTERVAL", "intervals", "cannot-tell", "; ".join(parts))
    return check("RB-F-INTERVAL", "intervals", "pass", f"{tried} are {form}")


def _values(view: View, definition: Definition, mask: Bools) -> Floats | None:
    """What each question counts, where the kept rows fix it for at least two."""
    low, high = bounds(definition, view)
    kept = mask & (view.judged.gold > 0)
    values: Floats = low[kept]
    return None if len(values) < 2 or float((high - low)[kept].max(initial=0.0)) > 1e-9 else values


def _interval(claim: Claim) -> str:
    return f"{claim.name}{' ' + claim.slice if claim.slice else ''} [{claim.low}, {claim.high}]"


def _holds_its_own(claim: Claim) -> bool:
    low, high = -math.inf if claim.low is None else claim.low, math.inf if claim.high is None else claim.high
    return low - 1e-4 <= claim.value <= high + 1e-4
