"""Checks on the published numbers of a foreign folder, and on their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from recallbench.results.layouts.layout import Claim
from recallbench.scoring.judgement import Bools
from recallbench.scoring.multiverse import (
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
from recallbench.verdict.definitions import named, origin
from recallbench.verdict.foreign_case import ForeignCase, check, few
from recallbench.verdict.gate import Check, Status


def claims(case: ForeignCase) -> Iterator[Check]:
    """One for each published number, and one for their intervals."""
    published = case.imported.claims
    if not published:
        return
    asked = bool(case.imported.questions)
    digits = max((_decimals(claim) for claim in published if _decimals(claim) <= 6), default=4)
    depths = {*DEPTHS, *(k for claim in published if (k := named(claim.name).k) and k <= 100)}
    wanted = definitions(depths)
    table = cells(case.field.views, wanted, case.field.denominators) if asked else []
    reproduced: list[tuple[Claim, View, Definition, Bools]] = []
    for claim in published:
        name = f"published {claim.name}" + (f", {claim.slice}" if claim.slice else "")
        if claim.quoted:
            yield _claim(claim, name, "cannot-tell", f"{claim.value} is told of another run", needed=False)
        elif not asked:
            yield _claim(claim, name, "cannot-tell", f"{claim.value}: not one ranking was kept")
        else:
            part, label, mask = table, "", np.ones(len(case.imported.questions), dtype=np.bool_)
            if claim.slice:
                label, mask, part = _slice(case, claim, digits)
            if not part:
                yield _claim(
                    claim, name, "cannot-tell", f"{claim.value}: which questions are {claim.slice} can't be told"
                )
                continue
            found = origin(
                claim.name,
                claim.value,
                part,
                case.field.own_view,
                max(digits, _decimals(claim)) if claim.decimals is None else claim.decimals,
                contradicted=case.field.scoping == "contradicted",
            )
            if found.follows and found.follows[0].protocol:
                first = found.follows[0]
                view = next(view for view in case.field.views if view.name == first.scope)
                reproduced.append((claim, view, first.definition, mask))
            yield _claim(claim, name, found.status, found.text + (f" [{label}]" if label else ""))
    if any(claim.low is not None for claim in published):
        yield _intervals(case, reproduced, digits)


def _decimals(claim: Claim) -> int:
    return printed_decimals(claim.value) if claim.decimals is None else claim.decimals


def _claim(claim: Claim, name: str, status: Status, observed: str, needed: bool = True) -> Check:
    return check("RB-F-CLAIM", name, status, f"{observed} ({claim.where})", needed=needed)


def _slice(case: ForeignCase, claim: Claim, digits: int) -> tuple[str, Bools, list[Cell]]:
    """The part of the questions that a label means: by name, else by count, where only its figure can decide."""
    slices = case.field.slices
    wanted = _plain(claim.slice)
    by_name = [label for label in slices if _plain(label.partition(" ")[2]) == wanted]
    by_count = [label for label, mask in slices.items() if claim.n is not None and int(mask.sum()) == claim.n]
    candidates = [label for label in by_name if claim.n is None or label in by_count] or by_count or by_name
    best: tuple[str, Bools, list[Cell]] | None = None
    for label in candidates:
        mask = slices[label]
        part = cells(
            case.field.views,
            definitions((*DEPTHS, named(claim.name).k or 1)),
            [Denominator(label, mask, protocol=True)],
        )
        found = origin(claim.name, claim.value, part, case.field.own_view, max(digits, _decimals(claim)))
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


def _intervals(case: ForeignCase, reproduced: Sequence[tuple[Claim, View, Definition, Bools]], digits: int) -> Check:
    """Whether intervals are mean and 1.96 standard errors, cut at 0 and 1."""
    tried, wrong = 0, []
    for claim, view, definition, mask in reproduced:
        if claim.low is None or claim.high is None:
            continue
        low, high = bounds(definition, view)
        kept = mask & (view.judged.gold > 0)
        values = low[kept]
        if len(values) < 2 or float((high - low)[kept].max(initial=0.0)) > 1e-9:
            continue
        tried += 1
        half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
        mean, slack = float(values.mean()), 1.5 * 10.0 ** -min(digits, max(3, printed_decimals(claim.low)))
        if abs(max(0.0, mean - half) - claim.low) > slack or abs(min(1.0, mean + half) - claim.high) > slack:
            wrong.append(f"{claim.name}{' ' + claim.slice if claim.slice else ''} [{claim.low}, {claim.high}]")
    if not tried:
        return check(
            "RB-F-INTERVAL", "intervals", "cannot-tell", "no number they belong to is reproduced", needed=False
        )
    form = "the normal one over questions taken as independent"
    if wrong:
        return check("RB-F-INTERVAL", "intervals", "cannot-tell", f"not {form}: {few(wrong)}", needed=False)
    clustered = case.corpus is not None and case.corpus.name.endswith("locomo")
    return check(
        "RB-F-INTERVAL",
        "intervals",
        "fail" if clustered else "pass",
        f"{tried} are {form}" + (", which those of one conversation are not (clarification 10)" if clustered else ""),
        needed=False,
    )
