"""The labels are the last section of a report and its page; those that began with them are audited as ever."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from mutations import text

from audited_copies import audit_copy
from commandline import recallbench
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render
from recallbench.reports.result_page import PAGE, page_of
from recallbench.results.known_texts import texts_of
from recallbench.results.latency import read_timings
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
    run = ReportedRun(subject.environment, read_timings(subject.folder, subject.environment))
    (folder / "report.md").write_text(render(subject.metrics, run, early=True))
    (folder / PAGE).write_text(page_of(subject.judged_result, subject.metrics, texts_of(subject.rows), early=True))
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


def test_on_the_canary_the_last_section_speaks_of_no_aim_and_of_gates_in_plain_words(made: Path) -> None:
    last = (made / "report.md").read_text().partition("\n## Under the protocol\n")[2]
    told = "The rules of pgmnemo Recall Benchmark Protocol v1.0.0 were applied where they speak of such data, by "
    for shown in (last, (made / PAGE).read_text()):
        assert told in shown
        assert "Measured under" not in shown
        assert "every gate of the protocol holds but that its files are in git, which no run can know" in shown
    assert "**Verdict" not in last
    gates = {row.split(" | ")[0].removeprefix("| "): row for row in last.splitlines() if row.startswith("| ")}
    assert gates["version pin"] == (
        "| version pin | pass | the store states one version before and after the run, and the one that was asked for, "
        "if any was | bm25 states recallbench-bm25/1 (bm25s 0.3.16), none was asked for |"
    )
    assert "| each question with evidence has a segment that answers it |" in gates["oracle coverage"]
    assert "272" not in last
    assert "pgmnemo_version" not in last


def test_a_report_tells_what_applies_alone(made: Path, earlier: Path) -> None:
    now, before = ((folder / "report.md").read_text() for folder in (made, earlier))
    assert "Band for recall@10: none, not applicable" in before
    assert "Band for" not in now
    assert "| oddities of the file | haystacks with a repeated session id: 0; empty turns: 0; " in before
    assert "| oddities of the file | evidence strings read as their authors meant them: 1; " in now
    assert "; the published file is so, and every run finds the same |" in now
    measures = now.partition("\n## All measures\n")[2].partition("\n## ")[0].splitlines()
    rows = [line for line in measures if line.startswith(("| `mrr@", "| `ndcg@"))]
    assert (len(rows) > 1, {row.split(" | ")[-1] for row in rows}) == (True, {"– |"})
    assert "| reading the corpus | " in now


def test_report_and_page_round_times_alike(made: Path) -> None:
    (row,) = [
        line for line in (made / "report.md").read_text().splitlines() if line.startswith("| end to end | warm |")
    ]
    page = (made / PAGE).read_text()
    for cell in row.strip("| ").split(" | ")[3:]:
        assert f">{cell}</td>" in page


def test_the_last_digit_of_a_time_follows_from_the_file(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    shutil.copytree(made, folder)
    text("report.md", r"(?<=\| asking all questions \| 0\.\d\d)\d", lambda found: str((int(found[0]) + 1) % 10))(folder)
    (folder / "manifest.json").write_text(build(folder))
    assert list(failed(folder)) == ["RB-REPORT"]


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
