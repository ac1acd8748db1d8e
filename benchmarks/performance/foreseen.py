"""What `recallbench doctor` says that a run takes, and what the run takes then: wall time, memory and disk.

LoCoMo, RealMem and the first questions of LongMemEval-S, with MiniLM and the exact store or pgvector; nothing is cached
but what a machine finds out once. Run: python benchmarks/performance/foreseen.py [locomo|realmem|longmemeval ...]
(with LOCOMO_DATA_DIR, RECALLBENCH_DATA_DIR and LONGMEMEVAL_DATA_DIR)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from memory import corpus, peak
from row import Row, show

WITHIN = 1.25
PROGRAM = [sys.executable, "-m", "recallbench"]
QUESTIONS = 10
CASES = (
    ("locomo", "exact", ()),
    ("locomo", "pgvector", ()),
    ("realmem", "exact", ()),
    ("longmemeval", "exact", ("--limit", str(QUESTIONS))),
)


def rows(named: tuple[str, ...] = ("locomo", "realmem", "longmemeval")) -> list[Row]:
    """Return a row for each run: what was told, and what was seen."""
    table = []
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        for name, store, more in CASES:
            if name not in named:
                continue
            file = corpus() if name == "longmemeval" else None
            what = [name, "--store", store, "--embedder", "minilm", "--cache-dir", str(place / "cache")]
            at = [] if file is None else ["--corpus-file", str(file)]
            shutil.rmtree(place / "cache" / "vectors", ignore_errors=True)
            shutil.rmtree(place / "cache" / "words", ignore_errors=True)
            table.append(_row(f"{name}{' ' + ' '.join(more) if more else ''}, {store}", what, at, list(more), place))
    return table


def _row(name: str, what: list[str], at: list[str], more: list[str], place: Path) -> Row:
    # Of a slice, and of a file that is not the registered one, the dry run tells, by the pace that doctor found.
    tried = what if not more else ["locomo", *what[1:]]
    told = _told([*PROGRAM, "doctor", *tried, "--json"])
    if more:
        told = _told([*PROGRAM, "run", *what, *at, *more, "--allow-deviation", "dataset", "--dry-run", "--json"])
    before, started = _size(place / "cache"), time.perf_counter()
    allowed = ["--allow-deviation", "dataset"] if at else []
    run = ["run", *what, *at, *more, *allowed, "--folder", str(place / "result"), "--quiet"]
    memory = peak([*PROGRAM, *run])
    seconds = time.perf_counter() - started
    disk = _size(place / "cache") - before + _size(place / "result")
    shutil.rmtree(place / "result")
    ratio = told["seconds"] / seconds
    measured = f"{told['seconds']:.0f} s told, {seconds:.0f} s seen ({ratio:.2f} times); "
    measured += f"memory {told['memory_bytes'] / 1e6:.0f} and {memory / 1e6:.0f} MB; "
    measured += f"disk {told['disk_bytes'] / 1e6:.0f} and {disk / 1e6:.0f} MB"
    print(f"{name}: {measured}; {told['parts']}", file=sys.stderr, flush=True)
    return Row(name, f"within {WITHIN:g} times", measured, 1 / WITHIN <= ratio <= WITHIN)


def _told(command: list[str]) -> dict[str, float]:
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ.copy()).stdout
    document = json.loads(answer)
    (only,) = document.get("corpora") or document["dry_runs"]
    return only["forecast"]


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if folder.exists() else 0


if __name__ == "__main__":
    raise SystemExit(show(rows(tuple(sys.argv[1:]) or ("locomo", "realmem", "longmemeval"))))
