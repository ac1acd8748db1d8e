from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from recallbench.audit.gate import Check
from recallbench.audit.gates.artefacts import NO_REPOSITORY
from recallbench.citing.citation import AuditedResult, Citation, NotCitable
from recallbench.citing.conclusions import conclusion_against, conclusion_of
from recallbench.citing.steps import numbered, record_command, steps

Side = Callable[..., AuditedResult]


def test_the_last_line_of_a_citation(side: Side) -> None:
    canonical = side("VERIFIED")
    assert str(conclusion_of(Citation(canonical, None, (), ()))) == (
        "results/r can be cited under the pgmnemo Recall Benchmark Protocol v1.0.0; its audit holds, and it deviates "
        "in nothing; next: paste the text, then recallbench cite --check FILE"
    )
    one = side("VERIFIED", "store: bm25 instead of pgmnemo")
    assert "; its audit holds, and HISTORY.md has its deviation on record; " in str(
        conclusion_of(Citation(one, None, (), one.audit.deviations))
    )


def test_the_last_line_against_a_citation(side: Side, tmp_path: Path) -> None:
    one = side("VERIFIED", "store: bm25 instead of pgmnemo", "limit: only the first 9 questions were asked")
    refused = NotCitable(Path("results/r"), ["it is VERIFIED, not CANONICAL"], "")
    record = (
        "recallbench history add --kind deviation --title 'What results/r departs in' --deviation 'store bm25 on "
        "canary-locomo' --deviation 'limit on canary-locomo'"
    )
    assert str(conclusion_against(refused, one, as_deviation=False)) == (
        f"results/r can't be cited; it is VERIFIED, not CANONICAL; next: {record}, and so on as above"
    )
    history = tmp_path / "HISTORY.md"
    history.write_text(
        "# History\n\n## 2026-11-20: T\n\n- Deviation: store bm25 on canary-locomo\n- Deviation: limit\n"
    )
    assert record_command(one, history) == ""
    assert str(conclusion_against(refused, one, as_deviation=False, history=history)).endswith(
        f"; next: recallbench cite results/r --as-deviation --history {history}"
    )
    history.write_text("## someday: x\n")
    assert record_command(one, history) == ""
    unverified = side("UNVERIFIED", "store: bm25 instead of pgmnemo")
    two = NotCitable(Path("results/r"), ["a", "deviation b"], "")
    assert str(conclusion_against(two, unverified, as_deviation=True)) == (
        "results/r can't be cited as a deviation; for 1 reason and 1 deviation, above; "
        "next: recallbench audit results/r"
    )
    assert conclusion_against(two, unverified, as_deviation=True).tone == "bad"


def test_the_steps_to_a_citation_are_in_order(side: Side) -> None:
    one = side("UNVERIFIED", "store: bm25 instead of pgmnemo")
    pending = Check("artefacts present", "pending", "r", NO_REPOSITORY, awaits="committed", code="RB-COMMITTED")
    uncommitted = replace(one, audit=replace(one.audit, checks=(pending,)))
    record = record_command(one)
    assert numbered(steps(uncommitted, as_deviation=False)) == (
        "1. put it into git (git init; git add results/r; git commit -m result)\n"
        f"2. {record}\n"
        "3. recallbench cite results/r --as-deviation"
    )
    assert steps(uncommitted, as_deviation=True) == steps(uncommitted, as_deviation=False)
    whole = side("UNVERIFIED")
    told = replace(pending, observed="not committed: run.trec")
    assert steps(replace(whole, audit=replace(whole.audit, checks=(told,))), as_deviation=False) == [
        "commit it", "recallbench cite results/r",
    ]  # fmt: skip
    failed = replace(one, audit=replace(one.audit, checks=(pending, replace(pending, status="fail"))))
    assert numbered(steps(failed, as_deviation=False)) == "recallbench audit results/r"
