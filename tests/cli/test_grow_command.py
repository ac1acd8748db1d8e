"""`recallbench grow`: recall and p95 against the size of the haystacks."""

from __future__ import annotations

import csv
import hashlib
import json
import shlex
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import EXPECTING, SAYING, beir, jsonl, short
from loopback_hub import LoopbackHub
from recallbench.cli.measure.grow import grow
from recallbench.cli.measure.latency import latency
from recallbench.reports.growth.conclusion import OF_GROW


def test_a_corpus_grows_by_its_other_haystacks(tmp_path: Path) -> None:
    words = ("grow", "canary-locomo", "--store", "bm25", "--factors", "1,2", "--limit", "30")
    done = recallbench(*words, "--format", "json", "--plot", "plot.svg", cwd=tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    first, second = document["sizes"]
    assert (first["factor"], second["factor"]) == (1, 2)
    assert second["stored"] == 2 * first["stored"]
    assert [estimate["measure"] for estimate in first["estimates"]] == ["recall_any@10", "recall_frac@10", "mrr@50"]
    assert second["estimates"][0]["chance"] < first["estimates"][0]["chance"]
    assert first["p95_ms"] >= first["p50_ms"] > 0
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    # The change from the smallest to the largest is paired over the same questions.
    change = document["change"]
    values = [size["estimates"][0]["value"] for size in document["sizes"]]
    assert (change["measure"], change["n"]) == ("recall_any@10", 30)
    assert change["difference"] == pytest.approx(values[1] - values[0], abs=1e-9)
    assert document["conclusion"]["happened"].startswith("recall_any@10 ")
    run = recallbench("run", "canary-locomo", "--store", "bm25", "--limit", "30", "--folder", "r", cwd=tmp_path)
    assert run.returncode == 0
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    assert metrics["headline"][0]["estimate"]["value"] == round(first["estimates"][0]["value"], 10)


def test_a_labelled_set_grows_by_a_file(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": f"Something else, number {i}."} for i in range(30)])
    words = ("grow", "team", "--store", "bm25", "--distractors", "more.jsonl", "--format", "markdown")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split("|")[1].strip() for line in done.stdout.splitlines()[2:6]] == ["1x", "2x", "5x", "10x"]
    assert "distractors: more.jsonl, seed 42" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("**recall_any@10 stays at 1.0000 up to 10x")
    sheet = recallbench(*words[:-2], "--format", "csv", "-q", cwd=tmp_path)
    rows = list(csv.DictReader(sheet.stdout.splitlines()))
    assert [row["size"] for row in rows] == ["1", "2", "5", "10"]
    assert {row["recall_any@10"] for row in rows} == {"1.0"}
    assert "recall_any@10 stays at 1.0000 up to 10x, for each of 3 questions; p95 " in sheet.stderr
    page = recallbench(*words[:-2], "--format", "html", "-q", cwd=tmp_path).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<svg") == 1
    assert "A p95 of 4 queries has no upper bound: that takes 59." in page


def test_a_file_of_distractors_is_no_registered_corpus(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    jsonl(tmp_path / "more.jsonl", [{"_id": "x", "text": "Something else."}] * 2)
    done = recallbench("grow", "team", "--store", "bm25", "--distractors", "more.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "found: x, as on line 1\n  what to do: mend the file\n" in done.stderr


@pytest.mark.marked
def test_a_corpus_that_cannot_grow_is_refused(tmp_path: Path) -> None:
    beir(tmp_path / "team", [{"_id": "a", "text": "b"}], [{"_id": "q", "text": "b?"}], test="q\ta\t1\n")
    done = recallbench("grow", "team", "--store", "bm25", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("recallbench: the haystacks of team can't grow\n")
    assert "--distractors" in done.stderr
    limited = recallbench(
        "grow", "canary-locomo", "--store", "bm25", "--factors", "1,500", "--limit", "5", cwd=tmp_path
    )
    assert "500x left out: there are documents for 3x" in limited.stderr
    assert "500x left out: there are documents for 3x, which stands in the last row." in limited.stdout
    for factors in ("0", "two", "1,,2", "-1"):
        assert recallbench("grow", "team", f"--factors={factors}", cwd=tmp_path).returncode == 2


def test_what_it_says_next_can_be_pasted(tmp_path: Path) -> None:
    beir(tmp_path / "my team")
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": f"Something else, number {i}."} for i in range(30)])
    words = ("my team", "--store", "bm25", "--distractors", "more.jsonl", "-q", "--plot", "a.svg")
    done = recallbench("grow", *words, "--factors", "1", cwd=tmp_path)
    again = done.stdout.splitlines()[-1].partition("; next: ")[2]
    assert again == ("recallbench grow 'my team' --store bm25 --distractors more.jsonl -q --plot a.svg --factors 1,2,5")
    grown = recallbench(*shlex.split(again)[1:], cwd=tmp_path)
    assert grown.returncode == 0
    # A busy machine asks for the same again; else the times under load are next, which have options of their own.
    then = grown.stdout.splitlines()[-1].partition("; next: ")[2]
    if "the machine was busy" in grown.stdout:
        assert then == f"{again} --require-quiet"
    else:
        assert then == "recallbench latency 'my team' --store bm25 --distractors more.jsonl -q --sizes 1,5"


def test_latency_has_every_option_of_grow_that_it_is_handed() -> None:
    options = [{name for param in command.params for name in param.opts} for command in (grow, latency)]
    assert options[0] - options[1] == set(OF_GROW)


def test_the_next_command_holds_no_login(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Memory:\n    def __init__(self, password=''):\n        self.ids = []\n"
        "    def add(self, id, text):\n        self.ids.append(id)\n"
        "    def search(self, query, k):\n        return self.ids[:k]\n"
    )
    secret = "it's Tr0ub4dor&3"
    words = ("--store", "python:mine:Memory", "--set", f"password={secret}", "--limit", "5", "--factors", "1")
    done = recallbench("grow", "canary-locomo", *words, "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert "; next: recallbench grow canary-locomo --store python:mine:Memory --set " in done.stdout
    assert "Tr0ub4dor" not in done.stdout + done.stderr


def test_factors_without_documents_are_named_in_every_format(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": f"Something else, number {i}."} for i in range(7)])
    words = ("grow", "team", "--store", "bm25", "--distractors", "more.jsonl", "--factors", "1,2,5,10", "-q")
    document = json.loads(recallbench(*words, "--format", "json", cwd=tmp_path).stdout)
    assert (document["left_out"], document["room"], document["pool"]) == ([5, 10], 3, 7)
    assert document["percentiles"] == "nearest-rank"
    assert [size["factor"] for size in document["sizes"]] == [1, 2, 3]
    for format in ("text", "markdown"):
        printed = recallbench(*words, "--format", format, cwd=tmp_path).stdout
        assert "5x, 10x left out: there are documents for 3x, which stands in the last row." in printed
        assert "warm queries, one by one, end to end, on this machine, percentiles are nearest ranks:" in printed


def test_a_document_that_matches_an_expected_text_is_no_distractor(tmp_path: Path) -> None:
    short(tmp_path / "team", EXPECTING, SAYING)
    others = [{"_id": f"x{i}", "text": f"Something else, number {i}."} for i in range(4)]
    answers = ["Of France, Paris is the capital city.", "The ferry leaves at nine o'clock."]
    more = [*others, *({"_id": f"a{i}", "text": text} for i, text in enumerate(answers))]
    jsonl(tmp_path / "more.jsonl", more)
    words = ("grow", "team", "--store", "bm25", "--distractors", "more.jsonl", "--factors", "1,2", "-q")
    done = recallbench(*words, "--match", "tokens", "--match-threshold", "0.5", "--format", "json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["corpus"].endswith("+tokens-0.5")
    assert document["matching"] == "tokens f1>=0.5"
    assert (document["passed_over"], document["pool"], document["room"], document["unmatched"]) == (2, 6, 2, 1)
    assert document["sizes"][1]["stored"] == 8  # with the two answers taken out, four are left for the four
    printed = recallbench(*words, "--match", "tokens", "--match-threshold", "0.5", cwd=tmp_path).stdout
    assert "Matched by tokens f1>=0.5." in printed
    assert "1 query matches no document, and is in no mean." in printed
    assert "2 of 6 documents match what a query of another haystack expects: no distractors there" in printed
    exact = json.loads(recallbench(*words, "--match", "exact", "--format", "json", cwd=tmp_path).stdout)
    # A single document holds it word by word, among other words.
    assert (exact["matching"], exact["passed_over"], exact["unmatched"]) == ("exact", 1, 2)


def test_a_copy_of_a_relevant_document_is_no_distractor(tmp_path: Path) -> None:
    documents = [{"_id": "a", "text": "The ferry leaves at nine."}, {"_id": "b", "text": "Rain."}]
    short(tmp_path / "team", [{"query": "When does the ferry leave?", "relevant": ["a"]}], documents)
    copies = ["The ferry leaves\n at nine. ", "The ferry leaves at nine."]
    # A copy of an irrelevant document may be added, and a copy in other words is not recognised.
    others = ["Rain.", "The ferry leaves at nine!", "Something else."]
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": text} for i, text in enumerate([*copies, *others])])
    words = ("grow", "team", "--store", "bm25", "--distractors", "more.jsonl", "--factors", "1,2", "-q")
    document = json.loads(recallbench(*words, "--format", "json", cwd=tmp_path).stdout)
    assert (document["matching"], document["pool"], document["passed_over"], document["room"]) == ("id", 5, 2, 2)
    printed = recallbench(*words, cwd=tmp_path).stdout
    sentence = (
        "2 of 5 documents say word by word what a relevant document of another haystack says: no distractors there"
    )
    assert sentence in printed
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": text} for i, text in enumerate(copies)])
    refused = recallbench(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "found: 2 in all, of which 2 say what a relevant one says" in refused.stderr


def test_a_set_of_the_hub_grows(tmp_path: Path) -> None:
    revision = "a" * 40
    corpus = b'{"_id": "oslo", "text": "The ferry to Oslo leaves at nine."}\n{"_id": "rain", "text": "It rains."}\n'
    contents = {
        "corpus.jsonl": corpus,
        "queries.jsonl": b'{"_id": "q1", "text": "When does the ferry leave?"}\n',
        "qrels/dev.tsv": b"query-id\tcorpus-id\tscore\nq1\toslo\t1\n",
    }
    jsonl(tmp_path / "more.jsonl", [{"_id": f"x{i}", "text": f"Something else, number {i}."} for i in range(2)])
    pin = f"corpus.jsonl={hashlib.sha256(corpus).hexdigest()}"
    name = f"hub:team/trips@{revision}"
    words = ("grow", name, "--store", "bm25", "--distractors", "more.jsonl", "--factors", "1,2", "--format", "json")
    with LoopbackHub({f"datasets/team/trips/{file}": body for file, body in contents.items()}) as hub:
        env = {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "RECALLBENCH_DATA_DIR": str(tmp_path / "data")}
        done = recallbench(*words, "--split", "dev", "--pin", pin, cwd=tmp_path, env=env)
        assert done.returncode == 0
        wrong = recallbench(*words, "--split", "dev", "--pin", f"corpus.jsonl={'0' * 64}", cwd=tmp_path, env=env)
        assert wrong.returncode == 2
    document = json.loads(done.stdout)
    assert document["corpus"].startswith(f"labelled/team--trips-{revision}@")
    assert [size["stored"] for size in document["sizes"]] == [2, 4]


@pytest.mark.marked
def test_an_option_that_would_do_nothing_is_refused(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    for words in (
        ("canary-locomo", "--match", "tokens"),
        ("canary-locomo", "--split", "dev"),
        ("canary-locomo", "--pin", f"corpus.jsonl={'0' * 64}"),
        ("team", "--corpus-file", "x.json"),
        ("team", "--pin", f"corpus.jsonl={'0' * 64}"),
        ("team", "--match-threshold", "0.5"),
    ):
        done = recallbench("grow", *words, "--store", "bm25", cwd=tmp_path)
        assert done.returncode == 2
        assert words[1] in done.stderr


@pytest.mark.marked
def test_answers_that_an_index_cuts_short_are_said_before_and_counted_after(tmp_path: Path) -> None:
    index = ("--embedder", "hash", "--weights", "cosine", "--set", "index=hnsw", "--set", "ef_search=10")
    words = ("grow", "canary-locomo", "--store", "pgvector", *index, "--limit", "20", "--factors", "1,2")
    done = recallbench(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert "ef_search 10 caps every answer at 10 of the 50 hits asked for" in done.stderr
    assert "1x: rows of the calls for 50: 1,000 asked, 380 eligible, 200 returned (52.6% of the eligible); 20" in (
        done.stdout
    )
    assert "2x: rows of the calls for 50: 1,000 asked, 760 eligible, " in done.stdout


def test_a_plot_that_can_not_be_drawn_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    done = recallbench("grow", "canary-locomo", "--store", "bm25", "--plot", "p.png", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--plot draws SVG" in done.stderr
    assert "what to do: --plot p.svg; for a page: --format html > FILE.html" in done.stderr
