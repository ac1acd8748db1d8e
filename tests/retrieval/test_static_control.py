"""The static control ranks by its own encoder, whatever the system under test has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.registry import default_cache_dir
from recallbench.embedding.wheels import unpacked_folder
from recallbench.progress import Silent
from recallbench.results.manifest import build
from recallbench.results.result import open_result
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Calls
from recallbench.retrieval.static_control import ENCODER, StaticControl
from recallbench.retrieval.timing import Timings
from recallbench.stores.bm25 import BM25Store

RUN = ("run", "canary-locomo", "--store", "bm25", "--controls", "bm25,static", "--limit", "6")


def test_it_ranks_each_haystack_by_vectors_of_its_own() -> None:
    texts = ("the cat sat on the mat", "a dog in the rain", "")
    questions = (
        Question("s", "q1", "the dog", frozenset({1}), "k"),
        Question("s", "q2", "the mat", frozenset({0}), "k"),
    )
    haystack = Haystack("s", tuple(Segment("s", place, text) for place, text in enumerate(texts)), questions)
    result = retrieve(
        lambda: [haystack],
        BM25Store(),
        None,
        None,
        expected=2,
        calls=Calls(10, 50),
        timings=Timings(),
        progress=Silent(),
        static=StaticControl(HashEmbedder()),
    )
    assert result.static is not None
    assert [ranking.question_id for ranking in result.static] == ["q1", "q2"]
    assert [ranking.positions[0] for ranking in result.static] == [1, 0]
    assert all(len(ranking.positions) == 3 for ranking in result.static)
    # The store is its own lexical control, and has no part in this one.
    assert result.control is result.rankings
    assert "static control" in result.timings.phases


def test_without_its_weights_the_run_says_how_to_get_them(tmp_path: Path) -> None:
    done = recallbench(*RUN, "--cache-dir", "cache", cwd=tmp_path)
    assert done.returncode == 3
    assert f"the static control has no {ENCODER}" in done.stderr
    assert f"what to do: recallbench fetch {ENCODER}" in done.stderr


def test_it_stands_beside_a_labelled_set_too(tmp_path: Path) -> None:
    write_set(tmp_path / "mine")
    done = recallbench("evaluate", "mine", *RUN[2:6], "--cache-dir", "cache", cwd=tmp_path)
    assert (done.returncode, f"recallbench fetch {ENCODER}" in done.stderr) == (3, True)
    files = ("evaluate", "--run", "a.trec", "--gold", "b.trec", *RUN[4:6])
    refused = recallbench(*files, cwd=tmp_path)
    assert (refused.returncode, "--controls is for a set of your own" in refused.stderr) == (2, True)


@pytest.mark.marked
def test_it_stands_beside_bm25_and_is_audited(tmp_path: Path) -> None:
    folder = unpacked_folder(ENCODERS[ENCODER].passage, default_cache_dir())
    if not folder.is_dir():
        pytest.skip(f"the weights of {ENCODER} are not here: recallbench fetch {ENCODER}")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "weights").symlink_to(folder.parent)
    done = recallbench(*RUN, "--folder", "result", "--cache-dir", "cache", cwd=tmp_path)
    assert done.returncode == 0
    assert "BM25    static" in done.stdout
    write_set(tmp_path / "mine")
    of_set = recallbench(
        *("evaluate", "mine", "--store", "bm25", "--folder", "of_set"),
        cwd=tmp_path,
        env={"RECALLBENCH_CONTROLS": "bm25,static", "RECALLBENCH_CACHE_DIR": "cache"},
    )
    assert (of_set.returncode, "BM25    static" in of_set.stdout) == (0, True)
    metrics = open_result(tmp_path / "result").metrics
    assert metrics.control_static is not None
    assert set(metrics.control_static) == set(metrics.control_bm25)
    assert "## Static control (wordllama l2_supercat_256)" in (tmp_path / "result/report.md").read_text()
    assert "static" in recallbench("table", "result", cwd=tmp_path).stdout
    # The weights are where the option says, else the variable.
    ranked_again = "static ranked again: ranked again, all 6 rankings alike"
    here = ("audit", "result", "--cache-dir", "cache")
    for audit in (
        recallbench(*here, cwd=tmp_path),
        recallbench("audit", "result", cwd=tmp_path, env={"RECALLBENCH_CACHE_DIR": "cache"}),
    ):
        assert "  fail " not in audit.stdout
        assert "RB-STATIC-FIGURES" in audit.stdout
        assert ranked_again in audit.stdout
    audit = recallbench("audit", "result", "--cache-dir", "elsewhere", cwd=tmp_path)
    assert "RB-STATIC-AGAIN" not in audit.stdout
    assert f"(recallbench fetch {ENCODER})" in audit.stdout
    # Two items without gold change places, and nothing else: no figure and no hash tells.
    swap_last_two(tmp_path / "result/run.static.trec")
    (tmp_path / "result/manifest.json").write_text(build(tmp_path / "result"))
    audit = recallbench(*here, cwd=tmp_path)
    assert audit.returncode == 1
    failed = {line.split()[1] for line in audit.stdout.splitlines() if line.startswith("  fail ")}
    assert failed == {"RB-STATIC-AGAIN"}
    # A board asks for the same weights, and can't tell without them.
    assert recallbench("site", "result", "--out", "a", "--cache-dir", "elsewhere", cwd=tmp_path).returncode == 0
    refused = recallbench("site", "result", "--out", "b", "--cache-dir", "cache", cwd=tmp_path)
    assert (refused.returncode, "RB-STATIC-AGAIN fails" in refused.stdout) == (1, True)


def write_set(folder: Path) -> None:
    (folder / "qrels").mkdir(parents=True)
    texts = {"d1": "the boat was sold", "d2": "bread is baked", "d3": "a train to Oslo"}
    lines = [json.dumps({"_id": id, "text": text}) for id, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "who sold the boat"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")


def swap_last_two(run: Path) -> None:
    """Let the last two items of a run's last question change places, each place keeping its score."""
    *others, before, last = (line.split() for line in run.read_text().splitlines())
    assert float(before[4]) - float(last[4]) > 1e-3
    before[2], last[2] = last[2], before[2]
    run.write_text("".join(" ".join(line) + "\n" for line in (*others, before, last)))
