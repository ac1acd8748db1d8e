from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas
import pytest

import recallbench
from recallbench import BelowThreshold, Case
from recallbench.errors import InputError, UsageError

CASES = [
    Case("work?", ["acme"], kind="fact", labels={"tenant": "t1"}, id="q1"),
    Case("allergy?", ["shellfish"], kind="fact", labels={"tenant": "t2"}, id="q2"),
    Case("plan?", {"q3": 3, "acme": 1}, kind="plan", labels={"tenant": "t1"}, id="q3"),
]
RANKED = {"work?": ["acme", "x", "y"], "allergy?": ["x", "y", "shellfish"], "plan?": ["acme", "x", "q3"]}


@pytest.fixture
def report() -> recallbench.Report:
    return recallbench.evaluate(CASES, lambda q, k: RANKED[q][:k], k=3)


def test_grades_feed_ndcg(report: recallbench.Report) -> None:
    # (1 + 3/2) / (3 + 1/log2(3))
    assert report.rows[2].values["ndcg@3"] == pytest.approx(2.5 / 3.6309297536)


def test_slices_have_their_own_means(report: recallbench.Report) -> None:
    kinds = report.by("kind")
    assert {name: part.n for name, part in kinds.items()} == {"fact": 2, "plan": 1}
    assert kinds["fact"].mrr == pytest.approx(2 / 3)
    assert kinds["plan"].precision == pytest.approx(2 / 3)
    assert [case.id for case in kinds["fact"].cases] == ["q1", "q2"]
    assert list(report.by("tenant")) == ["t1", "t2"]
    assert list(report.by(lambda case: len(case.relevant))) == ["1", "2"]
    # A set's own mean, not the mean of its slices.
    fact = kinds["fact"]
    assert fact.f1_of_means == pytest.approx(2 * fact.precision * fact.recall / (fact.precision + fact.recall))
    with pytest.raises(UsageError, match="no query has a field colour"):
        report.by("colour")


def test_a_row_for_each_case(report: recallbench.Report) -> None:
    row = report.rows[1]
    assert (row.case.id, row.ranked, row.failure) == ("q2", ("x", "y", "shellfish"), None)
    third = pytest.approx(1 / 3)
    assert row.values == {"recall_frac@3": 1.0, "precision@3": third, "mrr@3": third, "ndcg@3": 0.5, "f1@3": 0.5}


def test_the_table_by_hand(report: recallbench.Report) -> None:
    assert report.table().splitlines()[:7] == [
        "3 cases, k = 3, matching: id",
        "",
        "query  kind  recall_frac@3  precision@3   mrr  ndcg@3",
        "q1     fact           1.00         0.33  1.00    1.00",
        "q2     fact           1.00         0.33  0.33    0.50",
        "q3     plan           1.00         0.67  1.00    0.69",
        "MEAN                  1.00         0.44  0.78    0.73",
    ]


def test_every_form_holds_the_same_figures(report: recallbench.Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report.table("csv", by="kind"))))
    assert [row["query"] for row in rows] == ["q1", "q2", "q3", "MEAN kind=fact", "MEAN kind=plan", "MEAN"]
    document = json.loads(report.table("json", by="kind"))
    for name in ("recall_frac@3", "precision@3", "ndcg@3"):
        assert float(rows[-1][name]) == document["mean"][name] == report.value(name)
        assert float(rows[3][name]) == document["by"]["kind"]["fact"][name]
    assert float(rows[-1]["mrr"]) == document["mean"]["mrr@3"] == report.mrr
    assert {row["matching"] for row in rows} == {document["matching"]} == {"id"}
    markdown = report.table("markdown", by="kind").splitlines()
    assert markdown[2] == "| query | kind | recall_frac@3 | precision@3 | mrr | ndcg@3 |"
    assert "| MEAN |  | 1.00 | 0.44 | 0.78 | 0.73 |" in markdown
    with pytest.raises(UsageError):
        report.table("pdf")  # type: ignore[arg-type]


def test_prompt_and_notebook_show_a_short_escaped_table() -> None:
    cases = [Case(f"<b>{n}</b> | x", ["a"]) for n in range(25)]
    report = recallbench.evaluate(cases, lambda q, k: ["a"], 1)
    assert "… 15 more" in repr(report)
    assert repr(report).count("<b>") == 10
    shown = report._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;0" in shown
    assert shown.count("<table>") == 2
    assert "&lt;b>0&lt;/b> \\| x" in report.table("markdown")
    assert len(report.table().splitlines()) > 25


def test_the_data_frame_has_a_row_per_case(report: recallbench.Report) -> None:
    frame = report.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == [
        "case", "query", "kind", "tenant", "relevant", "ranked",
        "recall_frac@3", "precision@3", "mrr@3", "ndcg@3", "f1@3", "ms", "failure", "matching",
    ]  # fmt: skip
    assert frame["ndcg@3"].mean() == pytest.approx(report.ndcg)
    assert frame.groupby("kind")["mrr@3"].mean()["fact"] == pytest.approx(2 / 3)


def test_without_pandas_the_command_that_installs_it_is_named(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import recallbench\n"
        "report = recallbench.evaluate([recallbench.Case('q', ['a'])], lambda q, k: ['a'], 1)\n"
        "try: report.to_pandas()\n"
        "except recallbench.RecallBenchError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "pip install -e '.[pandas]'" in done.stdout


def test_a_check_that_holds_says_nothing(report: recallbench.Report) -> None:
    report.check(recall=1.0, precision=0.44, mrr=7 / 9, f1=0.5, f1_of_means=0.6)
    report.check({"recall_any@1": 0.6, "ndcg@3": 0.7})


def test_a_single_error_lists_every_threshold_missed() -> None:
    cases = [Case(f"q{n}", [f"a{n}", f"b{n}"]) for n in range(4)]
    report = recallbench.evaluate(cases, lambda q, k: [f"a{q[1:]}", *"cdefghijk"], k=10)
    with pytest.raises(BelowThreshold) as caught:
        report.check(precision=0.80, recall=0.70, ndcg=0.85, mrr=0.90)
    assert str(caught.value).splitlines() == [
        "3 of 4 thresholds missed over 4 cases (matching: id)",
        "  precision@10 is 0.1000, 0.8 required (an oracle reaches 0.2000: out of reach on these cases)",
        "  recall_frac@10 is 0.5000, 0.7 required (an oracle reaches 1.0000)",
        "  ndcg@10 is 0.6131, 0.85 required (an oracle reaches 1.0000)",
        "  what to do: what no ranking can reach must be asked at another k, or lower: a case has 2 relevant items on "
        "average, and precision divides by k = 10",
    ]
    assert isinstance(caught.value, AssertionError)
    assert caught.value.exit_code == 1
    assert [shortfall.out_of_reach for shortfall in caught.value.shortfalls] == [True, False, False]


def test_a_report_of_abstention_alone_has_no_recall() -> None:
    report = recallbench.evaluate([Case("never?", kind="abstention")], lambda q, k: [("x", 1.0)], 3)
    assert str(report) == "nothing to find, so no recall over 1 case; matching: id"
    lines = report.table().splitlines()
    assert lines[0] == "1 case, k = 3, matching: id"
    assert "nothing to find, so no recall" in lines
    for text in (repr(report), report.table("markdown"), report.table("json"), report._repr_html_()):
        assert "nan" not in text.lower()
    assert "<p>1 case, " in report._repr_html_()
    with pytest.raises(BelowThreshold) as caught:
        report.check(recall=0.7, mrr=0.5)
    assert str(caught.value).splitlines() == [
        "2 of 2 thresholds missed over 0 cases (matching: id)",
        "  recall_frac@3: nothing to find, so no recall; 0.7 required",
        "  mrr@3: nothing to find, so no recall; 0.5 required",
        "  what to do: check cases that have something to find; report.abstention tells how well the others abstain",
    ]


@pytest.mark.parametrize("wrong", [{}, {"recal": 0.5}, {"recall": 80}, {"recall": "0.5"}, {"recall": float("nan")}])
def test_a_check_that_makes_no_sense(report: recallbench.Report, wrong: dict) -> None:
    with pytest.raises(UsageError):
        report.check(**wrong)
    with pytest.raises(UsageError, match="unknown measure"):
        report.check({"recall@3": 0.5})


def test_intervals_stand_beside_the_means(report: recallbench.Report) -> None:
    estimate = report.estimate("ndcg@3")
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < report.ndcg < estimate.high
    assert (estimate.n, estimate.ceiling, estimate.chance, estimate.saturated) == (3, 1.0, None, None)


def test_k_beyond_the_retrieved_depth_is_refused(report: recallbench.Report) -> None:
    with pytest.raises(UsageError, match="depth 5"):
        report.value("recall_frac@5")


def test_the_tradeoff_by_hand(report: recallbench.Report) -> None:
    tradeoff = report.tradeoff((3, 1, 2))
    assert [point.k for point in tradeoff.points] == [1, 2, 3]
    assert [point.recall_frac for point in tradeoff.points] == [0.5, 0.5, 1.0]
    assert [point.precision for point in tradeoff.points] == [
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
        pytest.approx(4 / 9),
    ]
    # f1@k: (1, 0, 2/3), (2/3, 0, 1/2), (1/2, 1/2, 4/5)
    assert [point.f1 for point in tradeoff.points] == pytest.approx([5 / 9, 7 / 18, 3 / 5])
    assert tradeoff.best.k == 3
    assert tradeoff.document()["best_k_by_f1"] == 3
    for wrong in ((), (0,), (4,)):
        with pytest.raises(UsageError):
            report.tradeoff(wrong)


def test_the_plot_is_the_same_whenever_it_is_drawn(report: recallbench.Report) -> None:
    svg = report.tradeoff((1, 2, 3)).plot().picture()
    assert svg == report.tradeoff((1, 2, 3)).plot().picture()
    assert "best f1@k: k = 3" in svg


def test_a_comparison_counts_wins_and_says_helped_or_hurt() -> None:
    cases = [Case(f"q{n}", ["a"]) for n in range(40)]
    before = recallbench.evaluate(cases, lambda q, k: ["x", "a"] if int(q[1:]) % 4 else ["a"], 2)
    after = recallbench.evaluate(cases, lambda q, k: ["a"], 2)
    change = after.compare(before)
    mrr = next(part for part in change.parts if part.measure == "mrr@2")
    assert (mrr.wins, mrr.ties, mrr.losses) == (30, 10, 0)
    assert mrr.difference == pytest.approx(0.375)
    sentences = "\n".join(change.sentences())
    assert "mrr@2: helped, +0.3750" in sentences
    assert "recall_frac@2: no case changed" in sentences
    assert "mrr@2: hurt, -0.3750" in "\n".join(before.compare(after).sentences())
    with pytest.raises(InputError, match="other cases"):
        after.compare(recallbench.evaluate(cases[:3], lambda q, k: ["a"], 2))
    with pytest.raises(UsageError, match="another k"):
        after.compare(recallbench.evaluate(cases, lambda q, k: ["a"], 1))
    others = [Case(f"q{n}", ["b"]) for n in range(40)]
    with pytest.raises(InputError, match="not the case it was before"):
        after.compare(recallbench.evaluate(others, lambda q, k: ["a"], 2))


def test_an_interval_that_is_too_short_is_marked_in_every_form() -> None:
    """One of ten clusters has all of the fifteen misses."""
    cases = [Case(f"{n}", ["a" if n >= 15 else "b"]) for n in range(500)]
    alone = recallbench.evaluate(cases, lambda q, k: ["a"], 1)
    report = replace(alone, clusters=tuple(str(n // 50) for n in range(500)))
    assert all("*too short*" in text for text in (report.table(), report.table("markdown"), report._repr_html_()))
    assert [estimate["too_short"] for estimate in json.loads(report.table("json"))["estimates"]] == [True] * 6
    assert [estimate["too_short"] for estimate in json.loads(alone.table("json"))["estimates"]] == [False] * 6
