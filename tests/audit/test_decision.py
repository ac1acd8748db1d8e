"""The checks decide the verdict."""

import pytest

from recallbench.audit.decision import decide
from recallbench.audit.gate import Check, Status


def check(status: Status, name: str = "a gate", awaits: str = "") -> Check:
    return Check(name, status, "required", "observed", awaits)


@pytest.mark.parametrize(
    ("statuses", "label", "text"),
    [
        (["pass", "pass"], "VERIFIED", "VERIFIED"),
        (["pass", "fail"], "UNVERIFIED", "UNVERIFIED"),
        (["pass", "cannot-tell"], "UNVERIFIED", "UNVERIFIED"),
        (["pass", "pending"], "UNVERIFIED", "UNVERIFIED (pending: committed)"),
        (["fail", "pending"], "UNVERIFIED", "UNVERIFIED"),
    ],
)
def test_every_check_must_pass(statuses: list[Status], label: str, text: str) -> None:
    verdict = decide([check(status, awaits="committed" * (status == "pending")) for status in statuses], ())
    assert (verdict.label, verdict.text) == (label, text)
    assert verdict.canonical is (label == "VERIFIED")


def test_a_deviation_keeps_a_verified_result_from_being_canonical() -> None:
    assert not decide([check("pass")], ["embedder: minilm"]).canonical


def test_a_blocked_folder_is_blocked_whatever_else_holds() -> None:
    assert decide([check("pass"), check("fail", "BLOCKED absent")], ()).label == "BLOCKED"
