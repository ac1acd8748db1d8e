"""Which checks of an audit are told one by one, and which are counted, in its lines as in its table."""

from __future__ import annotations

from pathlib import Path

from recallbench.audit.audit import Audit
from recallbench.audit.decision import decide
from recallbench.audit.examination import NO_DATASET
from recallbench.audit.gate import Check, Status
from recallbench.audit.listing import CLAIM, lines, table, told_checks


def check(code: str, name: str, status: Status, observed: str) -> Check:
    return Check(name, status, "that it is so", observed, code=code)


VERDICT = check("RB-VERDICT", "verdict stated", "pass", "when written: UNVERIFIED")
AWAY = check("RB-DATASET", "dataset", "cannot-tell", f"where labelled/team@{'0' * 64} lies is not known")
GOLD = check("RB-GOLD", "gold", "cannot-tell", NO_DATASET)
VALUES = check("RB-VALUES", "values", "fail", "0.9 stated, 0.8 follows")
CLAIMS = (check(CLAIM, "0.93", "pass", "reproduced"), check(CLAIM, "0.97", "fail", "no definition gives it"))


def audited(*checks: Check) -> Audit:
    return Audit(Path("r"), checks, decide(checks, []), (), store="mine")


def test_what_passes_waits_or_is_one_of_many_claims_is_counted() -> None:
    examined = audited(VERDICT, AWAY, GOLD, VALUES, *CLAIMS)
    told = told_checks(examined)
    assert told.singly == [AWAY, VALUES]
    assert told.counted == [
        ("cannot-tell", "1 more checks wait for the dataset, each with --verbose: RB-GOLD"),
        ("pass", "1 check passes: each with --verbose"),
        ("fail", "2 published numbers are traced one by one with --verbose"),
    ]
    assert table([(examined, told)]).rows == [
        ("r", "does not hold (values, 0.97)", *cells)
        for cells in (
            ("cannot-tell", "RB-DATASET", "dataset", "where team lies is not known", "that it is so"),
            ("fail", "RB-VALUES", "values", "0.9 stated, 0.8 follows", "that it is so"),
            ("cannot-tell", "", "1 more checks wait for the dataset, each with --verbose: RB-GOLD", "", ""),
            ("pass", "", "1 check passes: each with --verbose", "", ""),
            ("fail", "", "2 published numbers are traced one by one with --verbose", "", ""),
        )
    ]
    assert lines(examined, labels=False, checks=told)[-3:] == [f"  {text}" for _, text in told.counted]
    assert lines(examined, labels=False) == ["r: does not hold (values, 0.97)"]


def test_with_every_check_nothing_is_counted_and_failures_leave_out_what_passes() -> None:
    examined = audited(VERDICT, AWAY, GOLD, VALUES, *CLAIMS)
    every = told_checks(examined, every=True)
    assert (every.singly, every.counted) == (list(examined.checks), ())
    failures = told_checks(examined, failures=True)
    assert failures.singly == [AWAY, GOLD, VALUES]
    assert [status for status, _ in failures.counted] == ["fail"]
