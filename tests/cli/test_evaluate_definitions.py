"""Other definitions of measures, grades of 0 and ties in `recallbench score FILE --gold FILE`."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest
import pytrec_eval
from ranking_files import lines, refused, table, write

from commandline import recallbench


def test_depths_of_abstention_alone_give_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "gold.jsonl", lines([{"query": "who is bob", "relevant": [], "ranked": [], "kind": "abstention"}]))
    done = recallbench("evaluate", "--gold", "gold.jsonl", "--ks", "1,3", "--plot", "ks.svg", cwd=tmp_path)
    assert done.returncode == 0
    assert "who is bob" in done.stdout
    assert "no figures at other depths: no case has anything to find, and ks.svg was not drawn" in done.stderr
    done = recallbench("evaluate", "--gold", "gold.jsonl", "--compare", "gold.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    assert "who is bob" in done.stdout
    assert "nothing to compare with gold.jsonl: nothing to find" in done.stderr


def test_other_definitions_by_hand(tmp_path: Path) -> None:
    """By hand: one hit of one that came back, then one of two; the second query is graded, and came in second place."""
    rows = [
        {"query_id": "q1", "relevant": ["a"], "ranked": ["a"], "ms": 3},
        {"query_id": "q2", "relevant": {"b": 2}, "ranked": ["x", "b"], "ms": 5.5},
    ]
    gold = write(tmp_path, "gold.jsonl", lines(rows))
    words = ("--gold", gold, "--k", "5", "--ks", "1,5")
    usual = json.loads("\n".join(table(tmp_path, *words, "--format", "json")))
    assert usual["definitions"] == {"precision": "k", "ndcg": "all", "percentiles": "nearest-rank"}
    assert usual["mean"]["precision@5"] == pytest.approx(0.2)
    assert usual["latency_ms"] == {"timed": 2, "p50": 3.0, "p95": 5.5, "percentiles": "nearest-rank"}
    schools = ("--precision", "retrieved", "--ndcg", "graded", "--percentiles", "index")
    document = json.loads("\n".join(table(tmp_path, *words, *schools, "--format", "json")))
    assert document["definitions"] == {"precision": "retrieved", "ndcg": "graded", "percentiles": "index"}
    assert document["mean"] == pytest.approx({
        "recall_frac@5": 1.0, "precision@5(retrieved)": 0.75, "mrr@5": 0.75, "ndcg@5(graded)": 1 / math.log2(3),
        "f1@5(retrieved)": (1 + 2 / 3) / 2, "f1_of_means@5(retrieved)": 2 * 0.75 / 1.75,
    })  # fmt: skip
    assert [estimate["n"] for estimate in document["estimates"]] == [2, 2, 2, 1, 2, 2]
    assert document["latency_ms"]["p50"] == 5.5
    assert document["ks"]["points"][0]["precision@1(retrieved)"] == 0.5
    printed = table(tmp_path, *words, *schools)
    assert printed[0] == (
        "2 cases, k = 5, matching: id, definitions: precision retrieved, ndcg graded, percentiles index"
    )
    assert printed[2].split() == ["query", "recall_frac@5", "precision@5(retrieved)", "mrr", "ndcg@5(graded)"]
    assert printed[3].split() == ["q1", "1.00", "1.00", "1.00", "–"]
    assert "latency: p50 5.5 ms, p95 5.5 ms of 2 calls (percentiles: sorted[int(share * n)])" in printed
    assert not [line for line in printed if "divides by 5" in line]
    # The variable is meant for other commands, and is ignored where nothing was timed.
    bare = write(tmp_path, "bare.jsonl", lines([{key: row[key] for key in row if key != "ms"} for row in rows]))
    done = recallbench("evaluate", "--gold", bare, cwd=tmp_path, env={"RECALLBENCH_PERCENTILES": "index"})
    assert done.returncode == 0
    rows[0]["ms"] = -1
    write(tmp_path, "gold.jsonl", lines(rows))
    assert "`ms` is not a time" in refused(tmp_path, *words)


ZERO = "q1 0 a 1\nq1 0 b 0\nq2 0 a 0\nq2 0 b 0\nq3 0 b 2\nq4 0 a -1\n"


OF_ZERO = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\nq3 Q0 a 1 2 t\nq3 Q0 b 2 1 t\n"


@pytest.mark.parametrize(
    ("gold", "more"),
    [
        (ZERO, ()),
        (ZERO, ("--keep-going",)),
        ("query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\ta\t0\nq3\tb\t2\nq4\ta\t-1\n", ()),
        ('{"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 2}, "q4": {"a": -1}}', ("--keep-going",)),
        (
            '{"query_id": "q1", "relevant": ["a"]}\n{"query_id": "q2", "relevant": {"a": 0}}\n'
            '{"query_id": "q3", "relevant": {"b": 2}}\n{"query_id": "q4", "relevant": {"a": -1}}\n',
            (),
        ),
    ],
)
def test_queries_with_grade_0_alone_are_passed_over_and_counted(
    tmp_path: Path, gold: str, more: tuple[str, ...]
) -> None:
    write(tmp_path, "gold", gold)
    write(tmp_path, "run", OF_ZERO)
    words = ("--run", "run", "--gold", "gold", "--k", "2", *more)
    document = json.loads("\n".join(table(tmp_path, *words, "--format", "json")))
    assert (document["cases"], document["n"], document["failed"]) == (2, 2, 0)
    assert (document["mean"]["mrr@2"], document["mean"]["recall_frac@2"]) == (0.75, 1.0)
    # q2 is judged, so no note calls it unknown.
    notes = [note for note in document["notes"] if "q2" in note or "passed over" in note]
    assert notes == ["2 queries whose judgements are all of grade 0 passed over"]
    assert notes[0] in table(tmp_path, *words)
    if gold == ZERO:
        done = recallbench("compare", "run", "run", "--qrels", "gold", "--measures", "mrr@2", "--json", cwd=tmp_path)
        compared = json.loads(done.stdout)
        assert (compared["n"], compared["measures"][0]["first"]) == (document["n"], document["mean"]["mrr@2"])


def test_a_gold_file_with_grade_0_alone_has_nothing_to_find(tmp_path: Path) -> None:
    write(tmp_path, "gold", "q1 0 a 0\n")
    write(tmp_path, "run", OF_ZERO)
    done = recallbench("evaluate", "--run", "run", "--gold", "gold", cwd=tmp_path)
    assert done.returncode == 2
    assert "gold has no relevant document" in done.stderr


TIED = "q1 Q0 a 1 1 t\nq1 Q0 c 2 1.000000001 t\nq1 Q0 b 3 1 t\nq2 Q0 x 7 0.5 t\nq2 Q0 y 2 0.5 t\nq2 Q0 z 1 0.5 t\n"


@pytest.mark.parametrize("run", [TIED, None])
def test_ties_are_broken_by_the_file_or_as_trec_eval_does_and_every_output_says_so(
    tmp_path: Path, run: str | None
) -> None:
    scores = {"q1": {"c": 1.000000001, "a": 1.0, "b": 1.0}, "q2": {"z": 0.5, "y": 0.5, "x": 0.5}}
    write(tmp_path, "run", run or json.dumps(scores))
    grades = {"q1": {"b": 1}, "q2": {"x": 1}}
    write(tmp_path, "qrels", "".join(f"{q} 0 {id} 1\n" for q, ids in grades.items() for id in ids))
    words = ("--run", "run", "--gold", "qrels", "--k", "3")

    def mrr(*more: str) -> tuple[float, str]:
        document = json.loads("\n".join(table(tmp_path, *words, *more, "--format", "json")))
        return document["mean"]["mrr@3"], document["ties"]

    theirs = pytrec_eval.RelevanceEvaluator(grades, {"recip_rank"}).evaluate(scores)
    assert {q: values["recip_rank"] for q, values in theirs.items()} == {"q1": 0.5, "q2": pytest.approx(1 / 3)}
    # c and b and a are one score in 32 bits: c, b, a. Of q2 it is z, y, x.
    assert mrr("--ties", "trec") == (pytest.approx((1 / 2 + 1 / 3) / 2), "trec")
    assert mrr() == mrr("--ties", "file") == (pytest.approx((1 / 3 + 1 / 3) / 2), "file")
    for way, more in (("file", ()), ("trec", ("--ties", "trec"))):
        assert table(tmp_path, *words, *more)[0] == f"2 cases, k = 3, matching: id, ties: {way}"
        assert table(tmp_path, *words, *more, "--format", "markdown")[0].endswith(f"ties: {way}")
        rows = list(csv.DictReader(io.StringIO("\n".join(table(tmp_path, *words, *more, "--format", "csv")))))
        assert {row["ties"] for row in rows} == {way}


def test_compare_breaks_ties_by_the_same_rule_and_says_so(tmp_path: Path) -> None:
    write(tmp_path, "a", TIED)
    write(tmp_path, "qrels", "q1 0 b 1\nq2 0 z 1\n")
    for way, mean in (("file", (1 / 3 + 1) / 2), ("trec", (1 / 2 + 1) / 2)):
        words = ("compare", "a", "a", "--qrels", "qrels", "--measures", "mrr@3", "--ties", way)
        document = json.loads(recallbench(*words, "--json", cwd=tmp_path).stdout)
        assert document["measures"][0]["first"] == pytest.approx(mean)
        assert f"ties: {way}" in document["basis"]
        for form in ((), ("--markdown",)):
            assert f"ties: {way}" in recallbench(*words, *form, cwd=tmp_path).stdout


def test_the_rule_for_ties_needs_scores_and_files(tmp_path: Path) -> None:
    write(tmp_path, "run", '{"query_id": "q1", "ranked": ["a"]}\n')
    write(tmp_path, "qrels", "q1 0 a 1\n")
    done = recallbench("evaluate", "--run", "run", "--gold", "qrels", "--ties", "trec", cwd=tmp_path)
    assert (done.returncode, "no scores" in done.stderr) == (2, True)
    for words in (("evaluate", ".", "--ties", "trec"), ("compare", ".", ".", "--ties", "trec")):
        done = recallbench(*words, cwd=tmp_path)
        assert (done.returncode, "--ties is for" in done.stderr) == (2, True)
