"""The time that the program takes to answer: --help, and a dry run.

Their requirements are seconds, which a slow or busy machine stretches; beside them stands the time of a bare
`python -c pass` in the same run. Run: python benchmarks/performance/startup.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from row import Row, median, show

ROUNDS = 7


def rows() -> list[Row]:
    """Return the median wall clock of whole processes."""
    commands = {
        "bare": [sys.executable, "-c", "pass"],
        "`recallbench --help`": [sys.executable, "-m", "recallbench", "--help"],
        "dry run": [sys.executable, "-m", "recallbench", "run", "locomo", "--dry-run"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    with TemporaryDirectory() as scratch:
        environment = {k: v for k, v in os.environ.items() if k not in ("PGMNEMO_DSN", "PYTHONHASHSEED")}
        for turn in range(ROUNDS + 1):
            for name, command in commands.items():
                started = time.perf_counter()
                subprocess.run(command, cwd=scratch, env=environment, check=True, capture_output=True)
                if turn:
                    seconds[name].append(time.perf_counter() - started)
    bare = median(seconds.pop("bare"))
    return [
        Row(
            name,
            f"under {limit} s",
            f"{median(seconds[name]):.2f} s ({median(seconds[name]) / bare:.0f} times a bare Python)",
            median(seconds[name]) < limit,
        )
        for name, limit in (("`recallbench --help`", 0.3), ("dry run", 2.0))
    ]


if __name__ == "__main__":
    raise SystemExit(show(rows()))
