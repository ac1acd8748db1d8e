"""The Python API's overhead on each call of a retriever, and the cost of importing it.

The overhead is the time of `evaluate` and of all its means, less that of calling the same retriever in a bare loop, by
case; the default limit of 60 s a case is on. Beside the import stands a bare `python -c pass` in the same run.
Run: python benchmarks/performance/api.py
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import numpy as np

import recallbench
from row import Row, median, show

CASES, ROUNDS = 10_000, 5
MICROSECONDS, MILLISECONDS = 20.0, 150.0


def rows() -> list[Row]:
    """Return the medians of several rounds."""
    kinds = ((10, False, False), (10, True, False), (10, False, True))
    return [*(_overhead(k, scored, asynchronous) for k, scored, asynchronous in kinds), _import()]


def _overhead(k: int, scored: bool, asynchronous: bool) -> Row:
    rng = np.random.default_rng(42)
    answers: dict[str, list[object]] = {}
    cases = []
    for number in range(CASES):
        ids = [f"d{item}" for item in rng.choice(1000, k, replace=False).tolist()]
        answers[f"query {number}"] = [(id, 1.0 - n / k) for n, id in enumerate(ids)] if scored else list(ids)
        cases.append(recallbench.Case(f"query {number}", [ids[int(rng.integers(k))], "elsewhere"]))

    def retrieve(query: str, k: int) -> list[object]:
        return answers[query]

    async def awaited(query: str, k: int) -> list[object]:
        return answers[query]

    async def loop() -> None:
        for case in cases:
            await awaited(case.query, k)

    def bare() -> None:
        if asynchronous:
            asyncio.run(loop())
            return
        for case in cases:
            retrieve(case.query, k)

    def evaluate_all() -> None:
        str(recallbench.evaluate(cases, awaited if asynchronous else retrieve, k))

    seconds: dict[str, list[float]] = {"bare": [], "evaluate": []}
    for _ in range(ROUNDS):
        for name, side in (("bare", bare), ("evaluate", evaluate_all)):
            started = time.perf_counter()
            side()
            seconds[name].append(time.perf_counter() - started)
    each = (median(seconds["evaluate"]) - median(seconds["bare"])) / CASES * 1e6
    return Row(
        f"`recallbench.evaluate` beyond `retrieve`, {CASES:,} cases x {k} {'(id, score) pairs' if scored else 'ids'}"
        f"{', async' if asynchronous else ''}",
        f"under {MICROSECONDS:.0f} µs a case",
        f"{each:.1f} µs",
        each < MICROSECONDS,
    )


def _import() -> Row:
    code = "import sys, recallbench; raise SystemExit(bool({'torch', 'scipy', 'numpy'} & set(sys.modules)))"
    commands = {"bare": "pass", "import": code}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(ROUNDS + 1):
        for name, text in commands.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True)
            if turn:
                seconds[name].append(time.perf_counter() - started)
    bare, imported = (median(seconds[name]) * 1e3 for name in commands)
    return Row(
        "`import recallbench`",
        f"under {MILLISECONDS:.0f} ms, without torch or scipy",
        f"{imported - bare:.0f} ms ({imported:.0f} with Python's own start)",
        imported - bare < MILLISECONDS,
    )


if __name__ == "__main__":
    raise SystemExit(show(rows()))
