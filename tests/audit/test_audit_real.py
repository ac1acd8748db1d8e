"""Audits of results over the real corpora, and of the committed one."""

import json
import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.audit.audit import audit

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = [pytest.mark.marked, pytest.mark.real_data]


COMMITTED = sorted(path.relative_to(BENCHMARKS) for path in BENCHMARKS.glob("*/results/*"))
FILES = {"locomo": "locomo_file", "realmem": "realmem_folder", "realtalk": "realtalk_folder"}
"""The fixture of each corpus that results are committed of."""


def test_the_files_of_each_committed_result_are_known() -> None:
    assert {path.parts[0] for path in COMMITTED} == FILES.keys()


@pytest.mark.parametrize("folder", COMMITTED, ids=Path.as_posix)
def test_the_committed_results_are_verified(folder: Path, request: pytest.FixtureRequest) -> None:
    corpus_file = request.getfixturevalue(FILES[folder.parts[0]])
    report = audit(BENCHMARKS / folder, corpus_files=[corpus_file], environ={}, rerun_control=True)
    assert [(check.code, check.observed) for check in report.checks if check.status != "pass"] == []
    assert report.verdict.label == "VERIFIED"


def test_longmemeval_is_derived_again_and_an_added_gold_id_is_seen(
    longmemeval_file: Path, longmemeval_bm25: tuple[tuple[str, ...], Path], tmp_path: Path
) -> None:
    shutil.copytree(longmemeval_bm25[1], tmp_path / "result")
    # An item of the registered file is missing, so the pin and the counts fail; everything else passes.
    expected = {"RB-DATASET-PINNED", "RB-CORPUS", "RB-COMMITTED"}
    assert failed_checks(tmp_path, longmemeval_file).keys() == expected
    path = tmp_path / "result" / "raw_retrievals.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    more = next(hit["id"] for hit in rows[7]["hits"] if hit["id"] not in rows[7]["gold"])
    rows[7]["gold"].append(more)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert rows[7]["question_id"] in failed_checks(tmp_path, longmemeval_file)["RB-GOLD"]


def failed_checks(folder: Path, file: Path) -> dict[str, str]:
    done = recallbench("audit", "result", "--corpus-file", file, "--json", cwd=folder)
    (report,) = json.loads(done.stdout)["audits"]
    return {check["code"]: check["observed"] for check in report["checks"] if check["status"] != "pass"}
