"""Scoring 16 measures over 10,000 rankings 50 deep, against trec_eval (pytrec_eval-terrier) in the same run.

Each side gets the rankings in the form it natively takes: here lists of positions, as retrieval yields them; there a
mapping of names to scores per question. To trec_eval's advantage, its reading of the qrels and its averaging are left
out of its time, while ours holds both. Run: python benchmarks/performance/scoring.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytrec_eval

from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.registry import parse
from row import Row, median, show

QUESTIONS, DEPTH, HAYSTACK, ROUNDS = 10_000, 50, 200, 5
PAIRS = {
    **{f"recall_any@{k}": f"success_{k}" for k in (1, 5, 10, 25, 50)},
    **{f"recall_frac@{k}": f"recall_{k}" for k in (1, 5, 10, 25, 50)},
    **{f"precision@{k}": f"P_{k}" for k in (5, 10)},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (5, 10, 50)},
    "mrr@50": "recip_rank",
}
"""The 16 measures that both sides know, by both names."""


def rows() -> list[Row]:
    """Time both sides in turn; the ratio is of the medians."""
    rng = np.random.default_rng(42)
    rankings = [rng.permutation(HAYSTACK)[:DEPTH].tolist() for _ in range(QUESTIONS)]
    gold = [frozenset(rng.choice(HAYSTACK, rng.integers(1, 5), replace=False).tolist()) for _ in range(QUESTIONS)]
    sizes = [HAYSTACK] * QUESTIONS
    measures = [parse(text) for text in PAIRS]
    names = [f"q{i}" for i in range(QUESTIONS)]
    qrels = {name: {f"d{p}": 1 for p in positions} for name, positions in zip(names, gold, strict=True)}
    run = {
        name: {f"d{p}": float(DEPTH - rank) for rank, p in enumerate(ranking)}
        for name, ranking in zip(names, rankings, strict=True)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(PAIRS.values()))

    def ours() -> list[float]:
        judged = judge(rankings, gold, sizes, DEPTH)
        return [float(measure.values(judged).mean()) for measure in measures]

    def theirs() -> list[float]:
        by_question = evaluator.evaluate(run)
        return [float(np.mean([by_question[name][measure] for name in names])) for measure in PAIRS.values()]

    def theirs_bare() -> object:
        return evaluator.evaluate(run)

    np.testing.assert_allclose(ours(), theirs(), atol=1e-9)
    seconds: dict[Callable[[], object], list[float]] = {ours: [], theirs_bare: []}
    for _ in range(ROUNDS):
        for side, times in seconds.items():
            started = time.perf_counter()
            side()
            times.append(time.perf_counter() - started)
    ratio = median(seconds[theirs_bare]) / median(seconds[ours])
    return [
        Row(
            f"scoring {len(PAIRS)} measures over {QUESTIONS:,} x {DEPTH}",
            "not slower than pytrec_eval-terrier (at least 1.0 times its speed)",
            f"{ratio:.1f} times its speed",
            ratio >= 1.0,
        )
    ]


if __name__ == "__main__":
    raise SystemExit(show(rows()))
