"""Whole runs over the corpora outside the protocol: RealMem's time, cold and warm, and BEAM-500K's memory.

Each run is a process of its own. Times are by the clock, so they say nothing where other work runs beside; what
processors were used stands with them. BEAM goes without MiniLM, whose
vectors take most of an hour there; the `hash` encoder makes as many vectors as any other would.
Run: RECALLBENCH_DATA_DIR=… python benchmarks/performance/releases.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from memory import LIMIT, peak
from recallbench.corpora.registry import why_not_at_hand
from recallbench.protocol.frozen import load
from row import Row, show

CORES = 2
COLD, WARM = 180.0, 10.0
"""Seconds on two cores that a run over RealMem may take, with no vector cached and with all."""
STORES = (("bm25",), ("exact", "--embedder", "hash"))


def rows() -> list[Row]:
    """Return two rows for RealMem and one per store for BEAM-500K, where their files are at hand."""
    return [*(_times() if _at_hand("realmem") else ()), *(_peaks() if _at_hand("beam-500k") else ())]


def _at_hand(corpus: str) -> bool:
    why = why_not_at_hand(corpus, load(), os.environ)
    if why:
        print(f"nothing is measured on {corpus}: {why}", file=sys.stderr)
    return not why


def _command(corpus: str, folder: Path, *more: str) -> list[str]:
    out = ("--quiet", "--cache-dir", str(folder / "cache"), "--out", str(folder / "out"))
    return [sys.executable, "-m", "recallbench", "run", corpus, *out, "--store", *more]


def _times() -> list[Row]:
    table = []
    with TemporaryDirectory() as scratch:
        command = _command("realmem", Path(scratch), "exact", "--embedder", "minilm")
        for name, limit in (("no vector cached", COLD), ("all vectors cached", WARM)):
            wall, used = _seconds(command)
            table.append(
                Row(
                    f"RealMem whole, exact, MiniLM, {name}",
                    f"at most {limit:g} s on {CORES} cores",
                    f"{wall:.1f} s, {used:.1f} s of processors",
                    wall <= limit,
                )
            )
    return table


def _seconds(command: list[str]) -> tuple[float, float]:
    """Return how long a command took, and the seconds of all processors that it used."""
    started = time.perf_counter()
    environment = os.environ | {"PYTHONHASHSEED": "42"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - started, used.ru_utime + used.ru_stime


def _peaks() -> list[Row]:
    table = []
    for store in STORES:
        with TemporaryDirectory() as scratch:
            most = peak(_command("beam-500k", Path(scratch), *store))
        what = f"{store[0]}, the hash encoder's vectors" if len(store) > 1 else store[0]
        table.append(
            Row(
                f"BEAM-500K whole, {what}",
                f"peak RSS under {LIMIT} MB without the model",
                f"{most / 1e6:.0f} MB",
                most < LIMIT * 1e6,
            )
        )
    return table


if __name__ == "__main__":
    raise SystemExit(show(rows()))
