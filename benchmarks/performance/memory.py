"""Peak memory of whole runs over LongMemEval-S (499 items), each in a process of its own.

The `bm25` store needs no vectors. For the reference store the vectors must be cached: embed them once with
`recallbench run longmemeval --embedder minilm --allow-deviation dataset --corpus-file FILE`; until then that row is
left out, and says so. Run: python benchmarks/performance/memory.py [longmemeval file]    (or LONGMEMEVAL_DATA_DIR)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from row import Row, show

LIMIT = 400


def rows(file: Path | None = None) -> list[Row]:
    """Return a row per store."""
    file = file or corpus()
    if file is None:
        return []
    table = []
    for store in ("bm25", "pgvector"):
        with TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "recallbench", "run", "longmemeval", "--quiet", "--store", store]
            command += ["--embedder", "minilm", "--weights", "cosine"] if store == "pgvector" else []
            command += ["--corpus-file", str(file), "--allow-deviation", "dataset", "--folder", f"{scratch}/result"]
            most = peak(command)
            around = json.loads(Path(scratch, "result", "environment.json").read_text())
            if (around["embedding"] or {}).get("computed", 0):
                print(f"memory: {store} had to embed in this run; run again with the vectors cached", file=sys.stderr)
                continue
        table.append(
            Row(
                f"LongMemEval-S (499 items), {store}" + (", MiniLM vectors cached" if store == "pgvector" else ""),
                f"peak RSS under {LIMIT} MB without the model",
                f"{most / 1e6:.0f} MB",
                most < LIMIT * 1e6,
            )
        )
    return table


def corpus() -> Path | None:
    """Return LongMemEval-S where the environment names it; say so where it does not."""
    file = Path(os.environ.get("LONGMEMEVAL_DATA_DIR", ""), "longmemeval_s_cleaned_499of500.json")
    if "LONGMEMEVAL_DATA_DIR" in os.environ and file.is_file():
        return file
    print("no LongMemEval file was named, so nothing is measured on it", file=sys.stderr)
    return None


def peak(command: list[str], codes: tuple[int, ...] = (0,), cwd: Path | None = None) -> int:
    """Return the largest resident set of the process itself; a server it starts is not the harness."""
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONHASHSEED": "42"}, cwd=cwd)
    most, done = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.is_set():
            try:
                most = max(most, process.memory_info().rss)
            except psutil.NoSuchProcess:
                return
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    done.set()
    watcher.join()
    if code not in codes:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return most


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
