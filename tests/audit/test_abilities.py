"""LongMemEval's five abilities: in a result, its report, its audit, a comparison and a gate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from audited_copies import audit_copy
from commandline import recallbench
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render_without_sentence
from recallbench.reports.result_page import PAGE
from recallbench.results.latency import read_timings
from recallbench.results.manifest import build
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result
from recallbench.scoring.editions import FIRST

COUNTS = {
    "information extraction": 21,
    "multi-session reasoning": 7,
    "temporal reasoning": 8,
    "knowledge updates": 7,
    "abstention": 4,
}
"""Of the canary: four of its 47 questions have an id that ends in _abs."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    words = ("run", "canary-longmemeval", "--store", "bm25", "--folder", "result", "-q")
    assert recallbench(*words, cwd=folder).returncode == 0
    return folder


def failed_checks(folder: Path) -> dict[str, str]:
    report = audit_copy(folder)
    return {
        check.code: check.observed for check in report.checks if check.status == "fail" and check.code != "RB-COMMITTED"
    }


def by_hand(folder: Path) -> dict[str, list[float]]:
    """Return each question's recall_any@10 by ability, from the rows alone."""
    values: dict[str, list[float]] = {name: [] for name in COUNTS}
    for line in (folder / "raw_retrievals.jsonl").read_text().splitlines():
        row = json.loads(line)
        ability = "information extraction" if row["kind"].startswith("single-session") else {
            "multi-session": "multi-session reasoning",
            "temporal-reasoning": "temporal reasoning",
            "knowledge-update": "knowledge updates",
        }[row["kind"]]  # fmt: skip
        in_top_ten = any(hit["id"] in row["gold"] for hit in row["hits"][:10])
        values["abstention" if row["question_id"].endswith("_abs") else ability].append(float(in_top_ten))
    return values


def test_a_result_states_abilities_and_its_report_shows_them(workspace: Path) -> None:
    metrics = json.loads((workspace / "result" / "metrics.json").read_text())
    expected = by_hand(workspace / "result")
    assert list(metrics["abilities"]) == list(COUNTS)
    for name, row in metrics["abilities"].items():
        (estimate,) = [part for part in row if part["measure"] == "recall_any@10"]
        assert (estimate["n"], len(expected[name])) == (COUNTS[name], COUNTS[name])
        assert estimate["value"] == pytest.approx(sum(expected[name]) / COUNTS[name])
    report = (workspace / "result" / "report.md").read_text()
    section = report.partition("## By ability\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[:2] for line in section.splitlines() if line.startswith("| ")]
    assert rows == [["| ability", "n"], *([f"| {name}", str(count)] for name, count in COUNTS.items())]
    assert report.index("## By kind") < report.index("## By ability") < report.index("## Denominators")
    assert failed_checks(workspace / "result") == {}


def test_a_result_of_the_first_edition_has_no_abilities_and_passes(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    shutil.copytree(workspace / "result", folder)
    environment = json.loads((folder / "environment.json").read_text())
    del environment["recallbench_version"]  # no release of that edition wrote it down
    (folder / "environment.json").write_text(json.dumps(environment, indent=1) + "\n")
    metrics = Metrics.model_validate_json((folder / "metrics.json").read_text())
    rules = load()
    earlier = metrics.model_copy(update={"statistics_edition": FIRST.number, "abilities": None})
    subject = AuditSubject(Result(folder, earlier), rules, facts(metrics.corpus.name, rules), (), {})
    (folder / "metrics.json").write_text(subject.derived.model_dump_json(indent=1) + "\n")
    run = ReportedRun(subject.environment, read_timings(subject.folder, subject.environment))
    (folder / "report.md").write_text(render_without_sentence(subject.derived, run))
    (folder / PAGE).unlink()
    (folder / "manifest.json").write_text(build(folder))
    assert "abilities" not in (folder / "metrics.json").read_text()
    assert "By ability" not in (folder / "report.md").read_text()
    assert failed_checks(folder) == {}


@pytest.mark.parametrize("forgery", ["raised", "left out", "dropped"])
def test_forged_abilities_are_seen(workspace: Path, tmp_path: Path, forgery: str) -> None:
    folder = tmp_path / "result"
    shutil.copytree(workspace / "result", folder)
    metrics = json.loads((folder / "metrics.json").read_text())
    if forgery == "raised":
        metrics["abilities"]["temporal reasoning"][0]["value"] += 0.01
    elif forgery == "left out":
        del metrics["abilities"]["abstention"]
    else:
        del metrics["abilities"]
    (folder / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    (folder / "manifest.json").write_text(build(folder))
    assert set(failed_checks(folder)) == {"RB-ABILITIES"}, forgery


def test_a_comparison_and_a_gate_give_figures_by_ability(workspace: Path, tmp_path: Path) -> None:
    result = str(workspace / "result")
    printed = recallbench("compare", result, result, cwd=tmp_path).stdout
    assert [line.split("  ")[0] for line in printed.partition("\nability ")[2].splitlines()[1:10:2]] == list(COUNTS)
    assert "## By ability" in recallbench("compare", result, result, "--markdown", cwd=tmp_path).stdout
    comparison = json.loads(recallbench("compare", result, result, "--json", cwd=tmp_path).stdout)
    assert {name: row[0]["n"] for name, row in comparison["abilities"].items()} == COUNTS
    settings = tmp_path / "recallbench.toml"
    rule = '[result.night]\nfolder = "{}"\n[result.night.abilities."{}".at_least]\n"recall_any@10" = 0.1\n'
    settings.write_text(rule.format(result, "*"))
    gated = recallbench("gate", "--format", "json", cwd=tmp_path)
    parts = {threshold["part"]: threshold["n"] for threshold in json.loads(gated.stdout)["thresholds"]}
    assert (gated.returncode, parts) == (0, {f"ability {name}": count for name, count in COUNTS.items()})
    settings.write_text(rule.format(result, "patience"))
    gated = recallbench("gate", cwd=tmp_path)
    assert gated.returncode == 2
    assert "ability patience has no question" in gated.stderr
    assert "one of information extraction, " in gated.stderr
