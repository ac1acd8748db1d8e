"""`recallbench audit` of a whole LongMemEval folder: the command from start to end, and its peak of memory.

The dataset is read, hashed and its gold derived. The store is bm25, which needs no vectors; the audit of any other
takes as long. LONGMEMEVAL_DATA_DIR names the corpus' folder. Run: python benchmarks/performance/audit.py
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from memory import corpus, peak
from row import Row, median, show

ROUNDS, SECONDS, MEGABYTES = 3, 10.0, 300
PROGRAM = [sys.executable, "-m", "recallbench"]


def rows() -> list[Row]:
    """Return the median time of three audits, and the highest peak."""
    file = corpus()
    if file is None:
        return []
    with TemporaryDirectory() as scratch:
        folder = str(Path(scratch, "result"))
        option = ["--corpus-file", str(file)]
        run = [*PROGRAM, "run", "longmemeval", "--store", "bm25", *option, "--allow-deviation", "dataset", "--quiet"]
        subprocess.run([*run, "--folder", folder], check=True, capture_output=True)
        seconds, most = [], 0
        for _ in range(ROUNDS):
            started = time.perf_counter()
            # 1, since nothing is committed and one item of the registered file is missing.
            most = max(most, peak([*PROGRAM, "audit", folder, *option], codes=(0, 1)))
            seconds.append(time.perf_counter() - started)
    name = "audit of a LongMemEval-S folder (499 x up to 50 rows), dataset included"
    return [
        Row(name, f"under {SECONDS:.0f} s", f"{median(seconds):.1f} s", median(seconds) < SECONDS),
        Row("peak RSS of the same", f"under {MEGABYTES} MB", f"{most / 1e6:.0f} MB", most < MEGABYTES * 1e6),
    ]


if __name__ == "__main__":
    raise SystemExit(show(rows()))
