"""`recallbench compare` refuses unlike and broken results, and names the fault."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from compared_runs import changed

from commandline import recallbench
from recallbench.protocol.frozen import load
from stages import sampled

HARD = {
    "pooled": ("scope", "scope: own against pooled"),
    "other": ("dataset and denominator", "dataset: canary-locomo "),
}


@pytest.fixture
def workspace(results_to_compare: Path) -> Path:
    return results_to_compare


@pytest.mark.parametrize(("name", "kind", "values"), [(n, *texts) for n, texts in HARD.items()], ids=HARD)
def test_unlike_runs_are_refused_with_both_values(workspace: Path, name: str, kind: str, values: str) -> None:
    done = recallbench("compare", "bm25", name, cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"bm25 and {name} can't be compared: they differ in {kind}" in done.stderr
    assert values in done.stderr


def _protocol(metrics: dict) -> None:
    metrics["protocol"]["version"] = "1.1.0"


def _clarifications(metrics: dict) -> None:
    metrics["protocol"]["clarifications_sha256"] = "ab" * 32


def _denominator(metrics: dict) -> None:
    metrics["denominators"][0]["count"] += 1


@pytest.mark.parametrize("edit", [_protocol, _clarifications, _denominator], ids=lambda edit: edit.__name__[1:])
def test_another_protocol_or_denominator_is_refused(
    workspace: Path, tmp_path: Path, edit: Callable[[dict], None]
) -> None:
    folder = changed(workspace, "bm25", tmp_path / "edited", edit)
    done = recallbench("compare", "bm25", folder, cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"they differ in {edit.__name__[1:]}" in done.stderr
    assert " against " in done.stderr


def test_a_clarification_that_changes_no_figure_leaves_results_comparable(workspace: Path, tmp_path: Path) -> None:
    def before_packs(metrics: dict) -> None:
        metrics["protocol"]["clarifications_sha256"] = load().earlier_clarifications[-1]

    folder = changed(workspace, "bm25", tmp_path / "earlier", before_packs)
    assert recallbench("compare", folder, "exact", cwd=workspace).returncode == 0


def test_fewer_questions_by_a_limit_are_refused_in_plain_words(workspace: Path) -> None:
    for words in (("bm25", "few"), ("few", "bm25")):
        done = recallbench("compare", *words, cwd=workspace)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"recallbench: {words[0]} and {words[1]} can't be compared: they were asked other questions\n"
            "  expected: the same questions of both\n"
            "  found: few asked only 20 questions (--limit 20), bm25 asked 158\n"
            "  what to do: run few again without --limit\n"
        )


@pytest.mark.parametrize("words", [("compare", "bm25"), ("drift",), ("cite",)], ids=lambda words: words[0])
def test_a_folder_without_a_manifest_is_no_result(workspace: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    folder = shutil.copytree(workspace / "bm25", tmp_path / "unheld")
    (folder / "manifest.json").unlink()
    done = recallbench(*words, folder, cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{folder} is not a result folder" in done.stderr
    assert "found: manifest.json is missing" in done.stderr


def test_rankings_that_do_not_give_the_figures_are_not_compared(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "forged"
    shutil.copytree(workspace / "bm25", folder)
    path = folder / "raw_retrievals.jsonl"
    rows = path.read_text().splitlines(keepends=True)
    row = json.loads(rows[3])
    row["hits"] = [hit for hit in row["hits"] if hit["id"] not in row["gold"]]
    path.write_text("".join([*rows[:3], json.dumps(row) + "\n", *rows[4:]]))
    for pair in (("bm25", folder), (folder, "bm25")):
        done = recallbench("compare", *pair, cwd=workspace)
        assert (done.returncode, done.stdout) == (2, "")
        assert "the rankings do not give the figures" in done.stderr


def _gone(folder: Path) -> None:
    shutil.rmtree(folder)


def _blocked(folder: Path) -> None:
    (folder / "BLOCKED.md").write_text("# BLOCKED\n")


def _no_rows(folder: Path) -> None:
    (folder / "raw_retrievals.jsonl").unlink()


def _cut_off(folder: Path) -> None:
    path = folder / "raw_retrievals.jsonl"
    path.write_text(path.read_text()[:-40])


def _dropped(folder: Path) -> None:
    path = folder / "raw_retrievals.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))


def _no_metrics(folder: Path) -> None:
    (folder / "metrics.json").write_text("{}")


def _misplaced(folder: Path) -> None:
    path = folder / "raw_retrievals.jsonl"
    path.write_text(path.read_text().replace('"rank": 3,', '"rank": -3,', 1))


def _no_figures(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    del metrics["estimates"]["overall"]
    (folder / "metrics.json").write_text(json.dumps(metrics))


def _no_calls(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["retrieval"]["calls"] = []
    (folder / "metrics.json").write_text(json.dumps(metrics))


def _two_rows_on_one_line(folder: Path) -> None:
    path = folder / "raw_retrievals.jsonl"
    path.write_text(path.read_text().replace("\n", " ", 1))


def _elsewhere(folder: Path) -> None:
    path = folder / "raw_retrievals.jsonl"
    path.rename(folder.parent / "elsewhere.jsonl")
    path.symlink_to(folder.parent / "elsewhere.jsonl")


def _not_utf8(folder: Path) -> None:
    (folder / "raw_retrievals.jsonl").write_bytes(b"\xff\xfe{}\n")


def _edited(field: str, value: object) -> Callable[[Path], None]:
    """Set a field of every row."""

    def harm(folder: Path) -> None:
        path = folder / "raw_retrievals.jsonl"
        rows = [json.loads(line) | {field: value} for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    return harm


def _calls(calls: list[int], depth: int) -> Callable[[Path], None]:
    def harm(folder: Path) -> None:
        metrics = json.loads((folder / "metrics.json").read_text())
        metrics["retrieval"] |= {"calls": calls, "depth": depth}
        (folder / "metrics.json").write_text(json.dumps(metrics))

    return harm


@pytest.mark.parametrize(
    ("harm", "message"),
    sampled(
        [
            (_edited("cluster", "one"), "canary-1/q0 in cluster 'canary-1', as in bm25"),
            (_edited("kind", "a kind"), "canary-1/q0 of the kind 'single-hop'"),
            (_edited("candidates", 10**30), "figures that no result has"),
            (_calls([-5], 50), "calls of -5 hits for rankings 50 deep"),
            (_calls([10**12], 10**12), "retrieval.depth: Input should be less than or equal to 10000"),
            (_gone, "no such folder"),
            (_blocked, "BLOCKED.md"),
            (_no_rows, "raw_retrievals.jsonl"),
            (_cut_off, "line 158"),
            (_dropped, "do not give the figures"),
            (_no_metrics, "metrics.json"),
            (_not_utf8, "line 1"),
            (_misplaced, "line 1: not a ranking"),
            (_no_figures, "no figure for recall_any@10"),
            (_no_calls, "no call to the store"),
            (_two_rows_on_one_line, "two rows on one line"),
            (_elsewhere, "a link that leaves it"),
        ]
    ),
)
def test_a_broken_result_is_refused_with_its_fault(
    workspace: Path, tmp_path: Path, harm: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "harmed"
    shutil.copytree(workspace / "bm25", folder)
    harm(folder)
    done = recallbench("compare", "bm25", folder, cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


WRONG = {
    "one folder": (("bm25",), "B is missing"),
    "no such measure": (("bm25", "again", "--measures", "recall@10"), "unknown measure"),
    "a measure of a set": (("bm25", "again", "--measures", "f1_of_means@10"), "has no value for a single question"),
    "too deep": (("shallow", "shallow", "--measures", "mrr@50"), "a depth of 20 or less"),
    "too deep a condition": (("shallow", "shallow", "--fail-if", "mrr@50 drops .1"), "a depth of 20 or less"),
    "no condition": (("bm25", "again", "--fail-if", "mrr@50 falls"), "MEASURE drops SHARE"),
    "two forms": (("bm25", "again", "--json", "--markdown"), "one of them"),
    "a file": (("bm25/run.trec", "again"), "--qrels FILE"),
    "clusters of folders": (("bm25", "again", "--cluster-prefix", "/"), "are for TREC runs"),
    "a regression of nothing": (
        ("bm25", "again", "--measures", "ndcg@10", "--fail-on-regression"),
        "looks at the primary measures",
    ),
    "strict about nothing": (("bm25", "again", "--strict"), "--strict goes with --fail-if"),
    "less than none": (("bm25", "again", "--show", "-1"), "--show"),
}


@pytest.mark.parametrize(("words", "message"), sampled(WRONG.values()), ids=WRONG)
def test_wrong_usage_is_refused(workspace: Path, words: tuple[str, ...], message: str) -> None:
    done = recallbench("compare", *words, cwd=workspace)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
