"""Each figure of a result comes from its own source among the retrieved rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench

LAZY = """
def memory(items, vectors):
    ids = [item.id for item in items]
    return lambda query, k: [(i, float(-i)) for i in ids[:2 if k == 10 else 7]]
memory.needs_vectors = False
"""


@pytest.fixture(scope="module")
def lazy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A store that returns the first sessions of a haystack: 2 at k = 10, 7 at k = 50."""
    folder = tmp_path_factory.mktemp("lazy")
    (folder / "slack.py").write_text(LAZY)
    done = recallbench(
        "run", "canary-locomo", "--store", "callable", "--call", "slack:memory", "--folder", "r", cwd=folder
    )
    assert done.returncode == 0
    return {
        "metrics": json.loads((folder / "r" / "metrics.json").read_text()),
        "rows": [json.loads(line) for line in (folder / "r" / "raw_retrievals.jsonl").read_text().splitlines()],
        "control": (folder / "r" / "run.bm25.trec").read_text().splitlines(),
        "report": (folder / "r" / "report.md").read_text(),
    }


def test_hits_that_are_missing_are_counted_over_both_calls(lazy: dict[str, Any]) -> None:
    stated, rows = lazy["metrics"]["retrieval"], lazy["rows"]
    assert stated["short_questions"] == 158
    assert stated["missing_hits"] == sum(10 - 2 + row["candidates"] - 7 for row in rows)
    assert "158 questions got too few hits" in lazy["report"]


def test_the_control_is_bm25_and_not_the_store(lazy: dict[str, Any]) -> None:
    metrics = lazy["metrics"]
    ours = {estimate["measure"]: estimate["value"] for estimate in metrics["estimates"]["overall"]}
    control = {estimate["measure"]: estimate["value"] for estimate in metrics["control_bm25"]["overall"]}
    gold = {row["question_id"]: set(row["gold"]) for row in lazy["rows"]}
    hits_of_control = {
        line.split()[0]
        for line in lazy["control"]
        if line.split()[2] in gold[line.split()[0]] and int(line.split()[3]) <= 10
    }
    assert control["recall_any@10"] == pytest.approx(len(hits_of_control) / 158)
    assert control["recall_any@10"] > ours["recall_any@10"] + 0.2


def test_a_denominator_counts_its_own_questions(lazy: dict[str, Any]) -> None:
    metrics, rows = lazy["metrics"], lazy["rows"]
    hit = {row["question_id"]: any(item["id"] in row["gold"] for item in row["hits_of_k_call"]) for row in rows}
    by_name = {denominator["name"]: denominator for denominator in metrics["denominators"]}
    assert {name: (denominator["count"], denominator["scored"]) for name, denominator in by_name.items()} == {
        "with-evidence": (158, 158),
        "all": (159, 158),
        "non-adversarial": (134, 134),
    }
    assert by_name["all"]["values"]["recall_any@10"] == pytest.approx(sum(hit.values()) / 159)
    plain = [hit[row["question_id"]] for row in rows if row["kind"] != "adversarial"]
    assert by_name["non-adversarial"]["values"]["recall_any@10"] == pytest.approx(sum(plain) / 134)
    assert 0 < by_name["all"]["chance"]["recall_any@10"] < by_name["with-evidence"]["chance"]["recall_any@10"]


def test_every_table_with_a_recall_has_its_chance(lazy: dict[str, Any]) -> None:
    report = lazy["report"]
    for title in ("Headline", "All measures", "By kind", "Denominators", "Lexical control (BM25)"):
        section = report.split(f"## {title}\n")[1].split("\n## ")[0]
        assert "chance" in section, title


def test_all_evidence_reaches_a_segment(lazy: dict[str, Any]) -> None:
    assert lazy["metrics"]["corpus"]["unresolved_evidence"] == 0
    (gate,) = [gate for gate in lazy["metrics"]["gates"] if gate["name"] == "oracle coverage"]
    assert gate["observed"] == "158 of 158 questions with evidence reach a segment"


def test_a_store_without_vectors_has_no_embedder_and_no_exposure(lazy: dict[str, Any]) -> None:
    assert lazy["metrics"]["embedder"] is None
    assert lazy["metrics"]["exposure"] is None


def test_the_labelled_departures_are_those_of_the_options(tmp_path: Path) -> None:
    recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "2", "--folder", "r", cwd=tmp_path)
    stated = json.loads((tmp_path / "r" / "metrics.json").read_text())["deviations"]
    assert [deviation["kind"] for deviation in stated] == ["corpus", "store", "limit"]
