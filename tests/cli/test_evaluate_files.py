"""`recallbench score FILE --gold FILE`, through the real command line."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from ranking_files import (
    GOLD,
    GOLDS,
    KINDS,
    RANKED,
    RUNS,
    lines,
    refused,
    table,
    write,
    write_ranking_files,
)

import recallbench as api
from commandline import recallbench
from stages import sampled


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
def folder(tmp_path: Path) -> Path:
    write_ranking_files(tmp_path)
    return tmp_path


def test_the_command_line_and_the_api_give_the_same_numbers(folder: Path) -> None:
    document = json.loads(
        "\n".join(table(folder, "--gold", "gold.jsonl", "--k", "3", "--by", "kind", "--format", "json"))
    )
    cases = [api.Case(f"what of {q}?", GOLD[q], kind=KINDS[q], id=q) for q in GOLD]
    report = api.evaluate(cases, lambda query, k: RANKED[query[8:-1]][:k], k=3)
    report = replace(report, answers=tuple(replace(answer, ms=None) for answer in report.answers))  # no file has them
    assert document["mean"] == {
        "recall_frac@3": report.recall,
        "precision@3": report.precision,
        "mrr@3": report.mrr,
        "ndcg@3": report.ndcg,
        "f1@3": report.f1,
        "f1_of_means@3": report.f1_of_means,
    }
    assert document.pop("conclusion")["belief"] == "3 queries are too few to rely on"
    assert document == json.loads(report.table("json", by="kind"))
    text = "\n".join(table(folder, "--gold", "gold.jsonl", "--k", "3", "--by", "kind"))
    assert text == report.table("text", by="kind").rstrip("\n")


def test_a_run_that_is_deeper_than_k_is_cut_for_every_measure(tmp_path: Path) -> None:
    gold = {"q1": ["a"], "q2": ["b"]}
    deep = {"q1": ["x", "y", "z", "a"], "q2": ["x", "b"]}
    write(tmp_path, "gold.json", json.dumps(gold))
    write(tmp_path, "run.json", json.dumps(deep))
    words = ("--run", "run.json", "--gold", "gold.json", "--k", "2")
    document = json.loads("\n".join(table(tmp_path, *words, "--compare", "gold.json", "--format", "json")))
    report = api.evaluate([api.Case(q, ids) for q, ids in gold.items()], lambda query, k: deep[query][:k], k=2)
    # q1 has its id at 4, beyond k, and so 0 rather than 1/4.
    assert document["mean"] == {str(measure): report.value(measure) for measure in report.measures}
    assert document["mean"]["mrr@2"] == report.mrr == 0.25
    assert [part["measure"] for part in document["compare"]["measures"]][2] == "mrr@2"
    assert "mrr is mrr@2" in "\n".join(table(tmp_path, *words))


def test_csv_and_markdown_have_the_same_figures(folder: Path) -> None:
    words = ("--gold", "gold.jsonl", "--k", "3", "--by", "kind", "--format")
    rows = list(csv.DictReader(io.StringIO("\n".join(table(folder, *words, "csv")))))
    assert [(row["query"], row["recall_frac@3"], row["mrr"]) for row in rows] == [
        ("q1", "1.0", "1.0"), ("q2", "1.0", "0.3333333333333333"), ("q3", "1.0", "1.0"),
        ("MEAN kind=fact", "1.0", "0.6666666666666666"), ("MEAN kind=plan", "1.0", "1.0"),
        ("MEAN", "1.0", "0.7777777777777777"),
    ]  # fmt: skip
    markdown = table(folder, *words, "markdown")
    assert "| MEAN |  | 1.00 | 0.44 | 0.78 | 0.81 |" in markdown
    assert "| fact | 2 | 1.0000 | 0.3333 | 0.6667 | 0.7500 |" in markdown


def test_over_several_k_with_a_plot(folder: Path) -> None:
    words = ("--gold", "gold.jsonl", "--k", "3", "--ks", "1,3,5,10,20", "--plot", "p.svg")
    printed = table(folder, *words)
    start = printed.index("k   recall_frac@k  precision@k    f1@k  f1_of_means@k")
    assert printed[start + 1 : start + 6] == [
        "1          0.5000       0.6667  0.5556         0.5714",
        "3          1.0000       0.4444  0.6000         0.6154  *",
        "5          1.0000       0.2667  0.4127         0.4211",
        "10         1.0000       0.1333  0.2323         0.2353",
        "20         1.0000       0.0667  0.1241         0.1250",
    ]
    assert printed[-1] == "k = 3 has the highest f1@k (mean of per-query F1), 0.6000, over 3 cases"
    drawn = (folder / "p.svg").read_bytes()
    assert drawn.startswith(b"<?xml")
    document = json.loads("\n".join(table(folder, *words, "--format", "json")))
    assert document["ks"]["best_k_by_f1"] == 3
    assert document["ks"]["points"][0]["recall_frac@1"] == 0.5
    assert (folder / "p.svg").read_bytes() == drawn


def test_a_comparison_says_whether_a_change_helped(folder: Path) -> None:
    words = ("--gold", "gold.jsonl", "--k", "3", "--compare", "best.json")
    printed = "\n".join(table(folder, *words))
    assert "best.json (after) minus gold.jsonl (before)" in printed
    assert "ndcg@3: no difference shown, +0.1934" in printed
    comparison = json.loads("\n".join(table(folder, *words, "--format", "json")))["compare"]
    mrr = comparison["measures"][2]
    assert (mrr["measure"], mrr["wins"], mrr["ties"], mrr["losses"]) == ("mrr@3", 1, 2, 0)
    assert mrr["difference"] == pytest.approx(2 / 9)
    many = {f"q{n}": ["a"] for n in range(30)}
    write(folder, "many.json", json.dumps(many))
    write(folder, "worse.json", json.dumps({q: ["x", "a"] for q in many}))
    printed = "\n".join(
        table(folder, "--run", "many.json", "--gold", "many.json", "--k", "2", "--compare", "worse.json")
    )
    assert "mrr@2: hurt, -0.5000" in printed
    assert "recall_frac@2: no case changed" in printed


def test_an_interval_without_0_is_not_called_no_difference(folder: Path) -> None:
    gold = {f"q{n}": ["a"] for n in range(30)}
    write(folder, "thirty.json", json.dumps(gold))
    write(folder, "six.json", json.dumps({q: ["x", "a"] if n < 6 else ["a"] for n, q in enumerate(gold)}))
    words = ("--gold", "thirty.json", "--k", "2", "--compare", "thirty.json")
    comparison = json.loads("\n".join(table(folder, "--run", "six.json", *words, "--format", "json")))["compare"]
    mrr = next(part for part in comparison["measures"] if part["measure"] == "mrr@2")
    assert mrr["low"] > 0
    assert mrr["p"] == 2 / 2**6
    assert mrr["p_holm"] > 0.05
    assert mrr["verdict"] == "not settled: the interval excludes 0, the corrected p does not reach 0.05"
    printed = "\n".join(table(folder, "--run", "six.json", *words))
    assert f"mrr@2: {mrr['verdict']}, +0.1000" in printed


# Text
@pytest.mark.marked
def test_files_are_matched_by_text(tmp_path: Path) -> None:
    rows = [
        {"query": "capital?", "expected": "Paris is the capital of France.",
         "ranked": ["Berlin is big.", "Paris is the capital and most populous city of France…"]},
        {"query": "colour?", "expected": "Blue", "ranked": [{"id": "m1", "text": "blue!"}, "red"]},
        {"query": "moon?", "expected": "The moon is made of rock", "ranked": ["Tea", "Cheese"]},
    ]  # fmt: skip
    write(tmp_path, "gold.jsonl", lines(rows))
    printed = table(tmp_path, "--gold", "gold.jsonl", "--k", "2", "--match", "tokens")
    assert printed[0] == "3 cases, k = 2, matching: tokens f1>=0.3"
    assert printed[3:7] == [
        "capital?           1.00         0.50  0.50    0.63",
        "colour?            1.00         0.50  1.00    1.00",
        "moon?              0.00         0.00  0.00    0.00",
        "MEAN               0.67         0.33  0.50    0.54",
    ]
    assert "of the 3 cases decided by text, top 2: 1 found by an exact match, 1 by a fuzzy one, 1 not found" in printed
    for name in ("exact ", *(f"tokens f1>=0.{n} " for n in range(1, 7))):
        assert any(line.startswith(name) for line in printed)
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
    printed = table(tmp_path, *words)
    assert printed[0] == "2 cases, k = 2, matching: exact"
    assert printed[printed.index("decided by  n  recall_frac@2  precision@2     mrr  ndcg@2") + 1 :][:2] == [
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
def test_ids_where_texts_are_needed_are_refused_or_warned_of(tmp_path: Path) -> None:
    row = {"query": "capital?", "expected": "Paris is the capital", "ranked": ["1", "2"]}
    words = ("--gold", "gold.jsonl", "--k", "2", "--match", "tokens")
    write(tmp_path, "gold.jsonl", lines([{**row, "relevant": ["2"]}]))
    message = refused(tmp_path, *words)
    assert "a relevant id where a text should be" in message
    assert "--texts" in message
    write(tmp_path, "corpus.jsonl", lines([{"_id": "1", "text": "Rome"}, {"_id": "2", "text": "The capital: Paris"}]))
    assert table(tmp_path, *words, "--texts", "corpus.jsonl")[4].split() == ["MEAN", "1.00", "0.50", "0.50", "0.63"]
    write(tmp_path, "gold.jsonl", lines([row]))
    done = recallbench("evaluate", *words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("recallbench: warning: no texts (--texts FILE): each hit, such as '1', was taken")
    assert "warning: no texts" in done.stdout
    done = recallbench("evaluate", *words, "--texts", "corpus.jsonl", cwd=tmp_path)
    assert done.stderr == ""


def test_queries_that_only_one_file_has(tmp_path: Path) -> None:
    write(tmp_path, "gold.json", '{"q1": ["a"], "q2": ["b"]}')
    write(tmp_path, "run.json", '{"q1": {"a": 1}, "q9": {"a": 1}}')
    printed = table(tmp_path, "--run", "run.json", "--gold", "gold.json", "--k", "1")
    assert "run.json: 1 query (q2) not answered, which counts as an empty ranking" in printed
    assert "run.json: 1 query (q9) not in the gold, left out" in printed
    assert printed[5] == "MEAN            0.50         0.50  0.50    0.50"
    write(tmp_path, "other.json", '{"x": {"a": 1}}')
    assert "answers no query of the gold" in refused(tmp_path, "--run", "other.json", "--gold", "gold.json")


@pytest.mark.parametrize("option", ["--run", "--compare"])
def test_ids_that_the_gold_does_not_know_are_no_recall_of_0(tmp_path: Path, option: str) -> None:
    write(tmp_path, "qrels.trec", "q1 0 doc-1 1\nq1 0 doc-2 0\nq2 0 doc-3 1\n")
    write(tmp_path, "run.trec", "q1 Q0 t1/0 1 2 me\nq1 Q0 t1/1 2 1 me\nq2 Q0 t2/0 1 1 me\n")
    write(tmp_path, "good.json", '{"q1": ["doc-9", "doc-2"]}')  # judged, though not relevant
    words = ("--run", "good.json", "--gold", "qrels.trec", option, "run.trec")
    message = refused(tmp_path, *words)
    assert "not one id of run.trec occurs in the gold" in message
    assert "expected: ids such as 'doc-1', 'doc-2'" in message
    assert "found: ids such as 't1/0', 't1/1'" in message
    assert refused(tmp_path, *words, "--keep-going") == message
    assert table(tmp_path, "--run", "good.json", "--gold", "qrels.trec")[5].split()[:2] == ["MEAN", "0.00"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--k", "0"), "expected: a whole number from 1 to 10,000\n  found: 0, which is too small"),
        (("--k", "three"), "--k"),
        (("--ks", "1,0"), "--ks are depths"),
        (("--ks", "1;2"), "--ks are depths"),
        (("--ks", "1", "--plot", "x.png"), "what to do: --plot x.svg"),
        (("--ks", "1", "--plot", "plot"), "expected: a file that ends in .svg"),
        (("--ks", "1", "--plot", "."), "a file that ends in .svg"),
        (("--plot", "p.svg"), "--plot draws what --ks works out"),
        (("--format", "csv", "--ks", "1"), "CSV holds one table"),
        (("--by", "colour"), "no query has a field colour"),
        (("--match-chunk", "60"), "ids have no chunks"),
        (("--match", "tokens"), "nothing to match by text"),
        (("--match", "tokens", "--match-threshold", "2"), "between 0 and 1"),
        (("--texts", "gold.jsonl"), "--texts are for matching by text"),
        (("--compare", "absent.json"), "absent.json"),
        (("--store", "bm25"), "No such option '--store'"),
        (("--precision", "found"), "'found' is not one of 'k', 'retrieved'"),
        (("--percentiles", "median"), "'median' is not one of 'nearest-rank', 'index', 'linear'"),
        (("--percentiles", "index"), "expected: `ms` with each query, in JSON Lines\n  found: no times in gold.jsonl"),
        (("--gold", "absent.jsonl"), "absent.jsonl"),
        (("--run", "empty"), "empty"),
        (("--run", "words"), "6 columns"),
        (("--run", "list.json"), "not one of the forms"),
        (("--run", "cut.json"), "cut.json"),
        (("--run", "."), "what to do: recallbench evaluate ."),
    ],
)
def test_impossible_options_and_files_are_refused(folder: Path, words: tuple[str, ...], message: str) -> None:
    for name, text in (
        ("empty", "\n"),
        ("words", "hello there\n"),
        ("list.json", '{"q1": 3}'),
        ("cut.json", '{"q1": {'),
    ):
        write(folder, name, text)
    assert message in refused(folder, "--gold", "gold.jsonl", *words)


@pytest.mark.marked
def test_files_and_a_folder_have_options_of_their_own(folder: Path) -> None:
    def refusal(*words: str) -> str:
        done = recallbench("evaluate", *words, cwd=folder)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    assert "nothing to evaluate" in refusal()
    assert "a folder and files at once" in refusal(".", "--gold", "gold.jsonl")
    assert "--texts is for rankings in files" in refusal(".", "--texts", "corpus.jsonl")
    assert "--store is for a set of your own" in refusal("--gold", "gold.jsonl", "--store", "bm25")


def test_the_files_of_a_result_folder_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    for name in ("run.trec", "qrels.trec"):
        write(folder, name, "")
    message = recallbench("evaluate", "r", "--ks", "1", cwd=tmp_path).stderr
    assert "r is a result, no set of your own" in message
    assert "score its rankings: recallbench score r/run.trec --gold r/qrels.trec" in message
    write(folder, "qrels.graded.trec", "")
    message = recallbench("evaluate", "r", "--by", "kind", cwd=tmp_path).stderr
    assert "score its rankings: recallbench score r/run.trec --gold r/qrels.graded.trec" in message


def test_a_result_folder_can_be_scored_again(tmp_path: Path) -> None:
    done: subprocess.CompletedProcess[str]
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    refusal = recallbench("score", "r", cwd=tmp_path)
    assert "what to do: recallbench score r/run.trec --gold r/qrels.trec" in refusal.stderr
    stated = {estimate["measure"]: estimate["value"] for estimate in metrics["estimates"]["overall"]}
    words = ("--run", "r/run.trec", "--gold", "r/qrels.trec", "--format", "json")
    document = json.loads("\n".join(table(tmp_path, *words)))
    for name in ("recall_frac@10", "precision@10", "ndcg@10", "f1@10"):
        assert document["mean"][name] == pytest.approx(stated[name])


@pytest.mark.parametrize("words", [("--gold", "{}/g.jsonl", "--k", "3"), ("--run", "{}/r.trec", "--gold", "{}/q.trec")])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_file_is_named_as_the_user_named_it(tmp_path: Path, words: tuple[str, ...], absolute: bool) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    write(tmp_path, "a/b/g.jsonl", '{"query": "q", "relevant": ["x"], "ranked": ["x"]}\n{"query": 5x}\n')
    write(tmp_path, "a/b/r.trec", "q Q0 x 1 1 me\nq Q0\n")
    write(tmp_path, "a/b/q.trec", "q 0 x 1\n")
    folder = str(tmp_path / "a/b") if absolute else "a/b"
    message = refused(tmp_path, *(word.format(folder) for word in words))
    assert message.startswith(f"recallbench: {words[1].format(folder)}, line 2: ")
    folder = "."
    message = refused(tmp_path / "a/b", *(word.format(folder) for word in words))
    assert message.startswith(f"recallbench: {words[1].removeprefix('{}/')}, line 2: ")
