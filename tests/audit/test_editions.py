"""Results of an earlier edition of the statistics are audited by it, and no figure of theirs can be forged."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from locomo_mutations import LOCOMO
from mutations import Mutation, digit, metrics, text

from audited_copies import audit_copy
from commandline import recallbench
from labelled_sets import short
from recallbench import __version__
from recallbench.audit.checks.report import _differing_figures
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render, render_without_sentence
from recallbench.reports.result_page import PAGE
from recallbench.results.dataset import read_dataset
from recallbench.results.latency import read_timings
from recallbench.results.manifest import build
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result
from recallbench.scoring.editions import CURRENT, EDITIONS, FIRST


@pytest.fixture(scope="module")
def current(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    words = ("run", "canary-locomo", "--store", "exact", "--embedder", "hash", "--limit", "50", "--folder", "result")
    assert recallbench(*words, "-q", cwd=folder).returncode == 0
    return folder / "result"


@pytest.fixture(scope="module")
def first(current: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the same result as the first edition made it, its report in other words."""
    folder = tmp_path_factory.mktemp("first") / "result"
    shutil.copytree(current, folder)
    metrics = Metrics.model_validate_json((folder / "metrics.json").read_text())
    subject = _subject(folder, metrics.model_copy(update={"statistics_edition": FIRST.number}))
    (folder / "metrics.json").write_text(subject.derived.model_dump_json(indent=1) + "\n")
    report = render_without_sentence(
        subject.derived, ReportedRun(subject.environment, read_timings(subject.folder, subject.environment))
    )
    (folder / PAGE).unlink()
    environment = json.loads((folder / "environment.json").read_text())
    del environment["recallbench_version"]
    (folder / "environment.json").write_text(json.dumps(environment, indent=1) + "\n")
    (folder / "report.md").write_text(report.replace("is the expected value for", "is what one expects of"))
    (folder / "manifest.json").write_text(build(folder))
    return folder


def _subject(folder: Path, metrics: Metrics) -> AuditSubject:
    rules = load()
    return AuditSubject(Result(folder, metrics), rules, facts(metrics.corpus.name, rules), (), {})


def failed_checks(folder: Path) -> dict[str, str]:
    """Return the failed checks but for the missing commit."""
    report = audit_copy(folder)
    return {
        check.code: check.observed for check in report.checks if check.status == "fail" and check.code != "RB-COMMITTED"
    }


def changed(genuine: Path, workspace: Path, mutation: Mutation) -> Path:
    folder = workspace / "result"
    shutil.copytree(genuine, folder)
    mutation.change(folder)
    (folder / "manifest.json").write_text(build(folder))
    return folder


def test_a_result_names_its_edition_and_the_first_did_not(current: Path, first: Path) -> None:
    assert '"statistics_edition": 3,' in (current / "metrics.json").read_text()
    assert "statistics_edition" not in (first / "metrics.json").read_text()
    assert list(EDITIONS) == [1, 2, 3]
    assert EDITIONS[3] is CURRENT


def figures_of(part: Any) -> list[float]:
    if isinstance(part, (dict, list)):
        return [figure for item in (part.values() if isinstance(part, dict) else part) for figure in figures_of(item)]
    return [part] if isinstance(part, float) else []


def test_no_figure_keeps_digits_that_another_processor_may_add_up_otherwise(current: Path, first: Path) -> None:
    """In the first edition only the ends of intervals were rounded; design effects and means were not."""
    scored = ("estimates", "control_bm25", "headline", "denominators")
    documents = [json.loads((folder / "metrics.json").read_text()) for folder in (current, first)]
    figures_by_edition = [figures_of([document[name] for name in scored]) for document in documents]
    long = [[figure for figure in figures if round(figure, 10) != figure] for figures in figures_by_edition]
    assert len(figures_by_edition[0]) > 500
    assert long[0] == []
    assert len(long[1]) > 100


def test_each_result_is_derived_again_by_its_own_edition(current: Path, first: Path) -> None:
    methods = [
        Metrics.model_validate_json((folder / "metrics.json").read_text()).headline[0].estimate.method
        for folder in (current, first)
    ]
    assert methods[0].startswith("jackknife t(")
    assert methods[1].startswith("t(")
    assert failed_checks(current) == failed_checks(first) == {}


def test_a_result_that_states_another_edition_fails(current: Path, first: Path, tmp_path: Path) -> None:
    other = Mutation("as edition 2", "", metrics("statistics_edition", to=2))
    assert {"RB-INTERVALS", "RB-HEADLINE"} <= failed_checks(changed(first, tmp_path / "a", other)).keys()
    assert {"RB-RETRIEVAL", "RB-REPORT"} == failed_checks(changed(current, tmp_path / "c", other)).keys()
    other = Mutation("as edition 1", "", metrics("statistics_edition", to=1))
    assert {"RB-INTERVALS", "RB-HEADLINE"} <= failed_checks(changed(current, tmp_path / "b", other)).keys()


def test_an_edition_that_this_release_does_not_know_is_refused(current: Path, tmp_path: Path) -> None:
    changed(current, tmp_path, Mutation("as edition 4", "", metrics("statistics_edition", to=4)))
    done = recallbench("audit", "result", cwd=tmp_path)
    assert done.returncode == 2
    assert "statistics_edition" in done.stderr


FORGED = (
    *(
        change
        for change in LOCOMO
        if change.code == "RB-REPORT" and change.name.startswith("report") and "encoding" not in change.name
    ),
    Mutation("report's interval", "RB-REPORT", text("report.md", r"0\.[0-9]{4} to 0\.[0-9]{4}", digit)),
    Mutation("report's hash", "RB-REPORT", text("report.md", "sha256 [0-9a-f]{8}", "sha256 0123abcd")),
    Mutation("report's hour", "RB-REPORT", text("report.md", "T[0-9]{2}:", "T25:")),
    Mutation("report's protocol", "RB-REPORT", text("report.md", r"Protocol v1\.0\.0", "Protocol v1.0.1")),
    Mutation("report's gate", "RB-REPORT", text("report.md", r"\| pending \|", "| pass |")),
    Mutation("report's store", "RB-REPORT", text("report.md", "`exact.similarity`", "`exact.nearness`")),
    Mutation("report without a section", "RB-REPORT", text("report.md", r"(?s)## Lexical control.*?(?=\n## )", "")),
    Mutation("report with a figure more", "RB-REPORT", text("report.md", "what an oracle", lambda m: f"0.999, {m[0]}")),
)  # fmt: skip


MARKED = {
    "a heading": "## Confirmed by the maintainers",
    "another heading": "Confirmed by the maintainers\\n===",
    "a tag": "words <h2>Confirmed</h2>",
    "a link": "see [the audit](javascript:alert)",
    "a picture": "![confirmed](https://x.example/badge.svg)",
    "a reference": "[a]: https://x.example",
    "an address": "<https://x.example>",
    "an entity": "&lt;confirmed&gt; &#8203;",
    "a quotation": "> confirmed",
    "hidden words": "con\u200bfirmed",
}
"""None of them has a figure."""


@pytest.mark.parametrize("marked", MARKED.values(), ids=MARKED)
def test_markup_among_words_that_may_differ_is_seen(first: Path, tmp_path: Path, marked: str) -> None:
    line = Mutation("", "RB-REPORT", text("report.md", "^the order, and have none", f"{marked}\\n\\g<0>"))
    failures = failed_checks(changed(first, tmp_path, line))
    assert "markup that no report has" in failures["RB-REPORT"]


def test_the_page_of_another_release_names_the_deviations(current: Path, tmp_path: Path) -> None:
    def of_another_release(folder: Path) -> None:
        for name in ("metrics.json", "environment.json", "report.md", PAGE):
            stated = (folder / name).read_text()
            (folder / name).write_text(
                re.sub(
                    rf"(RecallBench |recallbench_version\": ?\"|<td>){re.escape(__version__)}", r"\g<1>0.0.9", stated
                )
            )

    def without_a_deviation(folder: Path) -> None:
        of_another_release(folder)
        page = (folder / PAGE).read_text()
        (folder / PAGE).write_text(page.replace("exact instead of pgmnemo", "nothing of note"))

    genuine = changed(current, tmp_path / "genuine", Mutation("", "", of_another_release))
    assert failed_checks(genuine) == {}
    forged = changed(current, tmp_path / "forged", Mutation("", "", without_a_deviation))
    assert "the deviation store is not named" in failed_checks(forged)["RB-REPORT"]


def test_a_result_of_this_release_whose_page_was_taken_away_is_seen(current: Path, tmp_path: Path) -> None:
    without = Mutation("", "RB-REPORT", lambda folder: (folder / PAGE).unlink())
    assert failed_checks(changed(current, tmp_path, without)) == {
        "RB-REPORT": "no report.html, which every result of this release has"
    }


@pytest.mark.parametrize("mutation", FORGED, ids=lambda mutation: mutation.name)
def test_a_forged_figure_is_seen_though_words_may_differ(first: Path, tmp_path: Path, mutation: Mutation) -> None:
    assert "is what one expects of" in (first / "report.md").read_text()
    assert "RB-REPORT" in failed_checks(changed(first, tmp_path, mutation))


def test_the_report_of_another_release_may_be_worded_otherwise(current: Path, tmp_path: Path) -> None:
    def released(change: Mutation) -> dict[str, str]:
        def as_another(folder: Path) -> None:
            for name in ("metrics.json", "environment.json", "report.md"):
                text(name, rf'(recallbench_version": "|by RecallBench ){re.escape(__version__)}', r"\g<1>0.0.9")(folder)
            for before in ("<td>", "by RecallBench "):
                text("report.html", f"{before}{re.escape(__version__)}", f"{before}0.0.9")(folder)
            change.change(folder)

        return failed_checks(changed(current, tmp_path / change.name, Mutation("", "", as_another)))

    worded = Mutation("worded", "", text("report.md", "finds something relevant", "gets something useful"))
    assert "RB-REPORT" not in released(worded)
    figure = Mutation("figure", "", text("report.md", r"for [0-9.]+% of", "for 99.9% of"))
    assert "RB-REPORT" in released(figure)
    deviation = Mutation("deviation", "", text("report.md", "exact instead of pgmnemo", "nothing of note"))
    assert "the deviation store is not named" in released(deviation)["RB-REPORT"]


def test_an_earlier_report_need_not_mark_a_short_interval(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = Metrics.model_validate_json((first / "metrics.json").read_text())
    subject = _subject(first, stated)
    row = [
        estimate.model_copy(update={"value": 0.99, "design_effect": 5.1}) for estimate in stated.estimates["overall"]
    ]
    crowded = stated.model_copy(update={"estimates": stated.estimates | {"overall": row}})
    reported_run = ReportedRun(subject.environment, read_timings(subject.folder, subject.environment))
    today = render(crowded, reported_run).split("\n")
    assert "An interval that is *too short*" in "\n".join(today)
    for module in ("cells", "report"):
        monkeypatch.setattr(f"recallbench.reports.{module}.is_too_short", lambda value, effect: False)
    before = render(crowded, reported_run).split("\n")
    assert len(before) < len(today)
    assert list(_differing_figures(before, today)) == []


def test_expected_texts_of_the_first_edition_are_matched_as_they_were(tmp_path: Path) -> None:
    """An exact match then was a document with the expected text alone; today it may hold more."""
    documents = [
        {"_id": "bare", "text": "The ferry leaves at nine!"},
        {"_id": "more", "text": "Yes: the ferry leaves at nine, from the north pier."},
        {"_id": "other", "text": "Rain."},
    ]
    short(tmp_path / "team", [{"query": "When?", "expected": "the ferry leaves at nine"}], documents)
    words = ("evaluate", "team", "--store", "bm25", "--match", "exact", "--folder", "result", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    metrics = Metrics.model_validate_json((tmp_path / "result" / "metrics.json").read_text())
    for edition, gold in ((FIRST, {0}), (CURRENT, {0, 1})):
        stated = metrics.model_copy(update={"statistics_edition": edition.number})
        read = read_dataset(stated, load(), [tmp_path / "team"], {}, Silent())
        assert [question.gold for question in read.questions] == [gold]
