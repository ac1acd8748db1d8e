"""`recallbench evaluate --run FILE --gold FILE`, through the real command line."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import recallbench as api
from commandline import recallbench
from stages import sampled

GOLD = {"q1": ["acme"], "q2": ["shellfish"], "q3": ["q3", "acme"]}
RANKED = {
    "q1": ["acme", "portland", "python"],
    "q2": ["python", "portland", "shellfish"],
    "q3": ["q3", "python", "acme"],
}
KINDS = {"q1": "fact", "q2": "fact", "q3": "plan"}


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(place: Path, name: str, text: str) -> str:
    (place / name).write_text(text, encoding="utf-8")
    return name


GOLDS = {
    "qrels": "".join(f"{q} 0 {id} 1\n" for q, ids in GOLD.items() for id in ids) + "q1 0 python 0\nq2 0 x -1\n",
    "beir": "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{id}\t1\n" for q, ids in GOLD.items() for id in ids),
    "jsonl": lines([{"query_id": q, "query": f"what of {q}?", "relevant": ids} for q, ids in GOLD.items()]),
    "graded jsonl": lines([{"query_id": q, "relevant": dict.fromkeys(ids, 1)} for q, ids in GOLD.items()]),
    "dict": json.dumps({q: dict.fromkeys(ids, 1) for q, ids in GOLD.items()}),
    "dict over lines": json.dumps({q: dict.fromkeys(ids, 1) for q, ids in GOLD.items()}, indent=2),
    "dict of lists": json.dumps(GOLD),
}
RUNS = {
    "trec": "".join(f"{q} Q0 {id} {n} {9 - n} me\n" for q, ids in RANKED.items() for n, id in enumerate(ids, 1)),
    "jsonl": lines([{"query_id": q, "ranked": ids} for q, ids in RANKED.items()]),
    "scored jsonl": lines(
        [{"_id": q, "ranked": [[id, 1 / n] for n, id in enumerate(i, 1)]} for q, i in RANKED.items()]
    ),
    "jsonl of objects": lines([{"qid": q, "ranked": [{"id": id} for id in ids]} for q, ids in RANKED.items()]),
    "dict": json.dumps({q: {id: 9 - n for n, id in enumerate(ids)} for q, ids in reversed(RANKED.items())}),
    "dict of lists": json.dumps(RANKED),
}


def table(place: Path, *words: str | Path, code: int = 0) -> list[str]:
    done = recallbench("evaluate", *words, cwd=place)
    assert done.returncode == code
    return done.stdout.splitlines()


@pytest.mark.parametrize(("gold", "run"), sampled([*((g, "jsonl") for g in GOLDS), *(("qrels", r) for r in RUNS)], 2))
def test_the_three_queries_exactly_whatever_the_form(tmp_path: Path, gold: str, run: str) -> None:
    write(tmp_path, "gold", GOLDS[gold])
    write(tmp_path, "run", RUNS[run])
    assert table(tmp_path, "--run", "run", "--gold", "gold", "--k", "3")[2:7] == [
        "query  recall_frac@3  precision@3   mrr  ndcg@3",
        "q1              1.00         0.33  1.00    1.00",
        "q2              1.00         0.33  0.33    0.50",
        "q3              1.00         0.67  1.00    0.92",
        "MEAN            1.00         0.44  0.78    0.81",
    ]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """One file with both, a run that is better, and one that is worse."""
    rows = [{"query_id": q, "query": f"what of {q}?", "relevant": GOLD[q], "ranked": RANKED[q], "kind": KINDS[q]}
            for q in GOLD]  # fmt: skip
    write(tmp_path, "gold.jsonl", lines(rows))
    write(tmp_path, "best.json", json.dumps({q: [*ids, "x"] for q, ids in GOLD.items()}))
    return tmp_path


def test_the_command_line_and_the_api_give_the_same_numbers(place: Path) -> None:
    found = json.loads("\n".join(table(place, "--gold", "gold.jsonl", "--k", "3", "--by", "kind", "--format", "json")))
    cases = [api.Case(f"what of {q}?", GOLD[q], kind=KINDS[q], id=q) for q in GOLD]
    report = api.evaluate(cases, lambda query, k: RANKED[query[8:-1]][:k], k=3)
    assert found["mean"] == {
        "recall_frac@3": report.recall,
        "precision@3": report.precision,
        "mrr@3": report.mrr,
        "ndcg@3": report.ndcg,
        "f1@3": report.f1,
        "f1_of_means@3": report.f1_of_means,
    }
    assert found == json.loads(report.table("json", by="kind"))
    text = "\n".join(table(place, "--gold", "gold.jsonl", "--k", "3", "--by", "kind"))
    assert text == report.table("text", by="kind").rstrip("\n")


def test_a_run_that_is_deeper_than_k_is_cut_for_every_measure(tmp_path: Path) -> None:
    gold = {"q1": ["a"], "q2": ["b"]}
    deep = {"q1": ["x", "y", "z", "a"], "q2": ["x", "b"]}
    write(tmp_path, "gold.json", json.dumps(gold))
    write(tmp_path, "run.json", json.dumps(deep))
    words = ("--run", "run.json", "--gold", "gold.json", "--k", "2")
    found = json.loads("\n".join(table(tmp_path, *words, "--compare", "gold.json", "--format", "json")))
    report = api.evaluate([api.Case(q, ids) for q, ids in gold.items()], lambda query, k: deep[query][:k], k=2)
    # q1 has its id at 4, beyond k, and so 0 rather than 1/4.
    assert found["mean"] == {str(one): report.value(one) for one in report.measures}
    assert found["mean"]["mrr@2"] == report.mrr == 0.25
    assert [one["measure"] for one in found["compare"]["measures"]][2] == "mrr@2"
    assert "mrr is mrr@2" in "\n".join(table(tmp_path, *words))


def test_the_other_forms(place: Path) -> None:
    words = ("--gold", "gold.jsonl", "--k", "3", "--by", "kind", "--format")
    rows = list(csv.DictReader(io.StringIO("\n".join(table(place, *words, "csv")))))
    assert [(row["query"], row["recall_frac@3"], row["mrr"]) for row in rows] == [
        ("q1", "1.0", "1.0"), ("q2", "1.0", "0.3333333333333333"), ("q3", "1.0", "1.0"),
        ("MEAN kind=fact", "1.0", "0.6666666666666666"), ("MEAN kind=plan", "1.0", "1.0"),
        ("MEAN", "1.0", "0.7777777777777777"),
    ]  # fmt: skip
    markdown = table(place, *words, "markdown")
    assert "| MEAN |  | 1.00 | 0.44 | 0.78 | 0.81 |" in markdown
    assert "| fact | 2 | 1.0000 | 0.3333 | 0.6667 | 0.7500 |" in markdown


def test_over_several_k_with_a_plot(place: Path) -> None:
    words = ("--gold", "gold.jsonl", "--k", "3", "--ks", "1,3,5,10,20", "--plot", "p.svg")
    told = table(place, *words)
    start = told.index("k   recall_frac@k  precision@k    f1@k  f1_of_means@k")
    assert told[start + 1 : start + 6] == [
        "1          0.5000       0.6667  0.5556         0.5714",
        "3          1.0000       0.4444  0.6000         0.6154  *",
        "5          1.0000       0.2667  0.4127         0.4211",
        "10         1.0000       0.1333  0.2323         0.2353",
        "20         1.0000       0.0667  0.1241         0.1250",
    ]
    assert told[-1] == "k = 3 has the highest f1@k (mean of per-query F1), 0.6000, over 3 cases"
    drawn = (place / "p.svg").read_bytes()
    assert drawn.startswith(b"<?xml")
    found = json.loads("\n".join(table(place, *words, "--format", "json")))
    assert found["ks"]["best_k_by_f1"] == 3
    assert found["ks"]["points"][0]["recall_frac@1"] == 0.5
    assert (place / "p.svg").read_bytes() == drawn


def test_whether_a_change_helped(place: Path) -> None:
    words = ("--gold", "gold.jsonl", "--k", "3", "--compare", "best.json")
    told = "\n".join(table(place, *words))
    assert "best.json (after) minus gold.jsonl (before)" in told
    assert "ndcg@3: no difference shown, +0.1934" in told
    found = json.loads("\n".join(table(place, *words, "--format", "json")))["compare"]
    mrr = found["measures"][2]
    assert (mrr["measure"], mrr["wins"], mrr["ties"], mrr["losses"]) == ("mrr@3", 1, 2, 0)
    assert mrr["difference"] == pytest.approx(2 / 9)
    many = {f"q{n}": ["a"] for n in range(30)}
    write(place, "many.json", json.dumps(many))
    write(place, "worse.json", json.dumps({q: ["x", "a"] for q in many}))
    told = "\n".join(table(place, "--run", "many.json", "--gold", "many.json", "--k", "2", "--compare", "worse.json"))
    assert "mrr@2: hurt, -0.5000" in told
    assert "recall_frac@2: no case changed" in told


def test_an_interval_without_0_is_not_called_no_difference(place: Path) -> None:
    gold = {f"q{n}": ["a"] for n in range(30)}
    write(place, "thirty.json", json.dumps(gold))
    write(place, "six.json", json.dumps({q: ["x", "a"] if n < 6 else ["a"] for n, q in enumerate(gold)}))
    words = ("--gold", "thirty.json", "--k", "2", "--compare", "thirty.json")
    found = json.loads("\n".join(table(place, "--run", "six.json", *words, "--format", "json")))["compare"]
    mrr = next(one for one in found["measures"] if one["measure"] == "mrr@2")
    assert mrr["low"] > 0
    assert mrr["p"] == 2 / 2**6
    assert mrr["p_holm"] > 0.05
    assert mrr["verdict"] == "not settled: the interval excludes 0, the corrected p does not reach 0.05"
    told = "\n".join(table(place, "--run", "six.json", *words))
    assert f"mrr@2: {mrr['verdict']}, +0.1000" in told


# Text


@pytest.mark.marked
def test_matching_by_text(tmp_path: Path) -> None:
    rows = [
        {"query": "capital?", "expected": "Paris is the capital of France.",
         "ranked": ["Berlin is big.", "Paris is the capital and most populous city of France…"]},
        {"query": "colour?", "expected": "Blue", "ranked": [{"id": "m1", "text": "blue!"}, "red"]},
        {"query": "moon?", "expected": "The moon is made of rock", "ranked": ["Tea", "Cheese"]},
    ]  # fmt: skip
    write(tmp_path, "gold.jsonl", lines(rows))
    told = table(tmp_path, "--gold", "gold.jsonl", "--k", "2", "--match", "tokens")
    assert told[0] == "3 cases, k = 2, matching: tokens f1>=0.3"
    assert told[3:7] == [
        "capital?           1.00         0.50  0.50    0.63",
        "colour?            1.00         0.50  1.00    1.00",
        "moon?              0.00         0.00  0.00    0.00",
        "MEAN               0.67         0.33  0.50    0.54",
    ]
    assert "of the 3 cases decided by text, top 2: 1 found by an exact match, 1 by a fuzzy one, 1 not found" in told
    for name in ("exact ", *(f"tokens f1>=0.{n} " for n in range(1, 7))):
        assert any(line.startswith(name) for line in told)
    exact = table(tmp_path, "--gold", "gold.jsonl", "--k", "2", "--match", "exact")
    assert exact[0].endswith("matching: exact")
    assert exact[6].split() == ["MEAN", "0.33", "0.17", "0.33", "0.33"]
    words = ("--gold", "gold.jsonl", "--k", "2", "--match", "tokens", "--match-threshold", "0.5", "--match-chunk", "60")
    assert json.loads("\n".join(table(tmp_path, *words, "--format", "json")))["matching"] == "tokens f1>=0.5, chunk 60"
    rows = list(csv.DictReader(io.StringIO("\n".join(table(tmp_path, *words, "--format", "csv")))))
    assert {row["matching"] for row in rows} == {"tokens f1>=0.5, chunk 60"}


def test_a_file_that_mixes_ids_and_texts(tmp_path: Path) -> None:
    rows = [
        {"query": "where?", "relevant": ["d1"], "ranked": ["d1", "d2"]},
        {"query": "when?", "expected": "at nine", "ranked": ["d1", "d2"]},
    ]
    write(tmp_path, "gold.jsonl", lines(rows))
    write(tmp_path, "corpus.jsonl", lines([{"_id": "d1", "text": "Oslo"}, {"_id": "d2", "text": "It leaves at nine."}]))
    words = ("--gold", "gold.jsonl", "--k", "2", "--match", "exact", "--texts", "corpus.jsonl")
    told = table(tmp_path, *words)
    assert told[0] == "2 cases, k = 2, matching: exact"
    assert told[told.index("decided by  n  recall_frac@2  precision@2     mrr  ndcg@2") + 1 :][:2] == [
        "id          1         1.0000       0.5000  1.0000  1.0000",
        "text        1         1.0000       0.5000  0.5000  0.6309",
    ]


def test_a_short_answer_in_a_long_text_needs_chunks(tmp_path: Path) -> None:
    session = f"{'so we talked and talked ' * 40} I moved to Portland {' '.join(f'w{n}' for n in range(200))}"
    write(tmp_path, "gold.jsonl", lines([{"query_id": "q", "expected": "moved to Portland"}]))
    write(tmp_path, "corpus.jsonl", lines([{"_id": "s1", "title": "May", "text": session}]))
    write(tmp_path, "run.trec", "q Q0 s1 1 1.0 me\n")
    words = ("--run", "run.trec", "--gold", "gold.jsonl", "--k", "1", "--match", "tokens", "--texts", "corpus.jsonl")
    assert table(tmp_path, *words)[3].split()[1] == "0.00"
    assert table(tmp_path, *words, "--match-chunk", "8")[3].split()[1] == "1.00"


@pytest.mark.marked
def test_ids_are_no_texts(tmp_path: Path) -> None:
    row = {"query": "capital?", "expected": "Paris is the capital", "ranked": ["1", "2"]}
    words = ("--gold", "gold.jsonl", "--k", "2", "--match", "tokens")
    write(tmp_path, "gold.jsonl", lines([{**row, "relevant": ["2"]}]))
    told = refused(tmp_path, *words)
    assert "a relevant id where a text should be" in told
    assert "--texts" in told
    write(tmp_path, "corpus.jsonl", lines([{"_id": "1", "text": "Rome"}, {"_id": "2", "text": "The capital: Paris"}]))
    assert table(tmp_path, *words, "--texts", "corpus.jsonl")[4].split() == ["MEAN", "1.00", "0.50", "0.50", "0.63"]
    write(tmp_path, "gold.jsonl", lines([row]))
    done = recallbench("evaluate", *words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("recallbench: warning: no texts (--texts FILE): each hit, such as '1', was taken")
    assert "warning: no texts" in done.stdout
    done = recallbench("evaluate", *words, "--texts", "corpus.jsonl", cwd=tmp_path)
    assert done.stderr == ""


# Bad input


def refused(place: Path, *words: str, code: int = 2) -> str:
    done = recallbench("evaluate", *words, cwd=place)
    assert done.returncode == code
    assert done.stdout == ""
    return done.stderr


BAD_RUNS = {
    "twice": (["a", "b", "a"], "'a' again at place 3"),
    "unordered": ([["a", 0.1], ["b", 0.2]], "0.2 at place 2, behind 0.1"),
    "no ranking": ("a", "'a'"),
    "none": (None, "no such field"),
    "no id": ([None], "None"),
    "two forms": ([["a", 1.0], "b"], "'b'"),
    "no score": ([["a", "high"]], "high"),
}


@pytest.mark.parametrize("bad", sampled(BAD_RUNS))
def test_a_bad_case_is_named_and_does_not_lose_the_others(tmp_path: Path, bad: str) -> None:
    ranked, said = BAD_RUNS[bad]
    write(tmp_path, "run.jsonl", lines([{"query_id": "q1", "ranked": ["a"]}, {"query_id": "q2", "ranked": ranked}]))
    write(tmp_path, "gold.json", json.dumps({"q1": ["a"], "q2": ["b"]}))
    words = ("--run", "run.jsonl", "--gold", "gold.json", "--k", "3")
    told = refused(tmp_path, *words)
    assert "run.jsonl, line 2" in told
    assert "`q2`" in told
    assert said in told
    done = recallbench("evaluate", *words, "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert "q2 (failed)           0.00" in done.stdout
    assert "MEAN                  0.50" in done.stdout
    assert said in done.stdout
    assert "1 case failed" in done.stderr


@pytest.mark.parametrize("line", ["q2 Q0 b 2 0.5 me", "q2 Q0 c 2 nan me", "q2 Q0 c x 0.5 me"])
def test_a_bad_line_of_a_trec_run_costs_its_query_alone(tmp_path: Path, line: str) -> None:
    write(tmp_path, "run.trec", f"q1 Q0 a 1 1 me\nq2 Q0 b 1 1 me\n{line}\n")
    write(tmp_path, "qrels.trec", "q1 0 a 1\nq2 0 b 1\n")
    words = ("--run", "run.trec", "--gold", "qrels.trec", "--k", "1")
    assert "run.trec, line 3" in refused(tmp_path, *words)
    done = recallbench("evaluate", *words, "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert "q2 (failed)           0.00" in done.stdout
    assert "MEAN                  0.50" in done.stdout
    assert "run.trec, line 3" in done.stdout


BAD_GOLDS = {
    "nothing": ({"relevant": []}, 'kind="abstention"'),
    "twice": ({"relevant": ["a", "a"]}, "'a' again"),
    "no ids": ({"relevant": "a"}, "a list of ids"),
    "a grade": ({"relevant": {"a": "high"}}, "'high'"),
    "NaN": ({"relevant": {"a": float("nan")}}, "NaN"),
    "a kind": ({"relevant": ["a"], "kind": ["fact"]}, "`kind` is no text"),
    "abstention": ({"relevant": ["a"], "kind": "abstention"}, "should find nothing"),
    "misspelt": ({"relevent": ["a"]}, "the unknown field 'relevent' may mean 'relevant'"),
}


@pytest.mark.parametrize("bad", sampled(BAD_GOLDS))
def test_gold_that_is_none(tmp_path: Path, bad: str) -> None:
    fields, said = BAD_GOLDS[bad]
    write(tmp_path, "gold.jsonl", lines([{"query_id": "q1", "relevant": ["a"]}, {"query_id": "q2", **fields}]))
    write(tmp_path, "run.json", '{"q1": ["a"], "q2": ["b"]}')
    told = refused(tmp_path, "--run", "run.json", "--gold", "gold.jsonl")
    assert "gold.jsonl, line 2" in told
    assert said in told


def test_a_refused_case_of_the_gold_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, "gold.jsonl", lines([{"query_id": "q1", "relevant": ["a"]}, {"query_id": "q2", "relevant": []}]))
    write(tmp_path, "run.json", '{"q1": ["a"]}')
    done = recallbench("evaluate", "--run", "run.json", "--gold", "gold.jsonl", "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert "left out: gold.jsonl, line 2: case `q2`: nothing is relevant" in done.stdout


def test_queries_that_only_one_file_has(tmp_path: Path) -> None:
    write(tmp_path, "gold.json", '{"q1": ["a"], "q2": ["b"]}')
    write(tmp_path, "run.json", '{"q1": {"a": 1}, "q9": {"a": 1}}')
    told = table(tmp_path, "--run", "run.json", "--gold", "gold.json", "--k", "1")
    assert "run.json: 1 query (q2) not answered, which counts as an empty ranking" in told
    assert "run.json: 1 query (q9) not in the gold, left out" in told
    assert told[5] == "MEAN            0.50         0.50  0.50    0.50"
    write(tmp_path, "other.json", '{"x": {"a": 1}}')
    assert "answers no query of the gold" in refused(tmp_path, "--run", "other.json", "--gold", "gold.json")


@pytest.mark.parametrize("option", ["--run", "--compare"])
def test_ids_that_the_gold_does_not_know_are_no_recall_of_0(tmp_path: Path, option: str) -> None:
    write(tmp_path, "qrels.trec", "q1 0 doc-1 1\nq1 0 doc-2 0\nq2 0 doc-3 1\n")
    write(tmp_path, "run.trec", "q1 Q0 t1/0 1 2 me\nq1 Q0 t1/1 2 1 me\nq2 Q0 t2/0 1 1 me\n")
    write(tmp_path, "good.json", '{"q1": ["doc-9", "doc-2"]}')  # judged, though not relevant
    words = ("--run", "good.json", "--gold", "qrels.trec", option, "run.trec")
    told = refused(tmp_path, *words)
    assert "not one id of run.trec occurs in the gold" in told
    assert "expected: ids such as 'doc-1', 'doc-2'" in told
    assert "found: ids such as 't1/0', 't1/1'" in told
    assert refused(tmp_path, *words, "--keep-going") == told
    assert table(tmp_path, "--run", "good.json", "--gold", "qrels.trec")[5].split()[:2] == ["MEAN", "0.00"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--k", "0"), "expected: a whole number from 1 to 10,000"),
        (("--k", "three"), "--k"),
        (("--ks", "1,0"), "--ks are depths"),
        (("--ks", "1;2"), "--ks are depths"),
        (("--ks", "1", "--plot", "x.png"), "what to do: --plot x.svg"),
        (("--ks", "1", "--plot", "plot"), "expected: a file that ends in .svg"),
        (("--ks", "1", "--plot", "."), "a file that ends in .svg"),
        (("--plot", "p.svg"), "--plot draws what --ks works out"),
        (("--format", "csv", "--ks", "1"), "CSV holds one table"),
        (("--by", "colour"), "no case has a colour"),
        (("--match-chunk", "60"), "ids have no chunks"),
        (("--match", "tokens"), "nothing to match by text"),
        (("--match", "tokens", "--match-threshold", "2"), "between 0 and 1"),
        (("--texts", "gold.jsonl"), "--texts are for matching by text"),
        (("--compare", "absent.json"), "absent.json"),
        (("--store", "bm25"), "--store is for a labelled set"),
        (("--precision", "found"), "'found' is not one of 'k', 'retrieved'"),
        (("--percentiles", "linear"), "'linear' is not one of 'nearest-rank', 'index'"),
        (("--percentiles", "index"), "expected: `ms` with each query, in JSON Lines\n  found: no times in gold.jsonl"),
        (("--gold", "absent.jsonl"), "absent.jsonl"),
        (("--run", "empty"), "empty"),
        (("--run", "words"), "6 columns"),
        (("--run", "list.json"), "not one of the forms"),
        (("--run", "cut.json"), "cut.json"),
        (("--run", "."), "a regular file"),
    ],
)
def test_what_can_not_be_done_is_told(place: Path, words: tuple[str, ...], said: str) -> None:
    for name, text in (
        ("empty", "\n"),
        ("words", "hello there\n"),
        ("list.json", '{"q1": 3}'),
        ("cut.json", '{"q1": {'),
    ):
        write(place, name, text)
    assert said in refused(place, "--gold", "gold.jsonl", *words)


BROKEN_GOLD = {
    "jsonl": '{"query_id": "q1", "relevant": ["a"]}\n{"query_id": "q2", "relevant": [\n',
    "not text": b'{"query_id": "q1", "relevant": ["a"]}\n{"query_id": "\xff"}\n',
    "qrels": "q1 0 a 1\nq2 0 b\n",
    "qrels twice": "q1 0 a 1\nq2 0 b 1\nq2 0 b 1\n",
    "qrels not text": b"q1 0 a 1\nq2 0 \xff 1\n",
    "beir": "q1\ta\t1\nq2\tb\tmuch\n",
    "beir cut": "q1\ta\t1\nq2\tb\n",
}


@pytest.mark.parametrize("name", sampled(BROKEN_GOLD))
def test_a_broken_line_of_the_gold_does_not_lose_the_others(tmp_path: Path, name: str) -> None:
    gold = BROKEN_GOLD[name]
    (tmp_path / "gold").write_bytes(gold if isinstance(gold, bytes) else gold.encode())
    write(tmp_path, "run.json", '{"q1": ["a"], "q2": ["b"]}')
    words = ("--run", "run.json", "--gold", "gold")
    assert "line" in refused(tmp_path, *words)
    done = recallbench("evaluate", *words, "--keep-going", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 case failed, named below the table" in done.stderr
    found = json.loads(done.stdout)
    assert (found["cases"], found["mean"]["recall_frac@10"]) == (1, 1.0)
    assert any(note.startswith("left out: ") and "line" in note for note in found["notes"])


BROKEN_RUN = {
    "jsonl": ('{"query_id": "q1", "ranked": ["a"]}\n{"query_id": "q2", "ranked": [', ["left out: ", "failed, "]),
    "not text": (b'{"query_id": "q1", "ranked": ["a"]}\n{"query_id": "\xff"}\n', ["left out: "]),
    "trec cut": ("q1 Q0 a 1 2 t\nq2 Q0 b 1 2", ["failed, counted as the worst answer: "]),
    "trec not text": (b"q1 Q0 a 1 2 t\nq2 Q0 \xff 1 2 t\n", ["left out: "]),
}


@pytest.mark.parametrize("name", sampled(BROKEN_RUN))
def test_a_broken_line_of_the_run_does_not_lose_the_others(tmp_path: Path, name: str) -> None:
    run, told = BROKEN_RUN[name]
    (tmp_path / "run").write_bytes(run if isinstance(run, bytes) else run.encode())
    write(tmp_path, "gold.json", '{"q1": ["a"], "q2": ["b"]}')
    words = ("--run", "run", "--gold", "gold.json")
    assert "line 2" in refused(tmp_path, *words)
    done = recallbench("evaluate", *words, "--keep-going", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    # What the run does not answer is an empty ranking.
    assert (found["cases"], found["mean"]["recall_frac@10"]) == (2, 0.5)
    for one in told:
        assert any(note.startswith(one) and "line 2" in note for note in found["notes"])


@pytest.mark.parametrize("more", ["", "\n", '\n{"query_id": "q2", "relevant": ["b"]}\n'])
def test_the_first_line_broken_is_named_too(tmp_path: Path, more: str) -> None:
    write(tmp_path, "gold.jsonl", '{"query_id": "q1", "relevant": ["a"' + more)
    write(tmp_path, "run.json", '{"q1": ["a"], "q2": ["b"]}')
    assert "gold.jsonl, line 1: " in refused(tmp_path, "--run", "run.json", "--gold", "gold.jsonl")
    # One object may stand over several lines all the same.
    write(tmp_path, "gold.json", '{\n  "q1": ["a"],\n  "q2": ["b"]\n}\n')
    assert table(tmp_path, "--run", "run.json", "--gold", "gold.json")


@pytest.mark.parametrize(
    "line", ['{"query_id": "none", "ranked": [["x", NaN]]}', '{"query_id": "none", "ranked": [["x", 0.1]]']
)
def test_a_line_that_can_not_be_read_is_no_merit_of_a_query_that_finds_nothing(tmp_path: Path, line: str) -> None:
    write(tmp_path, "gold.jsonl", lines([
        {"query_id": "q1", "relevant": ["a"]}, {"query_id": "none", "relevant": [], "kind": "abstention"}
    ]))  # fmt: skip
    write(tmp_path, "run.jsonl", '{"query_id": "q1", "ranked": [["a", 0.5]]}\n' + line + "\n")
    words = ("--run", "run.jsonl", "--gold", "gold.jsonl", "--keep-going", "--format", "json")
    done = recallbench("evaluate", *words, cwd=tmp_path)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["abstention"]["false_retrieval"], found["abstention"]["auroc"]) == (1.0, 0.0)
    assert (
        "not answered, where lines can't be read"
        in next(row for row in found["rows"] if row["query_id"] == "none")["failure"]
    )


def test_one_broken_file_that_is_both_tells_of_its_line_once(tmp_path: Path) -> None:
    write(tmp_path, "both", '{"query_id": "q1", "relevant": ["a"], "ranked": ["a"]}\n{"query_id": "q2"\n')
    done = recallbench("evaluate", "--gold", "both", "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("left out: ") == 1
    assert "1 case failed" in done.stderr


@pytest.mark.marked
def test_files_and_a_folder_have_options_of_their_own(place: Path) -> None:
    assert "nothing to evaluate" in refused(place)
    assert "a folder and files at once" in refused(place, ".", "--gold", "gold.jsonl")
    assert "--texts is for rankings in files" in refused(place, ".", "--texts", "corpus.jsonl")
    assert "--store is for a labelled set" in refused(place, "--gold", "gold.jsonl", "--store", "bm25")


def test_the_files_of_a_result_folder_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    for name in ("run.trec", "qrels.trec"):
        write(folder, name, "")
    told = refused(tmp_path, "r", "--ks", "1")
    assert "r is a result, no labelled set" in told
    assert "score its rankings: recallbench evaluate --run r/run.trec --gold r/qrels.trec" in told
    write(folder, "qrels.graded.trec", "")
    told = refused(tmp_path, "r", "--by", "kind")
    assert "score its rankings: recallbench evaluate --run r/run.trec --gold r/qrels.graded.trec" in told


def test_a_result_folder_can_be_scored_again(tmp_path: Path) -> None:
    done: subprocess.CompletedProcess[str]
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    stated = {one["measure"]: one["value"] for one in metrics["estimates"]["overall"]}
    words = ("--run", "r/run.trec", "--gold", "r/qrels.trec", "--format", "json")
    found = json.loads("\n".join(table(tmp_path, *words)))
    for name in ("recall_frac@10", "precision@10", "ndcg@10", "f1@10"):
        assert found["mean"][name] == pytest.approx(stated[name])


@pytest.mark.marked
def test_what_is_wrong_with_the_second_run_is_told_as_its_own(place: Path) -> None:
    rows = [
        {"query_id": "q1", "ranked": ["acme"]},
        {"query_id": "q2", "ranked": [["shellfish", 1], ["x", 2]]},
        {"query_id": "q9", "ranked": ["acme"]},
    ]
    (place / "b").mkdir()
    write(place, "b/run.jsonl", lines(rows))
    words = ("evaluate", "--gold", "gold.jsonl", "--compare", "b/run.jsonl")
    assert recallbench(*words, cwd=place).returncode == 2
    done = recallbench(*words, "--keep-going", cwd=place)
    assert done.returncode == 1
    table, comparison = done.stdout.split("b/run.jsonl (after) minus gold.jsonl (before)\n")
    assert "b/run.jsonl" not in table
    assert "failed" not in table
    told = comparison.splitlines()
    assert "b/run.jsonl: 1 of 3 cases failed" in told
    assert "b/run.jsonl: 1 query (q3) not answered, which counts as an empty ranking" in told
    assert "b/run.jsonl: 1 query (q9) not in the gold, left out" in told
    assert any(
        line.startswith("b/run.jsonl: failed, counted as the worst answer: b/run.jsonl, line 2") for line in told
    )
    assert "recallbench: b/run.jsonl: 1 case failed, named below the comparison" in done.stderr
    found = json.loads(recallbench(*words, "--keep-going", "--format", "json", cwd=place).stdout)
    assert (found["failed"], found["compare"]["failed"], found["compare"]["second_failed"]) == (0, 0, 1)
    assert len(found["compare"]["second_notes"]) == 4  # the failure, two queries, and the depth
    # Queries without an answer are no failure, and are told all the same.
    write(place, "b/run.jsonl", lines(rows[:1]))
    done = recallbench(*words, cwd=place)
    assert done.returncode == 0
    assert "b/run.jsonl: 2 queries (q2, q3) not answered, which counts as an empty ranking" in done.stdout


BAD_ENTRIES = {
    "no number": ('"q2": {"shellfish": NaN, "x": 1}', "NaN, which is no JSON number"),
    "deeper": ('"q2": [["shellfish", 2], ["x", -Infinity]]', "-Infinity, which is no JSON number"),
    "an id twice": ('"q2": {"shellfish": 2, "shellfish": 1}', "the field shellfish twice"),
    "the query twice": ('"q2": {"shellfish": 2}, "q2": {"x": 2}', "q2 again"),
    "half a character": ('"q2": {"\\ud800": 2}', "half a character"),
    "no object": ('"q2": 5', "a int"),
}


@pytest.mark.marked
@pytest.mark.parametrize(("name", "over_lines"), [(name, i % 2 == 1) for i, name in enumerate(BAD_ENTRIES)])
def test_a_bad_entry_of_one_object_costs_its_query_alone(place: Path, name: str, over_lines: bool) -> None:
    entry, found = BAD_ENTRIES[name]
    parts = ['{"q1": {"acme": 1}', entry, '"q3": {"q3": 1}}']
    write(place, "run.json", (",\n" if over_lines else ", ").join(parts))
    told = refused(place, "--run", "run.json", "--gold", "gold.jsonl")
    assert "recallbench: run.json" in told
    assert "q2" in told
    assert found in told
    assert "a line" not in told.replace("a JSON object a line with", "")
    rows = table(place, "--run", "run.json", "--gold", "gold.jsonl", "--keep-going", "--format", "csv", code=1)
    assert [row.split(",")[0] for row in rows] == ["query", "q1", "q2", "q3", "MEAN"]
    failures = [row["failure"] for row in csv.DictReader(rows)]
    assert (failures[0], failures[2]) == ("", "")
    assert found in failures[1]
    gold = ", ".join(['{"q1": {"acme": 1}', entry, '"q3": {"q3": 1}}'])
    write(place, "gold.json", gold)
    assert "q2" in refused(place, "--run", "best.json", "--gold", "gold.json")
    told = "\n".join(table(place, "--run", "best.json", "--gold", "gold.json", "--keep-going", code=1))
    assert "left out: gold.json" in told
    assert "q3" in told


def test_depths_have_nothing_to_hold_where_nothing_is_to_be_found(tmp_path: Path) -> None:
    write(tmp_path, "gold.jsonl", lines([{"query": "who is bob", "relevant": [], "ranked": [], "kind": "abstention"}]))
    done = recallbench("evaluate", "--gold", "gold.jsonl", "--ks", "1,3", "--plot", "ks.svg", cwd=tmp_path)
    assert done.returncode == 0
    assert "who is bob" in done.stdout
    assert "nothing to hold against k: no case has anything to find, and ks.svg was not drawn" in done.stderr
    done = recallbench("evaluate", "--gold", "gold.jsonl", "--compare", "gold.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    assert "who is bob" in done.stdout
    assert "nothing to compare with gold.jsonl: nothing to find" in done.stderr


@pytest.mark.parametrize("words", [("--gold", "{}/g.jsonl", "--k", "3"), ("--run", "{}/r.trec", "--gold", "{}/q.trec")])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_file_is_named_as_it_was_given(tmp_path: Path, words: tuple[str, ...], absolute: bool) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    write(tmp_path, "a/b/g.jsonl", '{"query": "q", "relevant": ["x"], "ranked": ["x"]}\n{"query": 5x}\n')
    write(tmp_path, "a/b/r.trec", "q Q0 x 1 1 me\nq Q0\n")
    write(tmp_path, "a/b/q.trec", "q 0 x 1\n")
    folder = str(tmp_path / "a/b") if absolute else "a/b"
    told = refused(tmp_path, *(word.format(folder) for word in words))
    assert told.startswith(f"recallbench: {words[1].format(folder)}, line 2: ")
    folder = "."
    told = refused(tmp_path / "a/b", *(word.format(folder) for word in words))
    assert told.startswith(f"recallbench: {words[1].removeprefix('{}/')}, line 2: ")


def test_definitions_of_other_schools(tmp_path: Path) -> None:
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
    assert "latency_ms" not in usual
    found = json.loads("\n".join(table(tmp_path, *words, "--percentiles", "nearest-rank", "--format", "json")))
    assert found["latency_ms"] == {"timed": 2, "p50": 3.0, "p95": 5.5, "percentiles": "nearest-rank"}
    schools = ("--precision", "retrieved", "--ndcg", "graded", "--percentiles", "index")
    found = json.loads("\n".join(table(tmp_path, *words, *schools, "--format", "json")))
    assert found["definitions"] == {"precision": "retrieved", "ndcg": "graded", "percentiles": "index"}
    assert found["mean"] == pytest.approx({
        "recall_frac@5": 1.0, "precision@5(retrieved)": 0.75, "mrr@5": 0.75, "ndcg@5(graded)": 1 / math.log2(3),
        "f1@5(retrieved)": (1 + 2 / 3) / 2, "f1_of_means@5(retrieved)": 2 * 0.75 / 1.75,
    })  # fmt: skip
    assert [one["n"] for one in found["estimates"]] == [2, 2, 2, 1, 2, 2]
    assert found["latency_ms"]["p50"] == 5.5
    assert found["ks"]["points"][0]["precision@1(retrieved)"] == 0.5
    told = table(tmp_path, *words, *schools)
    assert told[0] == ("2 cases, k = 5, matching: id, definitions: precision retrieved, ndcg graded, percentiles index")
    assert told[2].split() == ["query", "recall_frac@5", "precision@5(retrieved)", "mrr", "ndcg@5(graded)"]
    assert told[3].split() == ["q1", "1.00", "1.00", "1.00", "–"]
    assert "latency: p50 5.5 ms, p95 5.5 ms of 2 calls (percentiles: sorted[int(share * n)])" in told
    assert not [line for line in told if "divides by 5" in line]
    # A variable that means another command does no harm where nothing was timed.
    bare = write(tmp_path, "bare.jsonl", lines([{key: one[key] for key in one if key != "ms"} for one in rows]))
    done = recallbench("evaluate", "--gold", bare, cwd=tmp_path, env={"RECALLBENCH_PERCENTILES": "index"})
    assert done.returncode == 0
    rows[0]["ms"] = -1
    write(tmp_path, "gold.jsonl", lines(rows))
    assert "`ms` is no time" in refused(tmp_path, *words)


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
def test_topics_with_grade_0_alone_are_passed_over_and_counted(
    tmp_path: Path, gold: str, more: tuple[str, ...]
) -> None:
    write(tmp_path, "gold", gold)
    write(tmp_path, "run", OF_ZERO)
    words = ("--run", "run", "--gold", "gold", "--k", "2", *more)
    found = json.loads("\n".join(table(tmp_path, *words, "--format", "json")))
    assert (found["cases"], found["n"], found["failed"]) == (2, 2, 0)
    assert (found["mean"]["mrr@2"], found["mean"]["recall_frac@2"]) == (0.75, 1.0)
    # That the run answers q2 makes it no stranger.
    said = [one for one in found["notes"] if "q2" in one or "passed over" in one]
    assert said == ["2 queries whose judgements are all of grade 0 passed over"]
    assert said[0] in table(tmp_path, *words)
    if gold == ZERO:
        done = recallbench("compare", "run", "run", "--qrels", "gold", "--measures", "mrr@2", "--json", cwd=tmp_path)
        compared = json.loads(done.stdout)
        assert (compared["n"], compared["measures"][0]["first"]) == (found["n"], found["mean"]["mrr@2"])


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
        found = json.loads("\n".join(table(tmp_path, *words, *more, "--format", "json")))
        return found["mean"]["mrr@3"], found["ties"]

    theirs = pytrec_eval.RelevanceEvaluator(grades, {"recip_rank"}).evaluate(scores)
    assert {q: one["recip_rank"] for q, one in theirs.items()} == {"q1": 0.5, "q2": pytest.approx(1 / 3)}
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
        found = json.loads(recallbench(*words, "--json", cwd=tmp_path).stdout)
        assert found["measures"][0]["first"] == pytest.approx(mean)
        assert f"ties: {way}" in found["basis"]
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
