"""Which audits let a result onto a board."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.audit.audit import Audit
from recallbench.audit.decision import decide
from recallbench.audit.gate import Check, Status
from recallbench.site.admission import decide_admission


def audit_with(*checks: Check) -> Audit:
    whole = (Check("figures", "pass", "", "", code="RB-VALUES"), *checks)
    return Audit(Path("x"), whole, decide(whole, ()), ())


@pytest.mark.parametrize(
    ("code", "status", "needed", "admitted", "verified"),
    [
        ("RB-VALUES", "fail", True, False, False),
        ("RB-GOLD", "cannot-tell", True, False, False),
        ("RB-EMBEDDING", "cannot-tell", False, True, True),
        ("RB-COMMITTED", "pending", True, True, False),
        ("RB-COMMITTED", "cannot-tell", True, True, False),
        ("RB-COMMITTED", "fail", True, False, False),
    ],
)
def test_a_failed_check_keeps_out_and_so_does_one_that_has_to_tell_and_cant(
    code: str, status: Status, needed: bool, admitted: bool, verified: bool
) -> None:
    examined = audit_with(Check("it", status, "", "seen in /home/ada/x", code=code, needed=needed))
    for strict, expected in ((False, admitted), (True, verified)):
        admission = decide_admission(examined, verified=strict)
        assert (admission.why_not == "") is expected
        if not expected:
            words = {"fail": "fails", "cannot-tell": "can't tell", "pending": "is pending"}
            assert admission.why_not == f"{code} {words[status]}: seen in x"


def test_an_audit_that_holds_is_told_by_its_verdict_and_many_reasons_are_counted() -> None:
    assert decide_admission(audit_with(), verified=True).verdict == "VERIFIED, CANONICAL"
    pending = Check("git", "pending", "", "", awaits="committed", code="RB-COMMITTED")
    assert decide_admission(audit_with(pending), verified=False).verdict == "UNVERIFIED (pending: committed)"
    failing = [Check("it", "fail", "", "no", code=f"RB-{number}") for number in range(5)]
    assert decide_admission(audit_with(*failing), verified=False).why_not == (
        "RB-0 fails: no; RB-1 fails: no; RB-2 fails: no; and 2 more of its checks"
    )
