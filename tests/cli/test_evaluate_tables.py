"""`recallbench evaluate DIR` with the options of a table: --k, --by, --ks, --compare, --format, --plot."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import EXPECTING, SAYING, beir, jsonl, short
from stages import sampled

FICKLE = """
def open_memory(items, vectors):
    def search(query, k):
        # Another ranking for k = 10 than for k = 50.
        ranked = items if k == 10 else items[::-1]
        return [(item.id, -float(position)) for position, item in enumerate(ranked[:k])]
    return search
open_memory.needs_vectors = False
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    beir(tmp_path / "team")
    return tmp_path


def test_the_table_stands_below_the_headline_and_its_figures_are_those_of_the_result(folder: Path) -> None:
    words = ("--store", "bm25", "--folder", "result", "--k", "2", "--by", "tenant")
    done = recallbench("evaluate", "team", *words, cwd=folder)
    assert done.returncode == 0
    headline, table = done.stdout.split("4 cases, k = 2, matching: id\n")
    assert "\nrecall@2   recall_any@2   1.0000  0.4385 to 1.0000  3  0.8889  1.0000  33.3%\n" in headline
    assert "recall@10  recall_any@10  1.0000" in headline
    assert table.splitlines()[-1].startswith(
        "bm25 finds a right document among the first 2 for 100.0% of 3 questions (recall_any@2 1.0000, "
    )
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line}
    # q1 has two relevant documents, of which the ferry alone is among the first two.
    assert rows["query"] == ["kind", "recall_frac@2", "precision@2", "mrr", "ndcg@2"]
    assert rows["q1"] == ["travel", "0.50", "0.50", "1.00", "0.76"]
    assert rows["q4"] == ["abstention", "–", "–", "–", "–"]
    assert rows["MEAN"] == ["0.83", "0.50", "1.00", "0.92"]
    assert rows["north"] == ["2", "0.7500", "0.5000", "1.0000", "0.8801"]
    assert rows["south"] == ["1", "1.0000", "0.5000", "1.0000", "1.0000"]
    # The fjord is third for both questions of the north, one of which it answers.
    assert "coverage: 4 of 5 documents (80.0%) came back among the first 2 of at least one query; 4 of 4 " in table


def test_a_question_that_should_find_nothing_is_told_alike_everywhere(folder: Path) -> None:
    words = ("evaluate", "team", "-q", "--folder")
    told = "1 that should find nothing, in no mean"
    first = recallbench(*words, "first", "--store", "bm25", "--by", "kind", cwd=folder).stdout
    assert f"\n4 questions asked, {told}\n" in first
    assert f"\n{told}\n" in first.split("4 cases, ")[1]
    assert recallbench(*words, "second", "--store", "exact", "--embedder", "hash", cwd=folder).returncode == 0
    compared = recallbench("compare", "first", "second", cwd=folder).stdout
    assert f"\n4 questions asked, 0 without evidence left out, {told}; scope own" in compared
    assert "\n3 questions counted" in compared
    assert f"which the means leave out: 0. Of those asked, {told}.\n" in (folder / "first/report.md").read_text()
    audit = recallbench("audit", "first", "--corpus-file", "team", "--verbose", cwd=folder).stdout
    assert re.search(r"pass\s+RB-REPORT", audit)


def test_json_holds_everything_and_nothing_else_is_on_stdout(folder: Path) -> None:
    words = (
        "--store",
        "bm25",
        "--folder",
        "result",
        "--format",
        "json",
        "--by",
        "kind",
        "--ks",
        "1,5",
        "--plot",
        "k.svg",
    )
    done = recallbench("evaluate", "team", *words, cwd=folder)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert "report: " in done.stderr
    assert document["result"] == "result"
    assert document["corpus"].startswith("labelled/team@")
    metrics = json.loads((folder / "result" / "metrics.json").read_text())
    stated = {estimate["measure"]: estimate for estimate in metrics["estimates"]["overall"]}
    shown = {estimate["measure"]: estimate for estimate in document["estimates"]}
    for name in ("recall_frac@10", "precision@10", "ndcg@10", "f1@10"):
        for part in ("value", "low", "high", "chance", "ceiling", "n", "method"):
            expected = stated[name][part]
            assert shown[name][part] == (pytest.approx(expected) if isinstance(expected, float) else expected), name
    assert document["by"]["kind"]["travel"]["n"] == 2
    assert document["ks"]["best_k_by_f1"] == 1
    assert document["ks"]["points"][0]["precision@1"] == 1.0
    assert (folder / "k.svg").read_text().startswith("<?xml")


def test_csv_and_markdown_are_the_table_alone(folder: Path) -> None:
    words = ("evaluate", "team", "--store", "bm25", "-q", "--format")
    done = recallbench(*words, "csv", cwd=folder)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["query"] for row in rows] == ["q1", "q2", "q3", "q4", "MEAN"]
    assert rows[0]["recall_frac@10"] == "1.0"
    last = (
        "bm25 finds a right document among the first 10 for 100.0% of 3 questions; any order would: so few are there; "
        "MRR tells more: 1.0000 against 0.7315 by chance; next: open benchmarks/labelled/team/results/"
    )
    (ending,) = done.stderr.strip().splitlines()
    assert ending.startswith(last)
    done = recallbench(*words, "markdown", "--k", "3", cwd=folder)
    assert done.stdout.startswith("4 cases, k = 3, matching: id\n\n| query | kind | recall_frac@3 |")
    # What is asked for is what is answered.
    at_3 = last.replace("first 10", "first 3")
    assert done.stdout.splitlines()[-1].startswith(f"**{at_3}")
    page = recallbench(*words, "html", cwd=folder).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert f"<p><strong>{last}" in page
    stated = json.loads(recallbench(*words, "json", cwd=folder).stdout)
    assert stated["conclusion"]["text"].startswith(last)


def test_a_set_of_ones_own_ends_in_words_and_the_labels_are_for_whoever_asks(folder: Path) -> None:
    words = ("evaluate", "team", "--store", "bm25", "-q", "--folder")
    plain = recallbench(*words, "plain", cwd=folder)
    assert plain.stdout.splitlines()[-2:] == [
        "",
        "bm25 finds a right document among the first 10 for 100.0% of 3 questions; any order would: so few are there; "
        "MRR tells more: 1.0000 against 0.7315 by chance; next: open plain/report.html",
    ]
    for word in ("pgmnemo", "CANONICAL", "VERIFIED", "deviation", "protocol"):
        assert word not in plain.stdout + plain.stderr
    verdict = "verdict: UNVERIFIED (pending: committed), not CANONICAL"
    for asked in ("--verdict", "--require-verified"):
        told = recallbench(*words, asked.strip("-"), asked, cwd=folder).stdout.splitlines()
        assert verdict in told
        assert "deviation: store: bm25 instead of pgmnemo" in told
    compared = recallbench(*words, "again", "--compare", "plain", "--stale-after", "1d", cwd=folder)
    last = compared.stdout.splitlines()[-1]
    assert last.endswith("; next: recallbench compare plain again")
    assert "warning: labels are older than 1d: the oldest is of 2026-05-01; look at them again" in compared.stderr


def test_an_earlier_result_can_be_compared_with(folder: Path) -> None:
    assert recallbench("evaluate", "team", "--store", "bm25", "--folder", "before", cwd=folder).returncode == 0
    words = ("--store", "exact", "--embedder", "hash", "--compare", "before")
    done = recallbench("evaluate", "team", *words, "--folder", "after", cwd=folder)
    assert done.returncode == 0
    assert "A against B" not in done.stdout.split("A: before")[0]
    assert "A: before, bm25" in done.stdout
    assert "B: after, exact" in done.stdout
    assert "they differ in store: bm25 against exact" in done.stdout
    done = recallbench("evaluate", "team", *words, "--folder", "again", "--format", "json", cwd=folder)
    compared = json.loads(done.stdout)["compare"]
    row = next(part for part in compared["measures"] if part["measure"] == "mrr@50")
    assert row["difference"] == pytest.approx(-1 / 6)


def test_an_earlier_result_of_something_else_is_refused_before_the_store_works(folder: Path) -> None:
    beir(folder / "other", queries=[{"_id": "q1", "tenant": "north", "text": "When?"}], test="q1\toslo\t1\n")
    assert recallbench("evaluate", "other", "--store", "bm25", "--folder", "before", cwd=folder).returncode == 0
    words = ("--store", "bm25", "--folder", "after", "--compare")
    refused = recallbench("evaluate", "team", *words, "before", cwd=folder)
    assert refused.returncode == 2
    assert "before is a result of something else" in refused.stderr
    assert not (folder / "after").exists()
    assert recallbench("evaluate", "team", *words, "nowhere", cwd=folder).returncode == 2


def test_results_matched_in_different_ways_are_not_compared(tmp_path: Path) -> None:
    short(tmp_path / "texts", EXPECTING, SAYING)
    words = ("evaluate", "texts", "--store", "bm25", "--match", "tokens")
    done = recallbench(*words, "--folder", "tokens", "--k", "2", cwd=tmp_path)
    assert done.returncode == 0
    assert "4 cases, k = 2, matching: tokens f1>=0.3" in done.stdout
    refused = recallbench(*words, "--match-threshold", "0.5", "--compare", "tokens", cwd=tmp_path)
    assert refused.returncode == 2
    assert "is a result of something else" in refused.stderr


def test_a_set_and_its_exported_rankings_give_the_same_figures(tmp_path: Path) -> None:
    times = [{"_id": f"t{n}", "text": f"The ferry leaves at {n}."} for n in ("nine", "ten", "noon", "six")]
    rain = [{"_id": f"r{n}", "text": f"It rains in {n}."} for n in ("Bergen", "Oslo")]
    documents = [rain[0], *times, rain[1], {"_id": "no", "text": "When to leave, and leave whom?"}]
    labels = [
        {"query_id": "ferry", "query": "When does the ferry leave, at ten?", "expected": "the ferry leaves at nine"},
        {"query_id": "rain", "query": "Where at does it rain?", "expected": "it rains in Bergen", "kind": "weather"},
        {"query_id": "none", "query": "Who sells cars?", "kind": "abstention"},
    ]
    short(tmp_path / "team", labels, documents)
    table = (
        "--match",
        "tokens",
        "--match-threshold",
        "0.7",
        "--allow-random-matches",
        "--format",
        "json",
        "--k",
        "2",
        "-q",
    )
    done = recallbench("evaluate", "team", "--store", "bm25", "--folder", "made", *table, cwd=tmp_path)
    by_set = json.loads(done.stdout)
    jsonl(tmp_path / "texts.jsonl", [
        {"_id": f"all/{n}", "text": document["text"]} for n, document in enumerate(documents)
    ])  # fmt: skip
    files = ("--run", "made/run.trec", "--gold", "team/gold.jsonl", "--texts", "texts.jsonl")
    by_run = json.loads(recallbench("evaluate", *files, *table[:-1], cwd=tmp_path).stdout)
    assert by_set["mean"] == by_run["mean"]
    # Four say when a ferry leaves, but what comes first says nothing; both that say where it rains are on top.
    assert by_run["mean"]["precision@2"] == 0.75
    assert by_run["mean"]["mrr@2"] == 0.75
    assert by_run["mean"]["recall_frac@2"] == 1.0
    names = ("precision@2", "recall_frac@2", "ndcg@2", "mrr@2", "f1@2")
    rows = [
        {row["query_id"]: [row.get(name) for name in names] for row in document["rows"]}
        for document in (by_set, by_run)
    ]
    assert rows[0] == rows[1]


def test_a_small_k_is_scored_from_the_same_call_as_in_the_result(folder: Path) -> None:
    (folder / "fickle.py").write_text(FICKLE)
    words = ("--store", "python:fickle:open_memory", "--folder", "result", "--format", "json", "--ks", "1,10,20", "-q")
    document = json.loads(recallbench("evaluate", "team", *words, cwd=folder).stdout)
    stated = {
        entry["measure"]: entry["value"]
        for entry in json.loads((folder / "result" / "metrics.json").read_text())["estimates"]["overall"]
    }
    points = {entry["k"]: entry for entry in document["ks"]["points"]}
    # In file order q1's ferry is first, q3's train too; from behind neither is.
    assert points[1]["recall_frac@1"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert points[10]["recall_frac@10"] == pytest.approx(stated["recall_frac@10"])
    mean = document["mean"]["mrr@10"]
    assert mean == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert mean != pytest.approx(stated["mrr@50"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--k", "60"), "k = 60 is beyond the rankings"),
        (("--ks", "1,60"), "k = 60 is beyond the rankings"),
        (("--k", "0"), "k is how many hits are asked for"),
        (("--by", "colour"), "queries of a set can't be sliced by colour"),
        (("--plot", "k.svg"), "--plot draws what --ks works out"),
        (("--ks", "1", "--plot", "nowhere/k.svg"), "nowhere/k.svg can't be written"),
        (("--texts", "corpus.jsonl"), "--texts is for rankings in files"),
    ],
)
def test_impossible_tables_are_refused(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = recallbench("evaluate", "team", "--store", "bm25", *words, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_result_is_no_labelled_set(folder: Path) -> None:
    assert recallbench("evaluate", "team", "--store", "bm25", "--folder", "result", cwd=folder).returncode == 0
    done = recallbench("evaluate", "result", "--k", "3", cwd=folder)
    assert done.returncode == 2
    assert "result is a result, no set of your own" in done.stderr
    assert "recallbench score result/run.trec --gold result/qrels.graded.trec" in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "shown"),
    sampled([("K", "2", "4 cases, k = 2"), ("KS", "1,2", "has the highest f1@k"), ("BY", "tenant", "\nsouth "),
             ("COMPARE", "before", "no case changed")]),
)  # fmt: skip
def test_variables_and_configuration_ask_for_the_table_too(folder: Path, variable: str, value: str, shown: str) -> None:
    if variable == "COMPARE":
        recallbench("evaluate", "team", "--store", "bm25", "--folder", "before", cwd=folder)
        shown = "B minus A"
    words = ("evaluate", "team", "--store", "bm25", "-q", "--folder")
    done = recallbench(*words, "one", cwd=folder, env={f"RECALLBENCH_{variable}": value})
    assert done.returncode == 0
    assert "4 cases, k = " in done.stdout
    assert shown in done.stdout
    (folder / "all.toml").write_text(f'{variable.lower()} = "{value}"\nplot = "p.svg"\nn = 20\n')
    done = recallbench(*words, "two", "--config", "all.toml", cwd=folder)
    assert done.returncode == 0
    assert shown in done.stdout
    assert (folder / "p.svg").exists() == (variable == "KS")


def refusal(folder: Path, *words: str) -> str:
    """Return the error of a command that is refused before the store works."""
    done = recallbench("evaluate", "team", "--store", "bm25", "--folder", "after", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert not (folder / "after").exists()
    return done.stderr


@pytest.mark.marked
def test_impossible_options_are_refused_before_the_store_works(folder: Path) -> None:
    run = ("evaluate", "team", "--store", "bm25", "--limit", "3", "--depth", "20", "--folder", "before")
    assert recallbench(*run, cwd=folder).returncode == 0
    message = refusal(folder, "--limit", "3", "--compare", "before")
    assert "before was made with another --depth" in message
    assert "expected: --depth 20\n  found: --depth 50" in message
    message = refusal(folder, "--depth", "20", "--compare", "before")
    assert "expected: --limit 3\n  found: no --limit" in message
    message = refusal(folder, "--depth", "20", "--limit", "3", "--scope", "pooled", "--compare", "before")
    assert "another --scope" in message
    (folder / "dir.svg").mkdir()
    assert "--plot names a folder" in refusal(folder, "--ks", "1,2", "--plot", "dir.svg")
    bare = [{"_id": "a", "text": "a b"}, {"_id": "c", "text": "c d"}]
    shutil.rmtree(folder / "team")
    beir(folder / "team", bare, [{"_id": "q", "text": "b?"}], test="q\ta\t1\n")
    assert "no query of team has a tenant" in refusal(folder, "--by", "tenant")


def test_a_set_of_abstention_alone_has_a_table_but_no_depths(tmp_path: Path) -> None:
    short(tmp_path / "team", [{"query": "who?", "relevant": [], "kind": "abstention"}], SAYING)
    words = ("evaluate", "team", "--store", "bm25", "--ks", "1,2", "--plot", "ks.svg", "--folder")
    done = recallbench(*words, "result", cwd=tmp_path)
    assert done.returncode == 0
    assert "1 case, k = 10, matching: id" in done.stdout
    assert "no figures at other depths" in done.stderr
    document = json.loads(recallbench(*words, "again", "--format", "json", cwd=tmp_path).stdout)
    assert (document["ks"], document["cases"]) == (None, 1)


@pytest.mark.marked
def test_a_late_fault_does_not_lose_the_table(folder: Path) -> None:
    """Late faults are a tenant that --limit leaves out, a plot that can't be written, and a comparison of nothing."""
    queries = [{"_id": "q1", "text": "ferry?"}, {"_id": "q2", "text": "rain?", "tenant": "north", "scope": "all"}]
    documents = [{"_id": "oslo", "text": "ferry"}, {"_id": "bergen", "text": "rain", "scope": "all"}]
    beir(folder / "late", documents, queries, test="q1\toslo\t1\nq2\tbergen\t1\n")
    words = ("evaluate", "late", "--store", "bm25", "--limit", "1", "--by", "tenant", "--folder", "r")
    done = recallbench(*words, cwd=folder)
    assert done.returncode == 0
    assert "1 case, k = 10" in done.stdout
    assert "no query has a field tenant: no means by tenant" in done.stderr
    done = recallbench("evaluate", "late", "--store", "bm25", "--ks", "1,2", "--plot", "/proc/ks.svg", cwd=folder)
    assert done.returncode == 2
    assert "2 cases, k = 10" in done.stdout
    assert "/proc/ks.svg can't be written" in done.stderr
    short(folder / "none", [{"query": "who?", "relevant": [], "kind": "abstention"}], SAYING)
    words = ("evaluate", "none", "--store", "bm25", "--folder")
    assert recallbench(*words, "before", cwd=folder).returncode == 0
    done = recallbench(*words, "after", "--compare", "before", cwd=folder)
    assert "1 case, k = 10" in done.stdout
    assert done.returncode == 0
    assert "nothing to compare with before: nothing to find" in done.stderr
    done = recallbench("compare", "before", "after", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no question has gold, so there is nothing to compare" in done.stderr


def test_options_of_other_definitions_add_the_table(folder: Path) -> None:
    """Precision is over the documents that came back, and percentiles are by index."""
    words = ("evaluate", "team", "--store", "bm25", "--folder", "result", "--format", "json")
    done = recallbench(*words, "--precision", "retrieved", "--percentiles", "index", cwd=folder)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["definitions"] == {"precision": "retrieved", "ndcg": "all", "percentiles": "index"}
    rows = [json.loads(line) for line in (folder / "result" / "raw_retrievals.jsonl").read_text().splitlines()]
    shares = [
        len({hit["id"] for hit in row["hits"]} & set(row["gold"])) / len(row["hits"]) for row in rows if row["gold"]
    ]
    assert document["mean"]["precision@10(retrieved)"] == pytest.approx(sum(shares) / 3)
    timings = [json.loads(line) for line in (folder / "result" / "timings.jsonl").read_text().splitlines()]
    warm = sorted(timing["ms"] for timing in timings if timing.get("state") == "warm")
    assert document["latency_ms"] == {
        "timed": 4, "p50": pytest.approx(warm[2], rel=1e-2), "p95": pytest.approx(warm[3], rel=1e-2),
        "percentiles": "index",
    }  # fmt: skip
    text = recallbench(*words[:4], "--ndcg", "graded", "--out", "more", cwd=folder).stdout
    assert "4 cases, k = 10, matching: id, definitions: ndcg graded\n" in text
    assert "ndcg@10(graded)" in text
