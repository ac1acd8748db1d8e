"""The audit of a foreign folder begins with a summary for its maintainer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench

MANY = {f"by_kind_{n}": {"recall@10": 0.5, "mrr": 0.25} for n in range(20)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two questions: fractional recall@10 (.5 + 1) / 2 where any is 1, first hits in place 1 and 2."""
    published = tmp_path / "v0.4.0"
    published.mkdir()
    rows = [
        {"qid": "a", "evidence": ["D1", "D2"], "retrieved_top10": ["D1", "D3"], "first_hit_rank": 1},
        {"qid": "b", "evidence": ["D4"], "retrieved_top10": ["D5", "D4"], "first_hit_rank": 2},
    ]
    (published / "raw_retrievals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    overall = {"recall@5": 0.75, "recall@10": 0.75, "mrr": 0.75, "recall@3": 0.1}
    stated = {"version": "v0.4.0", "pgmnemo_version": "0.4.1", "overall": overall, "baseline": {"recall@10": 0.3}}
    (published / "metrics.json").write_text(json.dumps(stated))
    return published


def test_the_summary_leads_with_the_headline_and_counts_each_cause(folder: Path) -> None:
    summary = recallbench("audit", folder.name, cwd=folder.parent).stdout.split("\n\n")[0].splitlines()
    assert summary[:5] == [
        "v0.4.0: UNVERIFIED, not CANONICAL",
        "recall@10 0.75: recall_frac@10 0.7500; recall_any@10 is 1.0000",
        "mrr 0.75: mrr@50 0.7500",
        "recall@5 0.75: recall_frac@5 0.7500; recall_any@5 is 1.0000",
        "recall@3 0.1: no definition of that name gives it",
    ]
    assert "- RB-F-CLAIM: 2 of 4 published numbers: recall_frac, where the protocol's name means recall_any" in summary
    assert (
        "- RB-F-VERSION: version as measured: the folder is named 0.4.0, its field version says 0.4.0, "
        "measured was 0.4.1"
    ) in summary
    assert len(summary) <= 15


def test_single_claims_are_printed_with_verbose(folder: Path) -> None:
    brief = recallbench("audit", folder.name, cwd=folder.parent).stdout
    verbose = recallbench("audit", folder.name, "--verbose", cwd=folder.parent).stdout
    assert "published recall@10: 0.75 is recall_frac@10" not in brief
    assert "5 published numbers are traced one by one with --verbose" in brief
    assert "published recall@10: 0.75 is recall_frac@10" in verbose
    assert (
        len(json.loads(recallbench("audit", folder.name, "--json", cwd=folder.parent).stdout)["audits"][0]["summary"])
        <= 15
    )


def test_a_summary_never_has_more_than_fifteen_lines(folder: Path) -> None:
    stated = json.loads((folder / "metrics.json").read_text()) | MANY
    stated |= {"n_questions": 7, "Recall ten": 0.9, "overall": {f"recall@{k}": 0.1 for k in range(1, 30)}}
    (folder / "metrics.json").write_text(json.dumps(stated))
    (folder / "BLOCKED.md").write_text("why")
    (folder / "other.csv").write_text("recall@10,0.9")
    summary = recallbench("audit", folder.name, cwd=folder.parent).stdout.split("\n\n")[0].splitlines()
    assert len(summary) == 15
    assert summary[-1].startswith("- and ")
