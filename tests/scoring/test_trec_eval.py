"""Agreement with trec_eval (pytrec_eval-terrier), on random rankings with strictly decreasing rank scores."""

import numpy as np
import pytest
import pytrec_eval

from recallbench.scoring.judgement import judge
from recallbench.scoring.measures.registry import parse

PAIRS = {
    "recall_any@1": "success_1",
    "recall_any@5": "success_5",
    "recall_any@10": "success_10",
    "recall_frac@1": "recall_1",
    "recall_frac@10": "recall_10",
    "recall_frac@25": "recall_25",
    "recall_frac@50": "recall_50",
    "precision@5": "P_5",
    "precision@10": "P_10",
    "ndcg@5": "ndcg_cut_5",
    "ndcg@10": "ndcg_cut_10",
    "ndcg@50": "ndcg_cut_50",
    "mrr@50": "recip_rank",
}


def corpus(seed: int, questions: int, graded: bool) -> tuple[list[list[int]], list[dict[int, int]], list[int]]:
    """Rankings from empty to 50 deep, over haystacks from tiny to larger than the depth."""
    rng = np.random.default_rng(seed)
    rankings, grades, sizes = [], [], []
    for _ in range(questions):
        size = int(rng.integers(1, 120))
        gold = rng.choice(size, rng.integers(1, min(size, 12) + 1), replace=False).tolist()
        rankings.append(rng.permutation(size)[: rng.integers(0, 51)].tolist())
        grades.append({position: int(rng.integers(1, 5)) if graded else 1 for position in gold})
        sizes.append(size)
    return rankings, grades, sizes


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_shared_measure_is_trec_evals(seed: int, graded: bool) -> None:
    rankings, grades, sizes = corpus(seed, 400, graded)
    judged = judge(rankings, [set(one) for one in grades], sizes, 50, grades if graded else None)
    names = [str(i) for i in range(len(rankings))]
    qrels = {name: {str(p): grade for p, grade in one.items()} for name, one in zip(names, grades, strict=True)}
    run = {
        name: {str(p): float(50 - rank) for rank, p in enumerate(one)}
        for name, one in zip(names, rankings, strict=True)
    }
    oracle = pytrec_eval.RelevanceEvaluator(qrels, set(PAIRS.values())).evaluate(run)
    for ours, theirs in PAIRS.items():
        # pytrec_eval drops a question without results; here it scores 0.
        expected = [oracle[name][theirs] if run[name] else 0.0 for name in names]
        np.testing.assert_allclose(parse(ours).values(judged), expected, atol=1e-9, err_msg=ours)


def test_the_comparison_covers_short_empty_and_saturated_rankings() -> None:
    rankings, _, sizes = corpus(0, 400, False)
    lengths = [len(ranking) for ranking in rankings]
    assert min(lengths) == 0
    assert max(lengths) == 50
    assert min(sizes) < 5 < 100 < max(sizes)
