"""The official scorers of both benchmarks, made anew from what they are known to count, beside these measures.

LongMemEval: any and all are recall_any and recall_all. Its nDCG is another one: rank 1 and rank 2 both count in full,
and rank r from 2 on is divided by log2(r), where TREC's divides by log2(r + 1).

LoCoMo: its recall is a share of evidence *references* (`D1:3` and `D1:7` are two), each reduced to its session by what
stands before the first colon. recall_frac is a share of *sessions*. They part where a session is referred to twice,
where a string names several references at once, and where there is no evidence, which there counts as 1.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.registry import parse

K = 10


# LongMemEval


def official_any(ranking: list[str], gold: set[str], k: int) -> float:
    return 1.0 if gold.intersection(ranking[:k]) else 0.0


def official_all(ranking: list[str], gold: set[str], k: int) -> float:
    return 1.0 if gold.issubset(ranking[:k]) else 0.0


def official_gain(relevant: list[bool]) -> float:
    return sum(hit / (1.0 if rank == 1 else math.log2(rank)) for rank, hit in enumerate(relevant, 1))


def official_ndcg(ranking: list[str], gold: set[str], k: int) -> float:
    best = official_gain([True] * min(len(gold), k))
    return official_gain([id in gold for id in ranking[:k]]) / best if best else 0.0


def sessions(seed: int, questions: int) -> tuple[list[list[int]], list[set[int]], list[int]]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 60, questions).tolist()
    gold = [set(rng.choice(n, int(rng.integers(1, min(n, 6) + 1)), replace=False).tolist()) for n in sizes]
    return [rng.permutation(n)[:50].tolist() for n in sizes], gold, sizes


def longmemeval_ndcg(judged: Judged, k: int) -> list[float]:
    """The official nDCG, from the arrays that the measures read."""
    discounts = np.array([1.0, *(1 / np.log2(np.arange(2.0, k + 1)))])
    best = np.cumsum(discounts)[np.minimum(judged.gold, k) - 1]
    return (judged.relevant.sum(discounts, len(judged)) / best).tolist()


@pytest.mark.parametrize("k", [1, 3, 5, 10, 30, 50])
def test_longmemevals_any_and_all_are_recall_any_and_recall_all(k: int) -> None:
    rankings, gold, sizes = sessions(k, 500)
    judged = judge(rankings, gold, sizes, 50)
    named = [[f"s{p}" for p in ranking] for ranking in rankings], [{f"s{p}" for p in positions} for positions in gold]
    assert parse(f"recall_any@{k}").values(judged).tolist() == [
        official_any(ranking, relevant, k) for ranking, relevant in zip(*named, strict=True)
    ]
    assert parse(f"recall_all@{k}").values(judged).tolist() == [
        official_all(ranking, relevant, k) for ranking, relevant in zip(*named, strict=True)
    ]
    assert longmemeval_ndcg(judged, k) == pytest.approx(
        [official_ndcg(ranking, relevant, k) for ranking, relevant in zip(*named, strict=True)], abs=1e-12
    )


def test_longmemevals_ndcg_is_another_one() -> None:
    """One gold session at rank 1, 2, 3: officially 1, 1, .6309; here 1, .6309, .5."""
    rankings = [["g", "x", "y"], ["x", "g", "y"], ["x", "y", "g"]]
    assert [official_ndcg(ranking, {"g"}, K) for ranking in rankings] == pytest.approx([1.0, 1.0, 0.63093], abs=1e-5)
    judged = judge([[0, 1, 2], [1, 0, 2], [1, 2, 0]], [{0}] * 3, [3] * 3, K)
    assert parse("ndcg@10").values(judged) == pytest.approx([1.0, 0.63093, 0.5], abs=1e-5)
    assert longmemeval_ndcg(judged, K) == pytest.approx([1.0, 1.0, 0.63093], abs=1e-5)


# LoCoMo


def official_recall(context: list[str], evidence: list[str]) -> float:
    """`context` are the retrieved sessions, as S1; `evidence` the references, as D1:3."""
    if not evidence:
        return 1.0
    retrieved = {session[1:] for session in context}
    return sum(reference.split(":")[0][1:] in retrieved for reference in evidence) / len(evidence)


def test_locomos_recall_is_recall_frac_where_each_session_is_referred_to_once() -> None:
    rankings, gold, sizes = sessions(7, 500)
    ours = parse("recall_frac@10").values(judge(rankings, gold, sizes, 50))
    official = [
        official_recall([f"S{p + 1}" for p in ranking[:K]], [f"D{p + 1}:{p % 9}" for p in positions])
        for ranking, positions in zip(rankings, gold, strict=True)
    ]
    assert ours == pytest.approx(official, abs=1e-12)


def test_locomos_recall_counts_references_where_recall_frac_counts_sessions() -> None:
    # D1 is found, D2 is not: two of three references, one of two sessions.
    evidence = ["D1:3", "D1:7", "D2:1"]
    assert official_recall(["S1"], evidence) == pytest.approx(2 / 3)
    judged = judge([[0, 4]], [{0, 1}], [5], K)
    assert parse("recall_frac@10").values(judged).tolist() == [0.5]
    # One string that names two references is one, of the first session; a bare D is never found; no evidence is 1.
    assert official_recall(["S9"], ["D8:6; D9:17"]) == 0.0
    assert official_recall(["S8"], ["D8:6; D9:17"]) == 1.0
    assert official_recall(["S1"], ["D", "D1:2"]) == 0.5
    assert official_recall([], []) == 1.0


@pytest.mark.real_data
def test_both_recalls_of_the_committed_result(locomo_file: Path) -> None:
    """They differ on 39 of 1982 questions, up and down: .94521 officially, .94515 here."""
    folder = Path(__file__).parents[2] / "benchmarks/locomo/results/pgvector_20261118"
    evidence = {
        f"{item['sample_id']}/q{i}": [str(reference) for reference in question["evidence"]]
        for item in json.loads(locomo_file.read_text())
        for i, question in enumerate(item["qa"])
    }
    ours, official, agreeing = [], [], 0
    for line in (folder / "raw_retrievals.jsonl").read_text().splitlines():
        row = json.loads(line)
        top = {hit["id"] for hit in row["hits"][:K]}
        ours.append(len(top.intersection(row["gold"])) / len(row["gold"]))
        # Sessions of a conversation are numbered from 1 without a gap, positions from 0.
        context = [f"S{int(id.rpartition('/')[2]) + 1}" for id in sorted(top)]
        references = evidence[row["question_id"]]
        official.append(official_recall(context, references))
        cited = {f"{row['scope']}/{int(reference.split(':')[0][1:] or 0) - 1}" for reference in references}
        agreeing += cited == set(row["gold"])
    stated = json.loads((folder / "metrics.json").read_text())["estimates"]["overall"]
    (frac,) = [estimate["value"] for estimate in stated if estimate["measure"] == "recall_frac@10"]
    assert np.mean(ours) == pytest.approx(frac)
    # All but the six strings that need a repair name the sessions that are gold here.
    assert agreeing == 1982 - 6
    assert sum(our != pytest.approx(other) for our, other in zip(ours, official, strict=True)) == 39
    assert np.mean(official) == pytest.approx(0.94521, abs=5e-6)
