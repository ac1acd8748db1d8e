"""`recallbench gate` on latency and abstention."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from gated_runs import RUNS, gate, refused, write

from commandline import recallbench
from recallbench.results.manifest import content_sha256


@pytest.fixture
def workspace(results_to_gate: Path, tmp_path: Path) -> Path:
    for name in RUNS:
        shutil.copytree(results_to_gate / name, tmp_path / "results" / name)
    return tmp_path


def test_a_latency_threshold_names_its_state_and_warns_of_noise(workspace: Path) -> None:
    rows = [{"phase": "search", "seconds": 1.0}]
    rows += [{"question_id": f"q{i}", "state": "warm", "ms": float(i)} for i in range(1, 101)]
    folder = workspace / "results/night_20260101"
    (folder / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write(workspace, "p95_ms = { warm = 94.5 }\n")
    assert "timings.jsonl has sha256" in refused(workspace)
    stated = json.loads((folder / "manifest.json").read_text())
    stated["files"]["timings.jsonl"] = hashlib.sha256((folder / "timings.jsonl").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(stated))
    code, document = gate(workspace)
    (threshold,) = document["thresholds"]
    assert (code, threshold["measure"], threshold["observed"], threshold["by"], threshold["n"]) == (
        1,
        "p95 warm",
        95.0,
        0.5,
        100,
    )
    # By a binomial count of 100 with share .95: 89 or fewer 1.2% of the time, all 100 0.6%.
    assert (threshold["low"], threshold["high"]) == (90.0, 100.0)
    assert threshold["note"].startswith("noisy: single queries on ")
    write(workspace, "p95_ms = { cold = 10 }\n")
    assert "no p95 of cold queries" in refused(workspace)


def test_percentiles_can_be_taken_by_index(workspace: Path) -> None:
    folder = workspace / "results/night_20260101"
    write_timings(folder, 100)  # 1 to 100 ms: the 95th is 95, sorted[int(.95 * 100)] is 96
    write(workspace, "p95_ms = 95\n")
    assert gate(workspace)[0] == 0
    write(workspace, 'p95_ms = 95\npercentiles = "index"\n')
    code, document = gate(workspace)
    threshold = document["thresholds"][0]
    assert (code, threshold["measure"], threshold["observed"], threshold["by"]) == (1, "p95 warm (index)", 96.0, 1.0)
    # At the top of the file it holds for every result that does not set its own.
    write(workspace, "p95_ms = 95\n")
    settings = workspace / "recallbench.toml"
    settings.write_text('percentiles = "index"\n' + settings.read_text())
    assert gate(workspace)[0] == 1


def replace_file(folder: Path, name: str, text: str) -> None:
    """Replace a file, and its hash in the manifest."""
    (folder / name).write_text(text)
    stated = json.loads((folder / "manifest.json").read_text())
    stated["files"][name] = hashlib.sha256(text.encode()).hexdigest()
    stated["content_sha256"] = content_sha256(stated["files"])
    (folder / "manifest.json").write_text(json.dumps(stated))


def write_timings(folder: Path, most: int) -> None:
    """Write the timings of a hundred warm queries, the slowest of `most` ms."""
    rows = [{"question_id": f"q{i}", "state": "warm", "ms": most * i / 100} for i in range(1, 101)]
    replace_file(folder, "timings.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_p95_against_the_baseline(workspace: Path) -> None:
    now, before = (workspace / "results" / name for name in RUNS)
    write_timings(now, 200)
    write_timings(before, 100)
    head = 'baseline = "results/night_20260102"\nallow = ["embedder", "store"]\np95_ms = 200\n'
    write(workspace, head + "p95_ratio = { warm = 1.5 }\n")
    code, document = gate(workspace)
    absolute, ratio = document["thresholds"]
    assert (absolute["what"], absolute["outcome"], absolute["measure"]) == ("p95_ms", "holds", "p95 warm")
    assert (code, ratio["what"], ratio["measure"]) == (1, "p95_ratio", "p95 warm / baseline")
    assert (ratio["observed"], ratio["by"], ratio["outcome"]) == (2.0, 0.5, "falls short")
    # Ends that together hold 95%, by a binomial count of 100 with share .95: 89 or fewer lie below 1.15% of the time,
    # all 100 0.6%; each may be 1.27%.
    assert (ratio["low"], ratio["high"]) == (pytest.approx(180 / 100), pytest.approx(200 / 90))
    assert "p95 190 ms against 95 ms; noisy" in ratio["note"]
    assert "p95 warm / baseline <= 1.5  2.0000" in recallbench("gate", cwd=workspace).stdout
    write(workspace, head + "p95_ratio = 2\n")
    assert gate(workspace)[0] == 0


@pytest.mark.marked
def test_times_of_another_machine_are_not_compared(workspace: Path) -> None:
    now, before = (workspace / "results" / name for name in RUNS)
    write_timings(now, 200)
    write_timings(before, 100)
    stated = json.loads((before / "environment.json").read_text())
    head = 'baseline = "results/night_20260102"\nallow = ["embedder", "store"]\n'
    write(workspace, head + "p95_ratio = 1.5\n")
    for part, value, words in (
        ("cpu", "Abacus 9", "cpu Abacus 9 and "),
        ("cores", 4096, "cores 4096 and "),
        ("cpu", "", "the first does not say its cpu"),
    ):
        machine = {**stated["machine"], part: value}
        replace_file(before, "environment.json", json.dumps({**stated, "machine": machine}))
        code, document = gate(workspace)
        (threshold,) = document["thresholds"]
        assert (code, threshold["outcome"], threshold["observed"], threshold["by"]) == (0, "cannot tell", None, None)
        assert f"times of different machines say nothing: {words}" in threshold["note"]
    printed = recallbench("gate", cwd=workspace).stdout
    assert "\ncan't be told:\n" in printed
    assert printed.splitlines()[-1] == (
        "0 of 1 threshold holds, 1 can't be told: p95 warm / baseline <= 1.5; that fails only with "
        "strict = true; next: read the notes above: they say what is lacking"
    )
    assert "**Can't be told**" in recallbench("gate", "--format", "markdown", cwd=workspace).stdout
    write(workspace, head + "strict = true\np95_ratio = 1.5\n")
    assert gate(workspace)[0] == 1


@pytest.mark.marked
def test_thresholds_on_abstention(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    documents = [{"_id": f"d{i}", "text": f"word{i} stands here"} for i in range(12)]
    queries = [{"query": f"word{i}", "relevant": [f"d{i}"], "kind": "fact"} for i in range(6)]
    # One of the two finds a document by a word as rare as those of the others.
    queries += [{"query": query, "relevant": [], "kind": "abstention"} for query in ("nothing of it", "word11")]
    for name, rows in (("corpus", documents), ("gold", queries)):
        (tmp_path / "set" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = recallbench("evaluate", "set", "--store", "bm25", "--folder", "r", cwd=tmp_path)
    assert done.returncode == 0
    stated = json.loads((tmp_path / "r" / "metrics.json").read_text())["abstention"]
    assert (stated["auroc"], stated["false_retrieval"]) == (0.75, 0.5)  # 6 of 12 pairs won, 6 tied; 1 of 2
    write(tmp_path, "abstention = { auroc = 0.75, false_retrieval = 0.5 }\n", "r")
    code, document = gate(tmp_path)
    assert code == 0
    fields = ("part", "what", "observed", "n", "ceiling")
    assert [tuple(threshold[field] for field in fields) for threshold in document["thresholds"]] == [
        ("abstention", "auroc", 0.75, 8, 1.0), ("abstention", "false_retrieval", 0.5, 2, 0.0),
    ]  # fmt: skip
    write(tmp_path, "abstention = { auroc = 0.8, false_retrieval = 0.25 }\n", "r")
    code, document = gate(tmp_path)
    assert code == 1
    assert [(threshold["outcome"], round(threshold["by"], 9)) for threshold in document["thresholds"]] == [
        ("falls short", 0.05), ("falls short", 0.25),
    ]  # fmt: skip
    assert document["thresholds"][1]["note"].startswith("the interval reaches it")
    printed = recallbench("gate", cwd=tmp_path).stdout
    assert "auroc >= 0.8 " in printed
    assert "false_retrieval <= 0.25 " in printed
    metrics = json.loads((tmp_path / "r" / "metrics.json").read_text())
    metrics["abstention"]["auroc"] = 0.9
    replace_file(tmp_path / "r", "metrics.json", json.dumps(metrics))
    assert "the rankings do not give the figures" in refused(tmp_path)
