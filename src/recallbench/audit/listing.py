"""An audit for whoever reads it: its lines in a terminal, its rows in a table, its document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recallbench.audit.audit import Audit
from recallbench.audit.checks.ranges import recorded_words
from recallbench.audit.gate import Check, Status
from recallbench.audit.outcome import outcome, waits_for_dataset
from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.reports.conclusions.labels import MATTERING, may_be_labelled
from recallbench.reports.table import Table

CLAIM = "RB-F-CLAIM"
"""The code of the check of one published number; a folder may hold hundreds."""
COLUMNS = ("folder", "outcome", "status", "check", "name", "observed", "required")


def tells_labels(examined: Audit) -> bool:
    """Whether the audit is of something that may have one of the protocol's labels; another tool's folder may.

    Of a run that was not made nobody knows, and its word says all.
    """
    if examined.verdict.label == "BLOCKED":
        return False
    return not examined.store or may_be_labelled(examined.corpus, examined.store)


@dataclass(frozen=True, slots=True)
class ToldChecks:
    """The checks of an audit that are told one by one, and in a line each those that are only counted."""

    singly: Sequence[Check]
    counted: Sequence[tuple[Status, str]]


def told_checks(examined: Audit, *, every: bool = False, failures: bool = False) -> ToldChecks:
    """Return what did not pass, or with `every` each check, and how many others there are; `failures` omits the latter.

    The same in every format but JSON: what passes may speak of the protocol, which nobody asked about.
    """
    listed = [
        check
        for check in examined.checks
        if not (failures and check.status == "pass") and (every or (check.status != "pass" and check.code != CLAIM))
    ]
    if every:
        return ToldChecks(listed, ())
    counted: list[tuple[Status, str]] = []
    waiting = [] if failures else [check for check in listed if waits_for_dataset(check, examined.checks)]
    if waiting:
        codes = ", ".join(check.code for check in waiting)
        more = f"{len(waiting)} more checks wait for the dataset, each with --verbose: {codes}"
        counted.append(("cannot-tell", more))
    passed = sum(check.status == "pass" and check.code != CLAIM for check in examined.checks)
    if passed and not failures:
        counted.append(("pass", f"{passed} {'check passes' if passed == 1 else 'checks pass'}: each with --verbose"))
    if claims := [check.status for check in examined.checks if check.code == CLAIM]:
        worst = max(claims, key=("pass", "pending", "cannot-tell", "fail").index)
        counted.append((worst, f"{len(claims)} published numbers are traced one by one with --verbose"))
    return ToldChecks([check for check in listed if check not in waiting], counted)


def lines(examined: Audit, *, labels: bool, checks: ToldChecks | None = None) -> list[str]:
    """Return the folder with its word, these checks, and what else is known.

    `labels` tells the protocol's verdict, and every deviation from it.
    """
    told = [*examined.summary, ""] if examined.summary else []
    told.append(f"{examined.folder}: {outcome(examined.checks)}")
    if checks is not None:
        told += _checks(examined.checks, checks.singly)
        told += [f"  {text}" for _, text in checks.counted]
    told += [plain_names(f"  deviation   {text}") for text in examined.deviations if labels or _matters(text)]
    if examined.recorded:
        told.append(f"  {recorded_words(examined.recorded)}")
    if labels:
        told.append(f"  verdict: {label(examined)}")
    return told


def label(examined: Audit) -> str:
    """Return what the protocol calls the result."""
    return f"{examined.verdict.text}, {'' if examined.verdict.canonical else 'not '}CANONICAL"


def table(audits: Sequence[tuple[Audit, ToldChecks]]) -> Table:
    """Return a row for each check that is told of a folder, and for those that are counted."""
    rows: list[tuple[str, ...]] = []
    for examined, checks in audits:
        about = (str(examined.folder), str(outcome(examined.checks)))
        rows += [
            (*about, check.status, check.code, check.name, plain_names(check.observed), check.required)
            for check in checks.singly
        ]
        rows += [(*about, status, "", text, "", "") for status, text in checks.counted]
    return Table(COLUMNS, rows, caption="Checks")


def document(examined: Audit, *, failures: bool = False) -> dict[str, Any]:
    """Return the audit for programs."""
    found = outcome(examined.checks)
    return {
        "folder": str(examined.folder),
        "word": found.word,
        "what": list(found.what),
        "verdict": examined.verdict.label,
        "text": examined.verdict.text,
        "canonical": examined.verdict.canonical,
        "summary": list(examined.summary),
        "deviations": list(examined.deviations),
        "recorded": list(examined.recorded),
        "checks": [
            {
                "code": check.code,
                "name": check.name,
                "status": check.status,
                "needed": check.needed,
                "required": check.required,
                "observed": check.observed,
            }
            for check in examined.checks
            if not failures or check.status != "pass"
        ],
    }


def _checks(checks: Sequence[Check], listed: Sequence[Check]) -> Iterator[str]:
    width, previous = max(len(check.code) for check in checks), ""
    for check in listed:
        aside = "" if check.needed else " (a result may do without)"
        yield f"  {check.status:<11} {check.code:<{width}} {check.name}: {plain_names(check.observed)}{aside}"
        # Of many claims that fall short of the same requirement, the first says what it is.
        if check.status != "pass" and check.code + check.required != previous:
            previous = check.code + check.required
            yield f"  {'':<11} {'':<{width}} required: {check.required}"


def _matters(deviation: str) -> bool:
    return deviation.partition(":")[0] in MATTERING
