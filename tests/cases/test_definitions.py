"""Other definitions of measures: chosen by an option, and named wherever a figure stands."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recallbench
from recallbench import BelowThreshold, Case
from recallbench.cases import baseline
from recallbench.cases.definitions import Definitions
from recallbench.errors import UsageError

CASES = [
    Case("short", ["a"], id="short"),
    Case("long", ["a", "b"], id="long"),
    Case("graded", {"a": 3, "b": 1}, id="graded"),
    Case("never", kind="abstention", id="never"),
]
RANKED = {"short": ["a"], "long": ["a", "x", "y"], "graded": ["b", "a"], "never": ["x"]}
GRADED = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))


def report(**options: Any) -> recallbench.Report:
    return recallbench.evaluate(CASES, lambda query, k: RANKED[query][:k], k=4, **options)


def timed(*ms: float | None, **options: Any) -> recallbench.Report:
    """Return a report whose calls took these milliseconds."""
    measured = recallbench.evaluate([Case(str(n), ["a"]) for n in range(len(ms))], lambda query, k: ["a"], **options)
    return replace(
        measured, answers=tuple(replace(answer, ms=at) for answer, at in zip(measured.answers, ms, strict=True))
    )


def test_precision_over_the_retrieved_hits() -> None:
    usual, over_retrieved = report(), report(precision="retrieved")
    assert usual.precision == pytest.approx((1 / 4 + 1 / 4 + 2 / 4) / 3)
    assert over_retrieved.precision == pytest.approx((1 / 1 + 1 / 3 + 2 / 2) / 3)
    # f1: 2h / (what came back + gold)
    assert usual.f1 == pytest.approx((2 / 5 + 2 / 6 + 4 / 6) / 3)
    assert over_retrieved.f1 == pytest.approx((2 / 2 + 2 / 5 + 4 / 4) / 3)
    p, r = 7 / 9, (1 + 1 / 2 + 1) / 3
    assert over_retrieved.f1_of_means == pytest.approx(2 * p * r / (p + r))
    assert (over_retrieved.recall, over_retrieved.ndcg, over_retrieved.mrr) == (usual.recall, usual.ndcg, usual.mrr)
    assert over_retrieved.value("precision@4(retrieved)") == over_retrieved.precision
    assert over_retrieved.value("precision@4") == usual.precision
    assert over_retrieved.rows[1].values["precision@4(retrieved)"] == pytest.approx(1 / 3)


def test_ndcg_over_graded_cases_alone() -> None:
    usual, graded = report(), report(ndcg="graded")
    assert usual.ndcg == pytest.approx((1 + 1 / (1 + 1 / math.log2(3)) + GRADED) / 3)
    assert graded.ndcg == pytest.approx(GRADED)
    assert (graded.n, graded.estimate("ndcg@4(graded)").n, graded.ceiling("ndcg@4(graded)")) == (3, 1, 1.0)
    assert [row.values.get("ndcg@4(graded)") for row in graded.rows] == [None, None, pytest.approx(GRADED), None]
    assert "ndcg@4(graded) is over the 1 of 3 cases that have grades" in graded.table()
    plain = recallbench.evaluate([CASES[0]], lambda query, k: ["a"], ndcg="graded")
    assert math.isnan(plain.ndcg)
    assert plain.as_dict()["ndcg@k"] is None
    with pytest.raises(recallbench.BelowThreshold, match=r"ndcg@10\(graded\): no case has grades; 0\.5 required"):
        plain.check(ndcg=0.5)
    assert "nan" not in (plain.table() + plain.table("json") + plain.table("csv"))


def test_every_output_names_its_definitions() -> None:
    chosen_report = report(precision="retrieved", ndcg="graded", percentiles="index")
    names = ("precision@4(retrieved)", "ndcg@4(graded)", "f1@4(retrieved)", "f1_of_means@4(retrieved)")
    chosen = {"precision": "retrieved", "ndcg": "graded", "percentiles": "index"}
    assert all(name in str(chosen_report) for name in names)
    heading = "4 cases, k = 4, matching: id, definitions: precision retrieved, ndcg graded, percentiles index"
    for text in (
        chosen_report.table(),
        chosen_report.table("markdown"),
        repr(chosen_report),
        chosen_report._repr_html_(),
    ):
        assert heading in text
        assert all(name in text for name in names)
        assert "precision@4 " not in text
    document = json.loads(chosen_report.table("json"))
    assert document["definitions"] == chosen
    assert set(names) < set(document["mean"])
    assert document["latency_ms"]["percentiles"] == "index"
    header = next(csv.reader(io.StringIO(chosen_report.table("csv"))))
    assert header[2:6] == ["recall_frac@4", "precision@4(retrieved)", "mrr", "ndcg@4(graded)"]
    assert set(names) - {"f1_of_means@4(retrieved)"} < set(chosen_report.to_pandas().columns)
    assert chosen_report.as_dict()["params"].items() >= chosen.items()
    ks = chosen_report.tradeoff((1, 4))
    assert ks.table().columns[1:5] == (
        "recall_frac@k",
        "precision@k(retrieved)",
        "f1@k(retrieved)",
        "f1_of_means@k(retrieved)",
    )
    assert ks.document()["points"][1]["precision@4(retrieved)"] == pytest.approx(7 / 9)
    assert ks.sentence().startswith("k = 4 has the highest f1@k(retrieved) ")


def test_the_usual_definitions_are_not_named() -> None:
    usual = report()
    assert usual.table().startswith("4 cases, k = 4, matching: id\n")
    assert str(usual).startswith("recall_frac@4 0.8333, precision@4 0.3333, mrr@4 1.0000, ndcg@4 ")
    assert usual.as_dict()["params"].items() >= {"precision": "k", "ndcg": "all", "percentiles": "nearest-rank"}.items()


@pytest.mark.parametrize("wrong", [{"precision": "k "}, {"ndcg": "Graded"}, {"percentiles": "hazen"}, {"precision": 5}])
def test_an_unknown_definition_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"no such definition of {next(iter(wrong))}") as caught:
        report(**wrong)
    assert caught.value.expected in (
        "'k' or 'retrieved'", "'all' or 'graded'", "'nearest-rank' or 'index' or 'linear'",
    )  # fmt: skip


def test_percentiles_by_nearest_rank_and_by_index() -> None:
    twenty = [float(n) for n in range(20, 0, -1)]
    usual, by_index = timed(*twenty), timed(*twenty, percentiles="index")
    assert (usual.latency_p50_ms, usual.latency_p95_ms) == (10.0, 19.0)
    assert (by_index.latency_p50_ms, by_index.latency_p95_ms) == (11.0, 20.0)  # sorted[10], sorted[19]
    assert "latency: p50 10 ms, p95 19 ms of 20 calls (percentiles: nearest rank)" in usual.table()
    assert "latency: p50 11 ms, p95 20 ms of 20 calls (percentiles: sorted[int(share * n)])" in by_index.table()
    assert usual.compare(by_index).parts[0].difference == 0.0
    untimed = timed(None, None, percentiles="index")
    assert (untimed.latencies, untimed.latency_p95_ms) == ((), None)
    assert "latency" not in untimed.table() + untimed.table("json")
    assert untimed.table("csv").splitlines()[0].endswith(",matching")
    assert untimed.by(lambda case: case.query)["0"].latency_p50_ms is None


def test_every_report_has_the_times_of_its_calls() -> None:
    three = timed(3.0, None, 1.5)
    assert three.latencies == (3.0, 1.5)
    assert [row.ms for row in three.rows] == [3.0, None, 1.5]
    document = json.loads(three.table("json"))
    assert document["latency_ms"] == {"timed": 2, "p50": 1.5, "p95": 3.0, "percentiles": "nearest-rank"}
    assert [row.get("ms") for row in document["rows"]] == [3.0, None, 1.5]
    assert [row["ms"] for row in csv.DictReader(io.StringIO(three.table("csv")))] == ["3.0", "", "1.5", ""]
    assert three.to_pandas()["ms"].tolist()[::2] == [3.0, 1.5]
    assert "latency: p50 1.5 ms, p95 3 ms of 2 calls" in three._repr_html_()


def test_calls_are_timed_however_they_are_made() -> None:
    def slow(query: str, k: int) -> list[str]:
        time.sleep(0.02)
        return ["a"]

    async def waiting(query: str, k: int) -> list[str]:
        await asyncio.sleep(0.02)
        return ["a"]

    def lazy(query: str, k: int) -> Any:
        time.sleep(0.01)
        yield "a"
        time.sleep(0.01)

    cases = [Case("one", ["a"]), Case("two", ["a"])]
    for retrieve in (slow, waiting, lazy):
        for concurrency in (1, 2):
            timed_report = recallbench.evaluate(cases, retrieve, k=2, concurrency=concurrency)
            assert [20 <= latency < 2000 for latency in timed_report.latencies] == [True, True]

    def failing(query: str, k: int) -> list[str]:
        if query == "one":
            raise RuntimeError
        return ["a"]

    # The time of a failure is no latency.
    assert len(recallbench.evaluate(cases, failing, keep_going=True).latencies) == 1


def test_as_dict_has_the_keys_of_other_harnesses() -> None:
    figures = report(precision="retrieved").as_dict()
    assert list(figures) == [
        "params", "precision@k", "recall@k", "f1@k", "ndcg@k", "precision@4", "recall@4", "f1@4", "ndcg@4", "mrr",
        "latency_p50_ms", "latency_p95_ms", "names",
    ]  # fmt: skip
    assert figures["precision@k"] == figures["precision@4"] == pytest.approx(7 / 9)
    assert figures["recall@k"] == figures["recall@4"] == pytest.approx(5 / 6)
    assert figures["mrr"] == 1.0
    assert 0 < figures["latency_p50_ms"] <= figures["latency_p95_ms"]
    assert figures["params"] == {
        "k": 4, "depth": 4, "cases": 4, "n": 3, "failed": 0, "matching": "id", "precision": "retrieved", "ndcg": "all",
        "percentiles": "nearest-rank", "timed": 4, "recallbench_version": recallbench.__version__,
    }  # fmt: skip
    assert figures["names"] == {
        "precision@k": "precision@4(retrieved)", "recall@k": "recall_frac@4", "f1@k": "f1@4(retrieved)",
        "ndcg@k": "ndcg@4", "mrr": "mrr@4", "latency_p50_ms": "nearest rank", "latency_p95_ms": "nearest rank",
    }  # fmt: skip
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    nothing = recallbench.evaluate([Case("never", kind="abstention")], lambda query, k: []).as_dict()
    assert (nothing["recall@k"], nothing["mrr"], nothing["params"]["n"]) == (None, None, 0)


def test_recommended_thresholds_by_hand() -> None:
    """The recommended precision is over the retrieved hits, whatever the report's own is over."""
    with pytest.raises(BelowThreshold) as caught:
        report().check("recommended")
    assert str(caught.value).splitlines() == [
        "2 of 4 thresholds missed over 3 cases (matching: id)",
        "  precision@4(retrieved) is 0.7778, 0.8 required (an oracle reaches 1.0000)",
        f"  ndcg@4 is {report().ndcg:.4f}, 0.85 required (an oracle reaches 1.0000)",
    ]
    assert [(threshold.measure, threshold.required) for threshold in caught.value.held] == [
        ("recall_frac@4", 0.7),
        ("mrr@4", 0.9),
    ]
    # Some replaced by other figures, and another one added.
    report(precision="retrieved").check("recommended", precision=0.7, ndcg=0.8, f1=0.7)
    with pytest.raises(BelowThreshold, match=r"2 of 4 thresholds missed(?s:.*)precision@4 is 0\.3333, 0\.7 required"):
        report().check("recommended", precision=0.7)  # in place of the recommended one, which is precision@4(retrieved)
    with pytest.raises(UsageError, match="no thresholds of that name") as wrong:
        report().check("recomended")  # type: ignore[arg-type]
    assert wrong.value.expected == '"recommended", a rule as "recall >= 0.7", or {measure: figure}'


def test_a_verbose_check_prints_the_thresholds_that_hold(capsys: pytest.CaptureFixture[str]) -> None:
    report().check(recall=0.8, mrr=0.9)
    assert capsys.readouterr().out == ""
    report().check({"recall_any@1": 1.0}, verbose=True, recall=0.8)
    assert capsys.readouterr().out.splitlines() == [
        "all 2 thresholds hold over 3 cases (matching: id)",
        "  recall_any@1 is 1.0000, 1 required (an oracle reaches 1.0000)",
        "  recall_frac@4 is 0.8333, 0.8 required (an oracle reaches 1.0000)",
    ]
    report().check(mrr=0.9, verbose=True)
    assert capsys.readouterr().out.startswith("the one threshold holds over 3 cases")


def test_a_threshold_out_of_reach_hides_none_of_the_others() -> None:
    with pytest.raises(BelowThreshold) as caught:
        report().check(precision=0.9, recall=0.8, ndcg=0.99, verbose=True)
    assert str(caught.value).splitlines()[1:4] == [
        "  precision@4 is 0.3333, 0.9 required (an oracle reaches 0.4167: out of reach on these cases)",
        f"  ndcg@4 is {report().ndcg:.4f}, 0.99 required (an oracle reaches 1.0000)",
        "  holds: recall_frac@4 is 0.8333, 0.8 required (an oracle reaches 1.0000)",
    ]


def test_reports_of_other_definitions_are_not_compared() -> None:
    with pytest.raises(UsageError, match="numbers of different definitions") as caught:
        report().compare(report(precision="retrieved"))
    assert caught.value.expected == "definitions: precision retrieved, as before"
    assert caught.value.found == "definitions: the usual ones"
    change = report(ndcg="graded", precision="retrieved").compare(report(ndcg="graded", precision="retrieved"))
    assert [(part.measure, part.n) for part in change.parts] == [
        ("recall_frac@4", 3), ("precision@4(retrieved)", 3), ("mrr@4", 3), ("ndcg@4(graded)", 1),
    ]  # fmt: skip
    assert change.after[3] == pytest.approx(GRADED)


def test_a_baseline_keeps_to_its_definitions(tmp_path: Path) -> None:
    stored = baseline.baseline_of(report(ndcg="graded"))
    baseline.write(stored, tmp_path / "kept.json")
    read_back = baseline.read(tmp_path / "kept.json")
    assert [case.values[3:] for case in read_back.cases] == [[None], [None], [pytest.approx(GRADED)], []]
    comparison = baseline.compare(report(ndcg="graded"), read_back, None, strict=True)
    assert (comparison.parts[3].measure, comparison.parts[3].n, comparison.after[3]) == (
        "ndcg@4(graded)",
        1,
        pytest.approx(GRADED),
    )
    with pytest.raises(UsageError, match="the baseline has no ndcg@4") as caught:
        baseline.compare(report(), read_back, None, strict=False)
    assert "--recallbench-update" in caught.value.remedy


def test_only_unusual_definitions_are_written_out() -> None:
    assert str(Definitions()) == ""
    assert str(Definitions(percentiles="index")) == "percentiles index"
