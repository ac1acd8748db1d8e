"""Cases in every form that `evaluate` takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas
import pytest

import recallbench
from recallbench import Case
from recallbench.cases.case_source import Source
from recallbench.errors import InputError, RecallBenchError

ROWS = [
    {"query": "work?", "relevant": ["acme"], "kind": "fact", "tenant": "t1"},
    {"query": "plan?", "relevant": {"q3": 2, "acme": 0}, "kind": "plan", "tenant": None},
]
RANKED = {"work?": ["acme", "x"], "plan?": ["x", "q3"]}


def evaluated(source: Source) -> recallbench.Report:
    return recallbench.evaluate(source, lambda query, k: RANKED[query][:k], k=2)


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        [Case("work?", ["acme"], kind="fact", labels={"tenant": "t1"}), ROWS[1]],
        {"work?": ROWS[0], "plan?": ROWS[1]},
        pandas.DataFrame(ROWS),
        (row for row in ROWS),
    ],
    ids=["dicts", "mixed", "by query", "DataFrame", "generator"],
)
def test_rows_of_fields_are_cases(source: Source) -> None:
    report = evaluated(source)
    # plan: the one id with a grade above 0 is second, 1 / log2(3).
    assert [row.values["mrr@2"] for row in report.rows] == [1.0, 0.5]
    assert [(case.kind, dict(case.labels)) for case in report.cases] == [("fact", {"tenant": "t1"}), ("plan", {})]
    assert report.cases[1].grades == {"q3": 2.0, "acme": 0.0}


@pytest.mark.parametrize(
    "source",
    [
        [("work?", ["acme"]), ("plan?", ["q3"])],
        [["work?", ("acme",)], ["plan?", {"q3": 1}]],
        {"work?": ["acme"], "plan?": {"q3": 1}},
        zip(["work?", "plan?"], [["acme"], ["q3"]], strict=True),
    ],
    ids=["tuples", "lists", "dictionary", "zip"],
)
def test_pairs_of_query_and_ids_are_cases(source: Source) -> None:
    assert [row.values["mrr@2"] for row in evaluated(source).rows] == [1.0, 0.5]


def test_a_gold_file_is_a_source_of_cases(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    rows: list[Mapping[str, Any]] = [*ROWS, {"query": "none?", "relevant": {"acme": 0}}]
    gold.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for path in (gold, str(gold), tmp_path):
        report = evaluated(path)
        assert (len(report), report.mrr) == (2, 0.75)
        assert "1 query whose judgements are all of grade 0 passed over" in report.table()
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        evaluated(tmp_path / "nowhere.jsonl")


def test_a_folder_of_beir_is_a_source_of_cases(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "acme", "text": "a"}\n{"_id": "q3", "text": "b"}\n')
    queries = '{"_id": "1", "text": "work?"}\n{"_id": "2", "text": "plan?"}\n{"_id": "3", "text": "unjudged?"}\n'
    (tmp_path / "queries.jsonl").write_text(queries)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tacme\t1\n2\tq3\t2\n")
    report = evaluated(tmp_path)
    assert [(case.id, case.query, case.grades) for case in report.cases] == [
        ("1", "work?", {"acme": 1.0}), ("2", "plan?", {"q3": 2.0}),
    ]  # fmt: skip
    assert report.mrr == 0.75
    with pytest.raises(InputError, match=r"qrels|queries\.jsonl|corpus\.jsonl"):
        evaluated(tmp_path / "qrels")


def test_a_data_frame_may_have_a_row_for_each_relevant_id() -> None:
    long = pandas.DataFrame(
        {
            "query": ["work?", "plan?", "plan?", "none?"],
            "relevant": ["acme", "q3", "acme", None],
            "grade": [1, 2, 0, None],
            "kind": ["fact", "plan", "plan", "abstention"],
        }
    )
    graded = recallbench.evaluate(long, lambda query, k: RANKED.get(query, [])[:k], k=2)
    assert [case.grades for case in graded.cases] == [{"acme": 1.0}, {"q3": 2.0, "acme": 0.0}, {}]
    assert [tuple(case.relevant) for case in graded.cases] == [("acme",), ("q3",), ()]
    assert all("grade" not in case.labels for case in graded.cases)
    numbers = pandas.DataFrame({"qid": [7, 7, 8], "query": ["work?", "work?", "plan?"], "relevant": [1, 2, 3]})
    plain = recallbench.evaluate(numbers, lambda query, k: [3], k=2)
    assert [(case.name, case.relevant, case.grades) for case in plain.cases] == [("7", (1, 2), None), ("8", (3,), None)]


def test_ids_of_queries_may_be_named_as_in_files() -> None:
    for name in ("id", "_id", "qid", "query_id"):
        report = evaluated(
            pandas.DataFrame({name: [1, 2], "query": ["work?", "plan?"], "relevant": [["acme"], ["q3"]]})
        )
        assert [row.case.name for row in report.rows] == ["1", "2"]
    assert evaluated([{"_id": "work?", "relevant": ["acme"]}]).cases[0].query == "work?"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "nothing to evaluate"),
        (pandas.DataFrame({"query": [], "relevant": []}), "nothing to evaluate"),
        (7, "these are no cases"),
        ([ROWS[0], "plan?"], "entry 1 of the cases is not a case"),
        ([("work?",)], "entry 0 of the cases is not a case"),
        ([ROWS[0], ROWS[0]], "case `work\\?`: a query that two cases have"),
        ([{"query": "work?", "relevant": "acme"}], "`relevant` is a collection of ids"),
        ([{"query": "work?", "relevant": ["acme"], "labels": "t1"}], "`labels` is not a mapping"),
        (ROWS[0], "a single case"),
        ([{"relevant": ["acme"]}], "a case without a query"),
        (pandas.DataFrame({"querry": ["work?"], "relevant": [["acme"]]}), "may mean 'query'"),
    ],
)
def test_what_is_no_case_is_refused(source: Any, message: str) -> None:
    with pytest.raises(RecallBenchError, match=message):
        evaluated(source)


def test_a_misspelt_field_is_named() -> None:
    with pytest.raises(InputError) as caught:
        evaluated([{"query": "work?", "relevent": ["acme"]}])
    assert caught.value.found == "none of these; the unknown field 'relevent' may mean 'relevant'"
