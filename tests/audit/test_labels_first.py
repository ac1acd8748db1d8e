"""The labels are the last section of a report and its page; those that began with them are audited as ever."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audited_copies import audit_copy
from commandline import recallbench
from recallbench.audit.checks.report import _timings
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render
from recallbench.reports.result_page import PAGE, page_of
from recallbench.results.known_texts import texts_of
from recallbench.results.manifest import build
from recallbench.results.result import open_result

LABELS = ("UNVERIFIED", "CANONICAL", "pgmnemo", "Deviations")
NOTE = "Note: only the first 9 questions were asked."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    words = ("run", "canary-locomo", "--store", "bm25", "--limit", "9", "--folder", "result", "-q")
    assert recallbench(*words, cwd=place).returncode == 0
    return place / "result"


@pytest.fixture
def earlier(made: Path, tmp_path: Path) -> Path:
    """Return the same result with the labels first, as it was written until then."""
    folder = tmp_path / "result"
    shutil.copytree(made, folder)
    result, rules = open_result(folder), load()
    subject = AuditSubject(result, rules, facts(result.metrics.corpus.name, rules), (), {})
    run = ReportedRun(subject.environment, _timings(subject))
    (folder / "report.md").write_text(render(subject.metrics, run, labels_last=False))
    (folder / PAGE).write_text(
        page_of(subject.judged_result, subject.metrics, texts_of(subject.rows), labels_last=False)
    )
    (folder / "manifest.json").write_text(build(folder))
    return folder


def failed(folder: Path) -> dict[str, str]:
    return {check.code: check.observed for check in audit_copy(folder).checks if check.status == "fail"}


def test_the_last_section_alone_has_the_labels(made: Path) -> None:
    report = (made / "report.md").read_text()
    before, heading, last = report.partition("\n## Under the protocol\n")
    assert heading
    assert "\n## " not in last
    page_before, page_heading, page_last = (made / PAGE).read_text().partition("<h2>Under the protocol</h2>")
    assert page_heading
    assert "<h2>" not in page_last
    for label in LABELS:
        assert label not in before
        assert label not in page_before
    for told in (last, page_last):
        assert "UNVERIFIED (pending: committed)" in told
        assert "bm25 instead of pgmnemo" in told
    assert "### Gates\n" in last
    assert before.splitlines()[4] == NOTE
    assert f"<p>{NOTE}</p>" in page_before
    assert failed(made) == {}


def test_a_report_that_began_with_the_labels_is_audited_as_ever(earlier: Path) -> None:
    report = (earlier / "report.md").read_text()
    assert report.splitlines()[4].startswith(
        "**Verdict when written: UNVERIFIED (pending: committed)**, not CANONICAL."
    )
    assert "\n## Deviations from the protocol\n" in report
    assert failed(earlier) == {}


@pytest.mark.parametrize("name", ["report.md", PAGE])
def test_a_label_is_forged_in_neither_place(made: Path, earlier: Path, tmp_path: Path, name: str) -> None:
    later = tmp_path / "later"
    shutil.copytree(made, later)
    for folder in (later, earlier):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("not CANONICAL", "CANONICAL"))
        (folder / "manifest.json").write_text(build(folder))
        assert list(failed(folder)) == ["RB-REPORT"]
