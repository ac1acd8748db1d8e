"""`recallbench table` of ten LoCoMo results, and the page of a LongMemEval result, beside reading the same files bare.

The ten are pgvector with ten weights of the lexical part, on hashed vectors; LongMemEval's store is bm25, which needs
none. LOCOMO_DATA_DIR and LONGMEMEVAL_DATA_DIR name the corpora's folders. Run: python benchmarks/performance/look.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from memory import corpus
from row import Row, median, show

RESULTS, ROUNDS, SECONDS, MEGABYTES = 10, 3, 3.0, 1.5
PROGRAM = [sys.executable, "-m", "recallbench"]
BARE = """import json, sys
from pathlib import Path
for folder in map(Path, sys.argv[1:]):
    json.loads((folder / "metrics.json").read_bytes())
    with (folder / "raw_retrievals.jsonl").open("rb") as file:
        rows = [json.loads(line) for line in file]
"""
"""Reads the figures and rankings of folders, and does nothing with them."""


def rows() -> list[Row]:
    """Return the rows of the corpora that are here."""
    table = []
    with TemporaryDirectory() as scratch:
        if "LOCOMO_DATA_DIR" in os.environ:
            folders = [Path(scratch, f"pgvector_{number}") for number in range(RESULTS)]
            for number, folder in enumerate(folders):
                weights = f"cosine=1,bm25={number / 10}"
                words = ["--store", "pgvector", "--embedder", "hash", "--weights", weights, "--folder", str(folder)]
                subprocess.run([*PROGRAM, "run", "locomo", "--quiet", *words], check=True, capture_output=True)
            table.append(_timed(f"`table` of {RESULTS} LoCoMo results", ["table", *map(str, folders)], folders))
        else:
            print("no LoCoMo file was named, so nothing is measured on it", file=sys.stderr)
        if (file := corpus()) is not None:
            folder, page = Path(scratch, "bm25"), Path(scratch, "page.html")
            words = ["--store", "bm25", "--corpus-file", str(file), "--allow-deviation", "dataset"]
            words += ["--folder", str(folder)]
            subprocess.run([*PROGRAM, "run", "longmemeval", "--quiet", *words], check=True, capture_output=True)
            command = ["report", str(folder), "--out", str(page)]
            table.append(_timed("the page of a LongMemEval result", command, [folder]))
            size = page.stat().st_size / 1e6
            table.append(Row("size of that page", f"under {MEGABYTES} MB", f"{size:.2f} MB", size < MEGABYTES))
    return table


def _timed(name: str, words: list[str], folders: list[Path]) -> Row:
    """Return the median time of a command, and how many times that of reading its files it is; both in turn."""
    seconds: dict[str, list[float]] = {"command": [], "bare": []}
    for _ in range(ROUNDS):
        for side, command in (
            ("command", [*PROGRAM, *words]),
            ("bare", [sys.executable, "-c", BARE, *map(str, folders)]),
        ):
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds[side].append(time.perf_counter() - started)
    ours, bare = median(seconds["command"]), median(seconds["bare"])
    return Row(
        name,
        f"under {SECONDS:.0f} s",
        f"{ours:.2f} s, {ours / bare:.1f} times reading the same files bare ({bare:.2f} s)",
        ours < SECONDS,
    )


if __name__ == "__main__":
    raise SystemExit(show(rows()))
