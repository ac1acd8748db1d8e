"""doctor and the dry run tell how long a run takes on this machine, and a run what is left of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from commandline import recallbench
from recallbench.corpora.miniature import write_locomo

TOLD = r"about [0-9.,]+ (s|min) \([0-9.,]+ to [0-9.,]+\), [0-9.]+ MB of memory, [0-9.]+ MB of disk"
BM25 = ("canary-locomo", "--store", "bm25")


def test_doctor_and_the_dry_run_tell_time_memory_and_disk_in_every_format(tmp_path: Path) -> None:
    for words in (("doctor", *BM25), ("run", *BM25, "--dry-run")):
        for form in ("text", "markdown", "html", "csv"):
            assert re.search(TOLD, recallbench(*words, "--format", form, cwd=tmp_path).stdout), (words, form)
        document = json.loads(recallbench(*words, "--json", cwd=tmp_path).stdout)
        (only,) = document.get("corpora") or document["dry_runs"]
        told = only["forecast"]
        assert told["low"] < told["seconds"] < told["high"]
        assert list(told["parts"]) == ["reading", "embedding", "filling and asking", "scoring and writing"]
        assert (told["parts"]["embedding"], told["unknown"]) == (0.0, "")
        assert 50_000_000 < told["memory_bytes"] < 500_000_000
        assert 300_000 < told["disk_bytes"] < 5_000_000
    assert [path.name for path in tmp_path.iterdir()] == []


TRIED = """
import sys
from recallbench.cli import main
from recallbench.runs.forecast import foreseen
foreseen.WORTH = 0
sys.argv[0] = "recallbench"
main.run_program()
"""


def test_an_encoder_that_was_not_tried_here_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "encoder.py").write_text("def embed(texts):\n    raise SystemExit('nobody is to call it')\n")

    def told(*words: str) -> str:
        return recallbench(*words, "--store", "exact", cwd=tmp_path, program=("-c", TRIED)).stdout

    own = told("doctor", "canary-locomo", "--embedder", "python:encoder:embed")
    assert "all without embedding: how quick python:encoder:embed is, the run will tell" in own
    missing = told("doctor", "canary-locomo", "--embedder", "bge-m3")
    assert "all without embedding: how quick bge-m3 is, its weights will tell" in missing
    dry = told("run", "canary-locomo", "--embedder", "bge-m3", "--dry-run")
    assert "all without embedding: how quick bge-m3 is here, `recallbench doctor` finds out" in dry


def test_no_prediction_is_made_without_a_corpus(tmp_path: Path) -> None:
    document = json.loads(recallbench("doctor", "locomo", "--store", "bm25", "--json", cwd=tmp_path).stdout)
    assert document["corpora"][0]["forecast"] is None
    assert "  prediction " not in recallbench("doctor", "locomo", "--store", "bm25", cwd=tmp_path).stdout


LOUD = """
import sys
from recallbench.cli import bars, main
bars.listener = lambda quiet: bars.Lines(every=0.06)
sys.argv[0] = "recallbench"
main.run_program()
"""


def test_a_run_tells_what_is_left_of_all_of_it(tmp_path: Path) -> None:
    write_locomo(tmp_path / "mini.json")
    (tmp_path / "slow.py").write_text(
        "import time\ndef embed(texts):\n    time.sleep(0.03 * len(texts))\n    return [[1.0, len(t)] for t in texts]\n"
    )
    run = ("run", "locomo", "--corpus-file", "mini.json", "--allow-deviation", "dataset", "--store", "exact")
    done = recallbench(*run, "--embedder", "python:slow:embed", "--folder", "r", cwd=tmp_path, program=("-c", LOUD))
    assert done.returncode == 0, done.stderr
    assert re.search(r"embedding .*; the whole run 0:[0-9]{2} left", done.stderr)
