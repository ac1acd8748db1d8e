from __future__ import annotations

import csv
import html
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from compared_runs import CORPUS, by_name, changed, compared, reciprocal

from commandline import recallbench
from labelled_sets import jsonl
from recallbench.corpora.canary import FOLDER


@pytest.fixture
def workspace(results_to_compare: Path) -> Path:
    return results_to_compare


def test_a_comparison_of_two_stores_by_hand(workspace: Path) -> None:
    comparison = compared(workspace, "bm25", "exact", "--show", "3")
    before, after = reciprocal(workspace, "bm25"), reciprocal(workspace, "exact")
    moved = {name: after[name] - before[name] for name in before}
    mrr = by_name(comparison["measures"])["mrr@50"]
    assert mrr["difference"] == pytest.approx(sum(moved.values()) / len(moved))
    assert (mrr["wins"], mrr["losses"]) == (sum(m > 0 for m in moved.values()), sum(m < 0 for m in moved.values()))
    assert (comparison["n"], comparison["clusters"], mrr["test"]) == (158, 4, "all 16 sign flips")
    assert (mrr["low"], mrr["method"]) == (None, "n/a (4 clusters: sign flips reach no p of .05 below 6)")
    assert [(part["measure"], part["role"]) for part in comparison["measures"][:3]] == [
        ("recall_any@10", "primary"), ("mrr@50", "primary"), ("recall_any@1", "secondary"),
    ]  # fmt: skip
    assert len(comparison["measures"]) == 8
    # Holm over the two primary ones, nothing for the rest.
    ps = sorted((part["p"], part["p_holm"]) for part in comparison["measures"][:2])
    assert [p_holm for _, p_holm in ps] == pytest.approx([min(1, 2 * ps[0][0]), max(min(1, 2 * ps[0][0]), ps[1][0])])
    assert {part["p_holm"] for part in comparison["measures"][2:]} == {None}
    kinds = {kind: by_name(parts)["mrr@50"] for kind, parts in comparison["kinds"].items()}
    assert sum(kind["n"] for kind in kinds.values()) == 158
    assert sum(kind["n"] * kind["difference"] for kind in kinds.values()) == pytest.approx(sum(moved.values()))
    assert {part["what"] for part in comparison["unlike"]} == {"embedder", "store"}


def test_the_most_changed_questions_are_listed_with_both_rankings(workspace: Path) -> None:
    comparison = compared(workspace, "bm25", "exact", "--show", "4")
    rows = {
        name: {row["question_id"]: row for row in map(json.loads, (workspace / name / "raw_retrievals.jsonl").open())}
        for name in ("bm25", "exact")
    }
    assert len(comparison["changed"]) == 4
    sums = [
        sum(
            abs(after - before)
            for name, (before, after) in change["values"].items()
            if name in ("recall_any@10", "mrr@50")
        )
        for change in comparison["changed"]
    ]
    assert sums == sorted(sums, reverse=True)
    for change in comparison["changed"]:
        for side, name in (("first", "bm25"), ("second", "exact")):
            row = rows[name][change["question_id"]]
            ids = {hit["rank"]: hit["id"] for hit in row["hits"]}
            assert [hit["rank"] for hit in change[side]][:10] == list(range(1, 11))
            assert all(
                hit["id"] == ids[hit["rank"]] and hit["gold"] == (hit["id"] in row["gold"]) for hit in change[side]
            )
            assert {hit["id"] for hit in change[side] if hit["gold"]} == set(row["gold"]) & set(ids.values())
    assert len(compared(workspace, "bm25", "exact", "--show", "0")["changed"]) == 0
    printed = recallbench("compare", "bm25", "exact", "--show", "1", cwd=workspace).stdout
    first = comparison["changed"][0]
    assert f"{first['question_id']} ({first['kind']}): " in printed
    assert re.search(
        rf"^  1 +{first['first'][0]['id']}( \*)? +{first['second'][0]['id']}( \*)?$", printed, re.MULTILINE
    )


def test_texts_are_found_by_themselves_and_three_questions_are_shown(workspace: Path, tmp_path: Path) -> None:
    """The canary's texts are bundled; a set of one's own is found by its folder's name, and only if it is that one."""
    done = recallbench("compare", "bm25", "exact", cwd=workspace)
    assert done.stdout.count("\n  question: ") == 3
    assert "--corpus-file" not in done.stdout
    set_ = tmp_path / "team"
    set_.mkdir()
    jsonl(set_ / "corpus.jsonl", [{"_id": "a", "text": "one red"}, {"_id": "b", "text": "red two two"}])
    jsonl(set_ / "gold.jsonl", [{"query": "red one", "relevant": ["b"]}])
    for name, order in (("first", "[:]"), ("second", "[::-1]")):
        (tmp_path / f"{name}_memory.py").write_text(
            "def open_memory(items, vectors):\n"
            f"    return lambda query, k: [(item.id, -float(i)) for i, item in enumerate(items{order})]\n"
            "open_memory.needs_vectors = False\n"
        )
        words = ("evaluate", "team", "--store", "callable", "--call", f"{name}_memory:open_memory")
        assert recallbench(*words, "--folder", name, "-q", cwd=tmp_path).returncode == 0
    here = recallbench("compare", "first", "second", "--measures", "mrr@2", cwd=tmp_path).stdout
    (tmp_path / "team").rename(tmp_path / "away")
    gone = recallbench("compare", "first", "second", "--measures", "mrr@2", cwd=tmp_path).stdout
    named = recallbench("compare", "first", "second", "--measures", "mrr@2", "--corpus-file", "away", cwd=tmp_path)
    assert "  question: red one" in here
    assert "  question: red one" in named.stdout
    assert "  question: " not in gone
    assert "The texts are not at hand: --corpus-file names the file or folder that was measured." in gone


@pytest.mark.marked
def test_texts_come_from_the_corpus_or_from_the_rows(workspace: Path) -> None:
    words = ("exact", "--show", "2")
    from_corpus = compared(workspace, "bm25", *words, "--corpus-file", str(CORPUS))["changed"]
    from_rows = compared(workspace, "texts", *words)["changed"]
    assert [change["question"] for change in from_corpus] == [change["question"] for change in from_rows] != ["", ""]
    assert compared(workspace, "bm25", *words)["changed"] == from_corpus
    assert all(hit["text"] for change in from_corpus for hit in (*change["first"], *change["second"]))
    assert all(hit["text"] for change in from_rows for hit in change["first"])
    question = from_corpus[0]["question"]
    assert f"question: {question}" in recallbench("compare", "texts", *words, cwd=workspace).stdout
    done = recallbench("compare", "bm25", *words, "--corpus-file", FOLDER / "longmemeval.json", cwd=workspace)
    assert done.returncode == 2
    assert "is not the file that was measured" in done.stderr


def test_the_same_result_twice_shows_no_difference(workspace: Path) -> None:
    for other in ("bm25", "again"):
        done = recallbench("compare", "bm25", other, "--fail-if", "mrr@50 drops 0.001", "--strict", cwd=workspace)
        assert done.returncode == 0
        assert "The rankings are the same, place for place: the difference is 0 and p is 1." in done.stdout
        assert "passes: mrr@50 drops 0.001: no question's value differs" in done.stdout
        assert "differ in" not in done.stdout
    comparison = compared(workspace, "bm25", "again")
    assert {(part["difference"], part["p"], part["low"]) for part in comparison["measures"]} == {(0.0, 1.0, None)}
    assert (comparison["identical"], comparison["changed"], comparison["regressions"], comparison["unlike"]) == (
        True,
        [],
        [],
        [],
    )


def test_a_release_is_compared_with_the_next_and_what_differs_is_said(workspace: Path, tmp_path: Path) -> None:
    def next_release(metrics: dict) -> None:
        metrics["store"]["version"] = metrics["store"]["version_after"] = "recallbench-bm25/2"
        metrics["guc_state"]["bm25.k1"] = "1.3"

    folder = changed(workspace, "bm25", tmp_path / "next", next_release)
    done = recallbench("compare", "bm25", folder, cwd=workspace)
    assert done.returncode == 0
    assert re.search(
        r"^they differ in store's version: recallbench-bm25/1 \(.*\) against recallbench-bm25/2$", done.stdout, re.M
    )
    assert "they differ in setting bm25.k1: 1.2 against 1.3\n" in done.stdout
    # The copy was edited, so its manifest does not fit.
    assert "metrics.json has sha256" in done.stdout
    assert "; the files of B are not as its manifest says; " in done.stdout.splitlines()[-1]
    assert done.stdout.endswith(f"; next: recallbench audit {folder}\n")


def test_another_embedder_is_said(workspace: Path, tmp_path: Path) -> None:
    def other(metrics: dict) -> None:
        metrics["embedder"]["fingerprint"]["pooling"] = "none"

    folder = changed(workspace, "exact", tmp_path / "other", other)
    done = recallbench("compare", "exact", folder, cwd=workspace)
    assert done.returncode == 0
    assert "only one states: embedder's pooling\n" in done.stdout


def test_another_depth_leaves_the_measures_within_both(workspace: Path) -> None:
    comparison = compared(workspace, "bm25", "shallow")
    assert comparison["unlike"] == [{"what": "depth", "first": "50", "second": "20"}]
    assert [part["measure"] for part in comparison["measures"]][:2] == ["recall_any@10", "recall_any@1"]
    done = recallbench("compare", "bm25", "shallow", cwd=workspace)
    assert "rankings 20 deep are compared: no measure beyond\n" in done.stdout
    assert "they differ in depth: 50 against 20\n" in done.stdout
    done = recallbench("compare", "bm25", "shallow", "--measures", "mrr@50", cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert "mrr@50 can't be taken from these rankings\n  expected: a depth of 20 or less" in done.stderr


def test_what_had_to_be_allowed_may_still_be(workspace: Path) -> None:
    """A file of a CI from before keeps working; the words do nothing."""
    for words in (("--allow", "embedder,store"), ("--allow", "pipeline"), ("--allow", "store", "--allow", "embedder")):
        done = recallbench("compare", "bm25", "exact", *words, "--json", cwd=workspace)
        assert json.loads(done.stdout) == compared(workspace, "bm25", "exact")


def test_only_known_differences_can_be_allowed(workspace: Path) -> None:
    done = recallbench("compare", "bm25", "few", "--allow", "limit", cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--allow limit is not possible" in done.stderr


def test_a_claimed_verdict_is_quoted_and_escapes_are_shown(workspace: Path, tmp_path: Path) -> None:
    """The verdict is quoted from the file, no escape sequence is printed, and only regular files are opened."""

    def claim(metrics: dict) -> None:
        metrics["verdict"] |= {"label": "VERIFIED", "text": "VERIFIED", "canonical": True}
        metrics["store"]["version"] = "\x1b[31m9.9\nB: another line"

    folder = changed(workspace, "bm25", tmp_path / "claiming", claim)
    os.mkfifo(folder / "pipe")
    (folder / "deeper").mkdir()
    done = recallbench("compare", "bm25", folder, cwd=workspace)
    assert done.returncode == 0
    (second,) = (line for line in done.stdout.splitlines() if line.startswith("B: "))
    assert second == f"B: {folder}, bm25, \\x1b[31m9.9\\nB: another line, no embedder; it states VERIFIED, CANONICAL"
    assert "\x1b" not in done.stdout
    assert f"note: {folder}: deeper is not in the manifest" in done.stdout


# Conditions and forms
def test_a_drop_fails_the_command(workspace: Path) -> None:
    # As runs of independent questions, since four conversations decide nothing.
    qrels = ("--qrels", "bm25/qrels.trec")
    mrr = by_name(compared(workspace, "exact/run.trec", "bm25/run.trec", *qrels)["measures"])["mrr@50"]
    first, second = ("exact", "bm25") if mrr["difference"] < 0 else ("bm25", "exact")
    low, high = sorted(abs(bound) for bound in (mrr["low"], mrr["high"]))
    assert mrr["low"] * mrr["high"] > 0, "one of the two is clearly better"

    def run(*words: str) -> tuple[int, str]:
        runs = (f"{first}/run.trec", f"{second}/run.trec", *qrels)
        done = recallbench("compare", *runs, "--show", "0", *words, cwd=workspace)
        return done.returncode, done.stdout

    for threshold, outcome, plain, strict in (
        (low / 2, "fails", 1, 1), ((low + high) / 2, "inconclusive", 0, 1), (min(1.0, high * 1.1), "passes", 0, 0),
    ):  # fmt: skip
        text = f"mrr@50 drops {threshold}"
        code, printed = run("--fail-if", text)
        assert (code, f"{outcome}: mrr@50 drops {threshold:g}: the drop is between" in printed) == (plain, True)
        assert run("--fail-if", text, "--strict")[0] == strict
    # Of several conditions the worst decides, and each adds its measure to the comparison.
    code, printed = run(
        "--fail-if", "mrr@5 drops 1", "--fail-if", f"mrr@50 drops {low / 2}", "--measures", "recall_any@10"
    )
    assert code == 1
    assert "passes: mrr@5 drops 1" in printed
    comparison = compared(workspace, "bm25", "exact", "--fail-if", "mrr@5 drops 1")
    assert comparison["conditions"][0]["outcome"] == "inconclusive"
    # With four clusters no p below .125 can be reached, so nothing is called a regression, and a warning says so.
    assert comparison["regressions"] == []
    assert any("so few clusters differ" in warning for warning in comparison["warnings"])


@pytest.mark.marked
def test_measures_can_be_chosen(workspace: Path) -> None:
    words = (
        "bm25",
        "exact",
        "--measures",
        "ndcg@5, recall_all@7",
        "--show",
        "1",
    )
    comparison = compared(workspace, *words)
    assert [(part["measure"], part["role"]) for part in comparison["measures"]] == [
        ("ndcg@5", "secondary"), ("recall_all@7", "secondary"),
    ]  # fmt: skip
    assert len(comparison["changed"]) == 1
    shallow = compared(workspace, "shallow", "shallow")
    assert "mrr@50" not in by_name(shallow["measures"])


def test_the_comparison_as_markdown(workspace: Path) -> None:
    done = recallbench("compare", "bm25", "exact", "--markdown", "--show", "1", cwd=workspace)
    lines = done.stdout.splitlines()
    assert lines[0] == "# A against B"
    assert lines[-1].startswith("**A and B can't be told apart: ")
    assert (
        done.stdout
        == recallbench("compare", "bm25", "exact", "--format", "markdown", "--show", "1", cwd=workspace).stdout
    )
    assert any(line.startswith("| recall_any@10 | primary | 0.8354 |") for line in lines)
    assert "## By kind" in lines
    assert "| rank | A | B |" in lines


def test_the_comparison_in_every_format(workspace: Path) -> None:
    words = ("compare", "bm25", "exact", "--show", "0")
    text = recallbench(*words, cwd=workspace).stdout
    conclusion = text.splitlines()[-1]
    assert conclusion == (
        "A and B can't be told apart: recall_any@10 -0.1519 and mrr@50 -0.2025, 158 questions; so few clusters differ "
        "that no difference could be shown; next: measure more clusters"
    )
    lines = text.splitlines()
    assert (
        "158 questions counted, paired over 4 clusters (groups of questions that depend on each other, such as those "
        "of one conversation); difference is B minus A"
    ) in lines
    header = next(line for line in lines if line.startswith("measure "))
    assert header.endswith("p (Holm)  smallest p before Holm  B wins/ties/loses  detectable  one cluster left out")
    assert (
        "p is two-sided, from all 16 sign flips. Intervals: none, since 4 clusters are too few (6 are needed)."
    ) in lines
    assert ("One cluster left out: the smallest and the largest difference without any one of the clusters.") in lines
    assert [line for line in lines if line.startswith("warning: ")] == [
        "warning: recall_any@10 and mrr@50: so few clusters differ that no p of 0.05 or less can be reached: the "
        "smallest, after Holm for 2 primary measures, is 0.2500"
    ]
    document = json.loads(recallbench(*words, "--json", cwd=workspace).stdout)
    assert document["conclusion"]["text"] == conclusion
    sheet = recallbench(*words, "--format", "csv", cwd=workspace)
    rows = list(csv.DictReader(sheet.stdout.splitlines()))
    assert [(row["part"], row["measure"], row["n"]) for row in rows[:2]] == [
        ("overall", "recall_any@10", "158"), ("overall", "mrr@50", "158"),
    ]  # fmt: skip
    assert float(rows[0]["difference"]) == pytest.approx(document["measures"][0]["difference"])
    assert {row["part"] for row in rows} > {"overall", "kind single-hop"}
    assert sheet.stderr.splitlines()[-1] == conclusion
    page = recallbench(*words, "--format", "html", cwd=workspace).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert f"<strong>{html.escape(conclusion, quote=False)}" in page.replace("&#x27;", "'").replace("&#39;", "'")


def test_independent_questions_get_score_and_t_intervals(workspace: Path) -> None:
    comparison = compared(workspace, "other", "other-exact")
    assert comparison["clusters"] is None
    parts = by_name(comparison["measures"])
    assert parts["recall_any@10"]["method"] == "score 95% of paired shares (Tango)"
    assert parts["mrr@50"]["method"] == f"t({comparison['n'] - 1}) 95%"
    assert parts["mrr@50"]["least"] is None


def test_nothing_is_written_and_the_committed_result_compares_with_itself(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks/locomo/results/pgvector_20261118"
    done = recallbench("compare", folder, folder, "--measures", "recall_any@10", cwd=tmp_path)
    assert done.returncode == 0
    assert "1982 questions counted, paired over 10 clusters" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == []
    clean = subprocess.run(["git", "status", "--short", folder], cwd=folder, capture_output=True, text=True, check=True)
    assert clean.stdout == ""


def test_a_measure_is_given_only_where_questions_have_what_it_counts(tmp_path: Path) -> None:
    set_ = tmp_path / "team"
    set_.mkdir()
    jsonl(set_ / "corpus.jsonl", [{"_id": "a", "text": "one red"}, {"_id": "b", "text": "two red"}])
    jsonl(
        set_ / "gold.jsonl",
        [
            {"query": "one", "relevant": {"a": 3, "b": 1}, "kind": "graded"},
            {"query": "two red", "relevant": ["b"], "kind": "plain"},
        ],
    )
    for name in ("first", "second"):
        assert recallbench("evaluate", "team", "--store", "bm25", "--folder", name, "-q", cwd=tmp_path).returncode == 0
    words = ("--measures", "ndcg@10,ndcg@10(graded)", "--json")
    comparison = json.loads(recallbench("compare", "first", "second", *words, cwd=tmp_path).stdout)
    assert {name: part["n"] for name, part in by_name(comparison["measures"]).items()} == {
        "ndcg@10": 2,
        "ndcg@10(graded)": 1,
    }
    assert {kind: list(by_name(parts)) for kind, parts in comparison["kinds"].items()} == {
        "graded": ["ndcg@10", "ndcg@10(graded)"], "plain": ["ndcg@10"],
    }  # fmt: skip
    jsonl(set_ / "gold.jsonl", [{"query": "two red", "relevant": ["b"]}])
    for name in ("third", "fourth"):
        assert recallbench("evaluate", "team", "--store", "bm25", "--folder", name, "-q", cwd=tmp_path).returncode == 0
    done = recallbench("compare", "third", "fourth", "--measures", "ndcg@10(graded)", cwd=tmp_path)
    assert done.returncode == 2
    assert "no question counts for ndcg@10(graded)" in done.stderr
