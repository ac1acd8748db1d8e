"""An audit for whoever reads it: its lines in a terminal, its rows in a table, its document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recallbench.audit.audit import Audit
from recallbench.audit.checks.ranges import recorded_words
from recallbench.audit.gate import Check
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


def lines(examined: Audit, *, labels: bool, every: bool = False, failures: bool = False) -> list[str]:
    """Return the folder with its word, what did not pass, and what else is known; with `every`, each check.

    `labels` tells the protocol's verdict, and every deviation from it. `failures` leaves out how many checks pass.
    """
    listed = [
        check
        for check in examined.checks
        if not (failures and check.status == "pass") and (every or (check.status != "pass" and check.code != CLAIM))
    ]
    waiting = [] if every or failures else [check for check in listed if waits_for_dataset(check, examined.checks)]
    listed = [check for check in listed if check not in waiting]
    told = [*examined.summary, ""] if examined.summary else []
    told.append(f"{examined.folder}: {outcome(examined.checks)}")
    told += _checks(examined.checks, listed)
    if waiting:
        codes = ", ".join(check.code for check in waiting)
        told.append(f"  {len(waiting)} more checks wait for the dataset, each with --verbose: {codes}")
    claims = sum(check.code == CLAIM for check in examined.checks)
    passed = sum(check.status == "pass" and check.code != CLAIM for check in examined.checks)
    if passed and not every and not failures:
        told.append(f"  {passed} {'check passes' if passed == 1 else 'checks pass'}: each with --verbose")
    if claims and not every:
        told.append(f"  {claims} published numbers are traced one by one with --verbose")
    told += [plain_names(f"  deviation   {text}") for text in examined.deviations if labels or _matters(text)]
    if examined.recorded:
        told.append(f"  {recorded_words(examined.recorded)}")
    if labels:
        told.append(f"  verdict: {label(examined)}")
    return told


def label(examined: Audit) -> str:
    """Return what the protocol calls the result."""
    return f"{examined.verdict.text}, {'' if examined.verdict.canonical else 'not '}CANONICAL"


def table(audits: Sequence[Audit], *, failures: bool = False) -> Table:
    """Return a row for each check of each folder."""
    rows = [
        (
            str(examined.folder),
            str(outcome(examined.checks)),
            check.status,
            check.code,
            check.name,
            check.observed,
            check.required,
        )
        for examined in audits
        for check in examined.checks
        if not failures or check.status != "pass"
    ]
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
