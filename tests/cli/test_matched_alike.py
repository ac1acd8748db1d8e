"""A folder and a file of the same rankings score alike by every method, and the folder's result passes an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from labelled_sets import short
from recallbench.compare.frame import unlike
from recallbench.errors import UsageError
from recallbench.results.metrics import Metrics
from recallbench.scoring.editions import FIRST

FILLER = " ".join(f"word{n}" for n in range(60))
SAYING = (
    {"_id": "old", "text": "Nothing of note."},
    *({"_id": f"ferry-{n}", "text": f"The ferry leaves at nine {'!' * n}"} for n in range(14)),
    *({"_id": f"rail-{n}", "text": f"Trains leave platform {n} at ten."} for n in range(6)),
    {"_id": "long", "text": f"{FILLER} The zoo opens on Sunday at noon. {FILLER}"},
)
EXPECTING = (
    {"query_id": "ferry", "query": "ferry leaves", "expected": "the ferry leaves at nine"},
    {"query_id": "rail", "query": "platform nine ferry", "expected": "trains leave platform 3 at ten"},
    {"query_id": "leave", "query": "leave leaves", "expected": "trains leave platform 3 at ten"},
    {"query_id": "note", "query": "note of ferry", "relevant": ["old"]},
    {"query_id": "zoo", "query": "When does the zoo open?", "expected": "the zoo opens on Sunday at noon"},
    {"query_id": "cars", "query": "Who sells cars?", "kind": "abstention"},
)
BOTH = {"query_id": "both", "query": "nothing but a ferry", "expected": "the ferry leaves at nine", "relevant": ["old"]}
STORE = """
def open_memory(items, vectors):
    # Every second item loses half a point, so that matches lie on both sides of each k.
    def search(query, k):
        query_words = set(query.text.lower().split())
        shared = [len(query_words & set(item.text.lower().split())) for item in items]
        scored = [(item.id, shared[n] - .5 * (n % 2)) for n, item in enumerate(items)]
        return sorted(scored, key=lambda hit: -hit[1])[:k]
    return search
open_memory.needs_vectors = False
"""
ALLOWED = "--allow-random-matches"
"""All documents are of ferries and notes, and have many words in common."""
METHODS = {
    "tokens": (("--match", "tokens", ALLOWED), "tokens-0.3"),
    "chunks": (("--match", "tokens", "--match-chunk", "12", ALLOWED), "tokens-0.3-12"),
    "exact": (("--match", "exact"), "exact"),
    "hybrid": (("--match", "hybrid", "--match-threshold", "0.5"), "hybrid-0.5"),
    "bm25": (("--match", "bm25", "--match-chunk", "20", "--match-threshold", "0.4"), "bm25-0.4-20"),
}


def scores(folder: Path, *words: str | Path) -> dict[str, Any]:
    done = recallbench("evaluate", *words, "--format", "json", cwd=folder)
    assert done.returncode == 0
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("method", METHODS)
def test_a_folder_and_its_rankings_score_alike(tmp_path: Path, method: str) -> None:
    matching, name = METHODS[method]
    short(tmp_path / "team", (*EXPECTING, BOTH) if method == "hybrid" else EXPECTING, SAYING)
    # Two calls for each query, 10 deep and 50 deep.
    (tmp_path / "mine.py").write_text(STORE)
    words = ("team", "--store", "python:mine:open_memory", "-q", "--folder", "made", *matching)
    folder = scores(tmp_path, *words, "--k", "10")
    metrics = Metrics.model_validate_json((tmp_path / "made" / "metrics.json").read_bytes())
    assert metrics.corpus.name.partition("+")[2] == name
    names = dict(line.split("\t")[:2] for line in (tmp_path / "made" / "documents.tsv").read_text().splitlines())
    ranked = [line.split() for line in (tmp_path / "made" / "run.trec").read_text().splitlines()]
    (tmp_path / "run.trec").write_text("".join(" ".join([q, i, names[d], *rest]) + "\n" for q, i, d, *rest in ranked))
    files = ("--run", "run.trec", "--gold", "team/gold.jsonl", "--texts", "team/corpus.jsonl", *matching, "--k", "10")
    run = scores(tmp_path, *files)
    # A query that no document matches is in no mean of the folder; rankings alone can't know that.
    assert {row["query_id"]: row.get("ndcg@10", 0.0) for row in folder["rows"]} == {
        row["query_id"]: row.get("ndcg@10", 0.0) for row in run["rows"]
    }
    values = [row for row in folder["rows"] if "mrr@10" in row]
    theirs = {row["query_id"]: row for row in run["rows"]}
    for row in values:
        assert {name: row[name] for name in folder["mean"] if name in row} == {
            name: theirs[row["query_id"]][name] for name in folder["mean"] if name in row
        }
    assert all(row.get("ndcg@10", 0.0) <= 1 for row in run["rows"])
    assert {row["query_id"] for row in values} >= {"ferry", "note"}
    if method != "exact":
        # Three of six in the first ten: what stands below them changes nothing, however deep a call went.
        assert theirs["leave"]["precision@10"] == 0.3
    if method in ("exact", "bm25"):
        assert theirs["zoo"]["mrr@10"] == 1.0
    assert folder.get("shares") == run.get("shares")
    if method == "hybrid":
        assert folder["shares"]["id"]["cases"] + folder["shares"]["exact"]["cases"] == 4
        assert metrics.matching is not None
        assert metrics.matching.shares is not None
        assert [share.step for share in metrics.matching.shares] == ["id", "exact", "tokens"]
        assert "| id |" in (tmp_path / "made" / "report.md").read_text()
    audited = recallbench("audit", "made", "--corpus-file", "team", "--failures", cwd=tmp_path)
    assert ": holds, not committed\n" in audited.stdout


def test_a_threshold_that_takes_random_documents_is_refused_with_one_that_does_not(tmp_path: Path) -> None:
    short(tmp_path / "team", EXPECTING, SAYING)
    words = ("evaluate", "team", "--store", "bm25", "-q", "--match", "tokens", "--match-threshold")
    refused = recallbench(*words, "0.2", cwd=tmp_path)
    assert refused.returncode == 2
    assert "team: by tokens f1>=0.2, random texts match" in refused.stderr
    assert "what to do: a threshold of 0.4 (--match-threshold), where 14% do" in refused.stderr
    assert recallbench(*words, "0.4", "--folder", "fitting", cwd=tmp_path).returncode == 0
    assert recallbench(*words, "0.2", ALLOWED, "--folder", "allowed", cwd=tmp_path).returncode == 0
    options = [
        json.loads((tmp_path / name / "environment.json").read_text())["options"] for name in ("fitting", "allowed")
    ]
    assert [recorded.get("allow_random_matches") for recorded in options] == [None, True]
    for name in ("fitting", "allowed"):
        audited = recallbench("audit", name, "--corpus-file", "team", "--failures", cwd=tmp_path)
        assert ": holds, not committed\n" in audited.stdout
    rows = [{"query": q, "expected": f"the ferry leaves {q}", "ranked": [f"the ferry leaves {q} now"]} for q in "abc"]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = ("evaluate", "--gold", "gold.jsonl", "--match", "tokens")
    refused = recallbench(*files, cwd=tmp_path)
    assert (refused.returncode, "the cases: by tokens f1>=0.3, random texts match" in refused.stderr) == (2, True)
    assert recallbench(*files, ALLOWED, cwd=tmp_path).returncode == 0


def test_edited_shares_of_hybrid_fail_the_audit(tmp_path: Path) -> None:
    short(tmp_path / "team", (*EXPECTING, BOTH), SAYING)
    words = ("evaluate", "team", "--store", "bm25", "-q", "--folder", "made", "--match", "hybrid", ALLOWED)
    done = recallbench(*words, cwd=tmp_path)
    rows = done.stdout.splitlines()
    steps = rows.index("gold by  segments  found first in the first 10  share of questions")
    assert rows[steps + 1].split() == ["id", "2", "2", "33.3%"]
    assert rows[steps + 2].split() == ["exact", "31", "2", "33.3%"]
    assert rows[steps + 3].split() == ["tokens", "24", "2", "33.3%"]
    path = tmp_path / "made" / "metrics.json"
    document = json.loads(path.read_text())
    document["matching"]["shares"][0]["found_10"] += 1
    path.write_text(json.dumps(document, indent=1))
    audited = recallbench("audit", "made", "--corpus-file", "team", cwd=tmp_path)
    assert audited.returncode == 1
    assert "matching" in audited.stdout


def test_judgements_and_expected_texts_of_a_set_are_both_read(tmp_path: Path) -> None:
    (tmp_path / "team" / "qrels").mkdir(parents=True)
    documents = [{"_id": "a", "text": "Paris is large."}, {"_id": "b", "text": "The ferry leaves at nine."}]
    queries = [
        {"_id": "q1", "text": "Paris?"},
        {"_id": "q2", "text": "ferry?", "expected": "leaves at nine"},
        {"_id": "q3", "text": "Who?"},
        {"_id": "q4", "text": "large?", "expected": "leaves at nine"},
    ]
    (tmp_path / "team" / "corpus.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (tmp_path / "team" / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    (tmp_path / "team" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq4\ta\t1\n")
    words = ("team", "--store", "bm25", "-q", "--folder", "made", "--match", "hybrid", "--k", "2")
    report = scores(tmp_path, *words)
    assert [(row["query_id"], row["relevant"], row["matched_by"]) for row in report["rows"]] == [
        ("q1", 1, "id"),
        ("q2", 1, "exact"),
        ("q4", 2, "id"),
    ]
    metrics = Metrics.model_validate_json((tmp_path / "made" / "metrics.json").read_bytes())
    assert metrics.labels is not None
    assert metrics.labels.unjudged == 1
    audited = recallbench("audit", "made", "--corpus-file", "team", "--failures", cwd=tmp_path)
    assert ": holds, not committed\n" in audited.stdout


def test_cosine_is_for_files_and_refused_for_folders(tmp_path: Path) -> None:
    short(tmp_path / "team", EXPECTING, SAYING)
    cosine = ("--match", "hybrid", "--match-embedder", "hash", "--match-cosine", "0.5")
    refused = recallbench("evaluate", "team", "--store", "bm25", *cosine, cwd=tmp_path)
    assert refused.returncode == 2
    assert "cosine decides rankings in files, not the gold of a folder" in refused.stderr
    (tmp_path / "gold.jsonl").write_text(
        '{"query_id": "q", "query": "x", "expected": "the old ferry leaves at nine", '
        '"ranked": [{"id": "a", "text": "ferry leaves now maybe from somewhere else"}]}\n'
    )
    report = scores(tmp_path, "--gold", "gold.jsonl", "--k", "1", "--match-threshold", "0.5", *cosine[:2])
    assert report["mean"]["recall_frac@1"] == 0.0
    words = ("--gold", "gold.jsonl", "--k", "1", "--match-threshold", "0.5", *cosine[:4], "--match-cosine", "0.3")
    report = scores(tmp_path, *words)
    assert (report["mean"]["recall_frac@1"], report["matching"]) == (1.0, "hybrid f1>=0.5, cosine>=0.3 by hash")
    assert report["shares"]["cosine"]["cases"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--match", "exact", "--match-threshold", "0.4"), "--match-threshold is for token F1 and BM25"),
        (("--match", "hybrid", "--match-embedder", "hash"), "no threshold"),
        (("--match", "tokens", "--match-embedder", "hash", "--match-cosine", "0.5"), "cosine is a step of hybrid"),
    ],
)
def test_companions_that_would_do_nothing_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "gold.jsonl").write_text('{"query": "x", "expected": "y", "ranked": ["z"]}\n')
    done = recallbench("evaluate", "--gold", "gold.jsonl", *words, cwd=tmp_path)
    assert (done.returncode, message in done.stderr) == (2, True)


def test_results_whose_matches_count_differently_are_not_compared(tmp_path: Path) -> None:
    """In the first edition each matching text had to be found, under the same name of a method."""
    short(tmp_path / "team", EXPECTING, SAYING)
    for folder in ("texts", "again"):
        scores(tmp_path, "team", "--store", "bm25", "-q", "--folder", folder, "--match", "tokens", ALLOWED)
    metrics = tmp_path / "texts" / "metrics.json"
    current = Metrics.model_validate_json(metrics.read_bytes())
    earlier = current.model_copy(update={"statistics_edition": FIRST.number})
    assert unlike(current, current, ("a", "b"), ()) == []
    for first, second in ((earlier, current), (current, earlier)):
        with pytest.raises(UsageError, match="differ in matching") as error:
            unlike(first, second, ("a", "b"), ())
        assert "each text that matches is to be found" in error.value.found
    by_id = (first.model_copy(update={"matching": None}) for first in (earlier, current))
    assert unlike(*by_id, ("a", "b"), ()) == []
    metrics.write_text(earlier.model_dump_json(indent=1))
    done = recallbench("compare", "texts", "again", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
