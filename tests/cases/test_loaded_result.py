"""Result folders in Python: loaded, shown, compared, side by side."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import recallbench
from recallbench.errors import InputError, UsageError
from recallbench.results.result import Result

RESULTS = Path(__file__).parents[1] / "golden" / "results"


@pytest.fixture(scope="module")
def bm25() -> recallbench.LoadedResult:
    return recallbench.load(RESULTS / "canary_bm25")


@pytest.fixture(scope="module")
def exact() -> recallbench.LoadedResult:
    return recallbench.load(str(RESULTS / "canary_exact"))


def test_a_loaded_result_has_what_a_notebook_asks_for(bm25: recallbench.LoadedResult) -> None:
    assert isinstance(bm25, Result)
    assert [part.protocol_name for part in bm25.headline] == ["recall@10", "MRR"]
    assert bm25.estimates["recall_any@10"] == bm25.headline[0].estimate == bm25.estimate("recall_any@10")
    assert bm25.value("recall_any@10") == pytest.approx(bm25.headline[0].estimate.value)
    assert bm25.estimates["recall_any@5"].value == pytest.approx(bm25.value("recall_any@5"))
    # What was not stated is worked out from the rankings.
    assert "recall_any@7" not in bm25.estimates
    between = bm25.estimate("recall_any@7")
    assert between.value == pytest.approx(bm25.value("recall_any@7"))
    assert bm25.value("recall_any@5") <= bm25.value("recall_any@7") <= bm25.value("recall_any@10")
    assert set(bm25.by_kind) == set(bm25.rankings.kinds)
    assert bm25.verdict.startswith("UNVERIFIED")
    assert any(deviation.startswith("store: ") for deviation in bm25.deviations)
    assert len(bm25.latencies) > 0
    with pytest.raises(UsageError, match="k = 51 is beyond the rankings"):
        bm25.value("recall_any@51")


def test_a_prompt_and_a_notebook_show_sentence_measures_and_picture(bm25: recallbench.LoadedResult) -> None:
    shown = repr(bm25).splitlines()
    assert shown[0].startswith("bm25 finds something relevant among its first 10 hits for ")
    assert shown[2].split() == ["measure", "value", "95%", "interval", "chance", "ceiling", "BM25", "saturated"]
    assert shown[-1] == str(RESULTS / "canary_bm25")
    markup = bm25._repr_html_()
    assert '<img alt="recall_any@1 ' in markup
    assert '<th scope="row">recall_any@10</th>' in markup
    plot = bm25.plot()
    assert plot is not None
    assert plot.title == "Recall against k, beside BM25, chance and ceiling"


def test_a_data_frame_has_a_row_for_each_question(bm25: recallbench.LoadedResult) -> None:
    frame = bm25.to_pandas()
    assert list(frame.columns[:4]) == ["question", "kind", "relevant", "ranked"]
    assert frame["recall_any@10"].mean() == pytest.approx(bm25.value("recall_any@10"))
    assert list(frame["question"]) == list(bm25.rankings.questions)


def test_a_labelled_set_has_questions_without_a_value() -> None:
    team = recallbench.load(RESULTS / "team_bm25")
    unanswerable = ~team.rankings.answerable
    assert unanswerable.any()
    assert [math.isnan(value) for value in team.to_pandas()["recall_any@10"]] == unanswerable.tolist()


def test_two_results_are_compared_question_by_question(
    bm25: recallbench.LoadedResult, exact: recallbench.LoadedResult
) -> None:
    with pytest.raises(UsageError, match="differ in embedder, which was not allowed"):
        bm25.compare(exact, allow="store")
    change = bm25.compare(RESULTS / "canary_exact", allow=["embedder", "store"], measures="recall_any@10")
    part = change.document.measures[0]
    assert (part.first, part.second) == pytest.approx((exact.value("recall_any@10"), bm25.value("recall_any@10")))
    assert "they differ in store: exact against bm25" in repr(change)
    assert "<p>they differ in store: exact against bm25</p>" in change._repr_html_()
    assert bm25.compare(bm25).document.identical


def test_results_stand_side_by_side(bm25: recallbench.LoadedResult, exact: recallbench.LoadedResult) -> None:
    both = recallbench.table({"lexical": bm25, "vectors": RESULTS / "canary_exact"})
    assert set(both) == {"lexical", "vectors"}
    assert both["vectors"].value("mrr@50") == exact.value("mrr@50")
    assert both.standings.measures == ["recall_any@10", "mrr@50"]
    assert [control.name for control in both.standings.controls] == ["ceiling", "BM25", "chance"]
    assert both.best == max(both, key=lambda name: both[name].value("recall_any@10"))
    listed = recallbench.table([RESULTS / "canary_bm25", RESULTS / "team_bm25"], "mrr@10")
    assert list(listed.letters) == [str(RESULTS / "canary_bm25")]
    assert [part.name for part in listed.standings.apart] == [str(RESULTS / "team_bm25")]
    assert "dataset: " in repr(listed)


def test_reports_stand_side_by_side_and_apart() -> None:
    def report(k: int, *ids: str) -> recallbench.Report:
        return recallbench.evaluate([(f"q{n}", ["d1"]) for n in range(9)], lambda query, k: list(ids)[:k], k=k)

    three = recallbench.table({"first": report(2, "d1"), "second": report(2, "x", "d1"), "deep": report(3, "d1")})
    assert three.letters == {"first": "a", "second": "a"}
    assert [(part.name, part.reason) for part in three.standings.apart] == [("deep", "k: 2 against 3")]
    by_rank = recallbench.table(three, ["mrr@2"])
    # Nine cases, all of one sign: p = 2 / 2^9.
    assert by_rank.letters == {"first": "a", "second": "b"}
    other = recallbench.evaluate([(f"q{n}", ["d2"]) for n in range(9)], lambda query, k: ["d2"], k=2)
    apart = recallbench.table({"first": report(2, "d1"), "other": other}).standings.apart
    assert apart[0].reason.startswith("cases: ")


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({}, "there is nothing to show"),
        ([], "there is nothing to show"),
        ("results", "a table is of several"),
        ({"a": 3}, "this has no place in a table"),
    ],
)
def test_what_has_no_place_in_a_table_is_refused(systems: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        recallbench.table(systems)
    with pytest.raises(UsageError, match="measures name none"):
        recallbench.table([RESULTS / "canary_bm25"], [])


def test_a_folder_that_is_no_result_is_named(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere", RESULTS / "blocked"):
        with pytest.raises(InputError, match=folder.name):
            recallbench.load(folder)
