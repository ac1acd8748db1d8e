"""`recallbench site` over 200 results, beside reading them and beside auditing them.

Ten versions of a memory, measured on the canary in LoCoMo's shape, each in twenty folders with names of their own.
Reading is what `recallbench table` does first: figures and rankings are read, judged, and held to each other. A site
finds what `recallbench audit` or an earlier site found to hold; one that is made afresh audits all. Times are those of
processors.
Run: python benchmarks/performance/board.py
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from row import Row, median, show

VERSIONS, COPIES, ROUNDS, TIMES, MEGABYTES = 10, 20, 3, 2.0, 3.0
RESULTS = VERSIONS * COPIES
PROGRAM = [sys.executable, "-m", "recallbench"]
NOTES = """__version__ = "1.{version}"


class Notes:
    def __init__(self):
        self.ids = []

    def add(self, id, text):
        self.ids.append(id)

    def search(self, query, k):
        return self.ids[{version}:][:k]
"""
READING = """import sys
from pathlib import Path
from recallbench.results.result import open_with_manifest
for folder in sorted(Path(sys.argv[1]).iterdir()):
    assert open_with_manifest(folder).rankings.questions
"""
"""Reads figures and rankings of folders, as every command does that compares some."""


def rows() -> list[Row]:
    """Return how many times reading a site over audited results takes, how many times the audits, and its size."""
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        results = _results(place)
        site = [*PROGRAM, "site", "results", "--out", "site", "--quiet"]
        fresh, audits = _seconds([*site, "--fresh"], place), _seconds([*PROGRAM, "audit", *results, "--quiet"], place)
        again: list[float] = []
        reading: list[float] = []
        for _ in range(ROUNDS):
            again.append(_seconds(site, place))
            reading.append(_seconds([sys.executable, "-c", READING, "results"], place))
        size = sum(file.stat().st_size for file in (place / "site").iterdir()) / 1e6
    return [
        _ratio(f"`site` of {RESULTS} results that were audited", median(again), "reading them", median(reading)),
        _ratio(f"`site` of {RESULTS} results, all audited", fresh, "their audits alone", audits),
        Row(f"size of a site of {RESULTS} results", f"under {MEGABYTES:g} MB", f"{size:.2f} MB", size < MEGABYTES),
    ]


def _ratio(name: str, ours: float, what: str, theirs: float) -> Row:
    measured = f"{ours / theirs:.2f} times ({ours:.1f} s against {theirs:.1f} s)"
    return Row(name, f"under {TIMES:g} times {what}", measured, ours < TIMES * theirs)


def _results(place: Path) -> list[str]:
    for version in range(VERSIONS):
        (place / "notes.py").write_text(NOTES.format(version=version))
        first = f"results/1.{version}_0"
        run = ["run", "canary-locomo", "--store", "python:notes:Notes", "--quiet", "--folder", first]
        subprocess.run([*PROGRAM, *run], cwd=place, check=True, capture_output=True, env=_environment(place))
        for copy in range(1, COPIES):
            shutil.copytree(place / first, place / f"results/1.{version}_{copy}")
    return [f"results/{folder.name}" for folder in sorted((place / "results").iterdir())]


def _seconds(command: list[str], place: Path) -> float:
    """Return the processor seconds of a command, which others on the machine do not lengthen."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, env=_environment(place))
    # 1 is of the audits, since nothing is committed.
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command[:5])}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment(place: Path) -> dict[str, str]:
    own = {"RECALLBENCH_CACHE_DIR": str(place / "cache"), "PYTHONHASHSEED": "42", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **own}


if __name__ == "__main__":
    raise SystemExit(show(rows()))
