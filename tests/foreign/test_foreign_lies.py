"""An honest foreign folder is VERIFIED; one with a single false or unreadable claim is not."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recallbench.audit.audit import Audit
from recallbench.corpora.registry import open_corpus
from recallbench.foreign.audit import audit_foreign
from recallbench.protocol.frozen import load

Metrics = dict[str, Any]
REPORT = """# Results

Over all questions recall@10 = {any10:.4f} and MRR is {mrr:.2%}.

| measure | this run | baseline | 95% CI |
|---|---|---|---|
| recall@10 | {any10:.4f} | 0.1234 | |
| MRR | **{mrr:.4f}** | 0.2345 | |
"""


def honest(folder: Path) -> Metrics:
    """Write rankings of the canary with the first gold session at rank 1, 2 or 12; return their true figures."""
    corpus = open_corpus("canary-locomo", rules=load(), environ={})
    rows: list[dict[str, Any]] = []
    number = 0
    for haystack in corpus.haystacks():
        names = [segment.session for segment in haystack.segments]
        for question in haystack.questions:
            gold = sorted(names[position] for position in question.gold)
            ranked = [name for name in names if name not in gold]
            position = min((0, 1, 11)[number % 3], len(ranked))
            ranked[position:position] = gold
            if gold:
                rows.append(
                    {
                        "qi": number,
                        "conv_id": haystack.scope,
                        "category": 4,
                        "question": question.text,
                        "evidence": gold,
                        "retrieved_top50": ranked,
                        "scores": [1.0 / rank for rank in range(1, len(ranked) + 1)],
                        "first_hit_rank": position + 1,
                    }
                )
            number += 1
    firsts = [row["first_hit_rank"] for row in rows]
    any10 = sum(first <= 10 for first in firsts) / len(rows)
    mrr = sum(1 / first for first in firsts) / len(rows)
    metrics: Metrics = {
        "version": "v9",
        "pgmnemo_version": "9",
        "dataset_sha256": corpus.sha256,
        "seed": 42,
        "guc_state": {"ef_search": 100},
        "wall_clock_sec": 1.5,
        "n_questions": len(rows),
        "overall": {
            "recall@10": {"n": len(rows), "mean": round(any10, 4)},
            "mrr": {"n": len(rows), "mean": round(mrr, 4)},
        },
    }
    (folder / "raw_retrievals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "report.md").write_text(REPORT.format(any10=any10, mrr=mrr))
    return metrics


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "v9").mkdir()
    return tmp_path / "v9"


def audited(folder: Path, metrics: Metrics) -> Audit:
    (folder / "metrics.json").write_text(json.dumps(metrics))
    git = ["git", "-c", "user.email=a@b", "-c", "user.name=a", "-C", str(folder.parent)]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True, timeout=60)
    return audit_foreign(folder, (), {"RECALLBENCH_DATA_DIR": str(folder / "none")})


def not_passed(audit: Audit) -> set[tuple[str, str]]:
    return {(check.code, check.status) for check in audit.checks if check.status != "pass"}


def test_the_honest_folder_is_verified(folder: Path) -> None:
    audit = audited(folder, honest(folder))
    assert not_passed(audit) == set()
    assert audit.verdict.label == "VERIFIED"
    by_code = {check.code: check.observed for check in audit.checks}
    assert by_code["RB-F-REPORT"] == (
        "2 figures in tables are those published; 2 are told of another run or of a difference"
    )


def test_without_scores_only_their_order_is_uncertain(folder: Path) -> None:
    metrics = honest(folder)
    path = folder / "raw_retrievals.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "scores"}) + "\n" for row in rows))
    audit = audited(folder, metrics)
    assert not_passed(audit) == {("RB-F-ORDER", "cannot-tell")}
    assert audit.verdict.label == "VERIFIED"


def overall(**changed: Any) -> Callable[[Metrics], None]:
    """Return a change of the published recall@10."""
    return lambda metrics: metrics["overall"]["recall@10"].update(changed)


def top(**changed: Any) -> Callable[[Metrics], None]:
    return lambda metrics: metrics.update(changed)


def only(value: Any) -> Callable[[Metrics], None]:
    return lambda metrics: metrics.update(overall={"recall@10": value})


@pytest.mark.parametrize(
    ("lie", "code", "status", "observed"),
    [
        (top(hit_rate_at_10=0.9999), "RB-F-CLAIM", "fail", "0.9999 follows no definition"),
        (top(**{"Recall ten": 0.9999}), "RB-F-UNREAD", "cannot-tell", "metrics.json /Recall ten: 0.9999"),
        (top(headline={"our best": 0.9999}), "RB-F-UNREAD", "cannot-tell", "/headline/our best: 0.9999"),
        (top(guc_state={"recall canonical": 0.9}), "RB-F-UNREAD", "cannot-tell", "/guc_state/recall canonical: 0.9"),
        (overall(mean="0.9999"), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/mean: '0.9999'"),
        (overall(mean=[0.9999]), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/mean: [0.9999]"),
        (overall(mean=1e12), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/mean: 1000000000000.0"),
        (only(True), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10: True"),
        (overall(median=0.9999), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/median: 0.9999"),
        (overall(best=0.9999), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/best: 0.9999"),
        (overall(value=0.9999), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/value: 0.9999"),
        (overall(n="5000"), "RB-F-UNREAD", "cannot-tell", "/overall/recall@10/n: '5000'"),
        (overall(n=5000), "RB-F-COUNTS", "fail", "counts 5000 for recall@10"),
        (top(n_questions=5000), "RB-F-COUNTS", "fail", "n_questions says 5000, there are"),
        (top(n_items=3), "RB-F-COUNTS", "fail", "n_items says 3, there are"),
        (top(n_instances=5000, n=5000), "RB-F-COUNTS", "fail", "n_instances says 5000"),
        (top(n_conversations=99), "RB-F-COUNTS", "fail", "n_conversations says 99, the rows name"),
        (top(n_wonders=7), "RB-F-COUNTS", "cannot-tell", "what they count isn't known: n_wonders says 7"),
        (top(by_category={"x": {"n": 3}}), "RB-F-COUNTS", "fail", "n of x says 3, no part of the rows has as many"),
        (overall(ci_low=0.1, ci_high=0.99), "RB-F-INTERVAL", "cannot-tell", "not the normal one"),
        (overall(ci95=[0.1, 0.99]), "RB-F-INTERVAL", "cannot-tell", "recall@10 [0.1, 0.99]"),
        (overall(ci_low=0.1), "RB-F-INTERVAL", "cannot-tell", "recall@10 [0.1, None]"),
        (overall(ci_low=0.01, ci_high=0.02), "RB-F-INTERVAL", "fail", "without the number they belong to"),
        (lambda metrics: metrics.pop("overall"), "RB-F-CLAIM", "cannot-tell", "nothing is claimed of this run"),
    ],
)  # fmt: skip
def test_a_lie_among_the_figures_fails(
    folder: Path, lie: Callable[[Metrics], None], code: str, status: str, observed: str
) -> None:
    metrics = honest(folder)
    (folder / "report.md").unlink()
    lie(metrics)
    audit = audited(folder, metrics)
    assert audit.verdict.label == "UNVERIFIED"
    observations = [check.observed for check in audit.checks if (check.code, check.status) == (code, status)]
    assert [text for text in observations if observed in text], [
        (check.code, check.status, check.observed) for check in audit.checks
    ]
    assert all(check.needed for check in audit.checks if check.code == code and check.status != "pass")


@pytest.mark.parametrize("value", [1.0, 1, 0.7, 1.04])
def test_few_decimals_pass_nothing_that_they_do_not_show(folder: Path, value: float) -> None:
    """recall_any@10 is 0.68 to 0.71: 0.7 covers it and what lies beside it."""
    metrics = honest(folder)
    (folder / "report.md").unlink()
    metrics["overall"] = {"recall@10": value}
    audit = audited(folder, metrics)
    (claim,) = (check for check in audit.checks if check.code == "RB-F-CLAIM")
    assert claim.status == ("cannot-tell" if value == 0.7 else "fail"), claim
    assert ("few decimals: as printed it covers 0.65 to 0.75" in claim.observed) == (value == 0.7)
    assert audit.verdict.label == "UNVERIFIED"


@pytest.mark.parametrize(
    ("report", "status", "observed"),
    [
        ("| measure | value |\n|---|---|\n| Recall@10 | 0.9999 |", "fail", "report.md line 3: recall@10 0.9999"),
        ("| run | recall@10 | MRR |\n|---|---|---|\n| all | 0.9999 | 0.9999 |", "fail", "mrr 0.9999"),
        ("| a | Precision@10 |\n|---|---|\n| all | 0.9999 |", "claim", "0.9999 follows no definition of that name"),
        ("| best |\n|---|\n| | recall@10 = 1.0 |", "fail", "recall@10 1.0"),
        ("| best | we |\n|---|---|\n| a | recall@10: 9.999e-1 |", "fail", "recall@10 0.9999"),
        ("| what | we |\n|---|---|\n| accuracy | 0.999 |", "unread", "report.md line 3: we: 0.999"),
        ("| what | we |\n|---|---|\n| hit rate | 0.9999 |", "cannot-tell", "hit_rate 0.9999"),
    ],
)
def test_a_lie_in_the_report_fails(folder: Path, report: str, status: str, observed: str) -> None:
    metrics = honest(folder)
    (folder / "report.md").write_text(report)
    audit = audited(folder, metrics)
    outcomes = {"claim": ("RB-F-CLAIM", "fail"), "unread": ("RB-F-UNREAD", "cannot-tell")}
    expected = outcomes.get(status, ("RB-F-REPORT", status))
    observations = [check.observed for check in audit.checks if (check.code, check.status) == expected]
    assert [text for text in observations if observed in text], [
        (check.code, check.status, check.observed) for check in audit.checks
    ]
    assert audit.verdict.label == "UNVERIFIED"


@pytest.mark.parametrize(
    ("name", "code"), [("README.md", "RB-F-REPORT"), ("notes.txt", "RB-F-REPORT"), ("summary.json", "RB-F-UNREAD")]
)
def test_a_lie_in_another_file_fails(folder: Path, name: str, code: str) -> None:
    metrics = honest(folder)
    (folder / name).write_text("| measure | value |\n|---|---|\n| recall@10 | 0.9999 |\n")
    audit = audited(folder, metrics)
    assert {failing for failing, _ in not_passed(audit)} == {code}
    assert audit.verdict.label == "UNVERIFIED"


def test_prose_is_no_claim(folder: Path) -> None:
    metrics = honest(folder)
    metrics["notes"] = "F1 A-scale 0.43 over n=500, weights recall 0.4 and mrr 0.6"
    with (folder / "report.md").open("a") as file:
        file.write("\nrecall@10 would be 0.9999 with weights 0.4 and 0.6 (n=500), F1 A-scale 0.43.\n")
        file.write("Version 0.3.1 of 2026-05-13: 10 runs, seed 42, 95% CIs, 512 tokens, see D1:3 and 12:30.\n")
    audit = audited(folder, metrics)
    assert not_passed(audit) == set()
    (read,) = (check.observed for check in audit.checks if check.code == "RB-F-UNREAD")
    assert read == "every number of files and tables was looked at; the prose of report.md is not read"


def test_a_report_that_is_no_text_fails(folder: Path) -> None:
    metrics = honest(folder)
    (folder / "report.md").write_bytes(b"recall \xff")
    audit = audited(folder, metrics)
    observations = [check.observed for check in audit.checks if (check.code, check.status) == ("RB-F-REPORT", "fail")]
    assert len(observations) == 1
    assert "report.md: can't be read: byte 0xff at 7" in observations[0]
