"""Every parameter that a sweep is made for, swept through the real command line on a few questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import recallbench
from stages import sampled
from sweeps import HYBRID, document

ONE = '[[stage]]\nkind = "search"\nmethod = "dense"\n'
FUSED = HYBRID.replace('"rrf"', '"weighted"')
MMR = f'{ONE}[[stage]]\nkind = "diversify"\nmethod = "mmr"\n'
RERANK = f'{ONE}[[stage]]\nkind = "rerank"\nmethod = "cross-encoder"\n'


OF_THE_REFERENCE_STORE = [
    ("", "set.weights", ["cosine", "bm25"], ""),
    ("", "set.ef_search", ["1", "40"], '"set.index" = ["hnsw"]\n"set.weights" = ["cosine"]'),
    ("", "set.probes", ["1", "8"], '"set.index" = ["ivfflat"]\n"set.lists" = [8]\n"set.weights" = ["cosine"]'),
    ("", "set.half_life", ["0.01", "100"], '"set.weights" = ["cosine=1,recency=20"]'),
    ("", "set.graph_best", ["1", "20"], '"set.weights" = ["cosine=1,graph=0.3"]'),
]
OF_PIPELINES = [
    (FUSED, "weighted.alpha", ["0.1", "0.9"], ""),
    (HYBRID, "rrf.k", ["1", "60"], ""),
    (HYBRID, "rrf.weights", ["0.9,0.1", "0.1,0.9"], ""),
    (MMR, "mmr.lambda", ["0.1", "1"], ""),
    pytest.param(RERANK, "cross-encoder.top", ["1", "6"], "", marks=pytest.mark.marked),
]


@pytest.mark.parametrize(
    ("pipeline", "parameter", "values", "beside"), [*sampled(OF_THE_REFERENCE_STORE), *OF_PIPELINES]
)
def test_a_parameter_is_swept(tmp_path: Path, pipeline: str, parameter: str, values: list[str], beside: str) -> None:
    (tmp_path / "stages.toml").write_text(pipeline)
    run = 'corpus = "canary-locomo"\nembedder = "hash"\nout = "out"\nlimit = 8\n'
    run += 'pipeline = "stages.toml"' if pipeline else 'store = "pgvector"'
    stated = ", ".join(f'"{value}"' for value in values)
    (tmp_path / "tune.toml").write_text(f'[run]\n{run}\n[parameters]\n{beside}\n"{parameter}" = [{stated}]\n')
    done = recallbench("sweep", "tune.toml", "--measure", "mrr@10", "-q", cwd=tmp_path)
    assert done.returncode == 0
    points = document(tmp_path)["points"]
    assert [point["in_force"][parameter] for point in points] == values
    first, second = points
    assert first["answers_sha256"] != second["answers_sha256"]
    # Each pair of values lies so far apart that it ranks otherwise.
    assert first["estimate"]["value"] != second["estimate"]["value"]


def test_a_threshold_of_importance_is_swept_over_what_is_labelled(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    lines = [f'{{"_id": "d{n}", "text": "note {n}", "importance": {n / 10}}}' for n in range(10)]
    (tmp_path / "team/corpus.jsonl").write_text("\n".join(lines))
    asked = [f'{{"query_id": "q{n}", "query": "which?", "relevant": ["d5"]}}' for n in range(10)]
    (tmp_path / "team/gold.jsonl").write_text("\n".join(asked))
    run = 'store = "pgvector"\nembedder = "hash"\nout = "out"\nset = {weights = "importance"}'
    (tmp_path / "tune.toml").write_text(f"[run]\n{run}\n[parameters]\nset.importance_threshold = [0, 0.8]\n")
    assert recallbench("sweep", "tune.toml", "team", "--measure", "mrr@10", "-q", cwd=tmp_path).returncode == 0
    points = document(tmp_path)["points"]
    assert [point["in_force"]["set.importance_threshold"] for point in points] == ["0", "0.8"]
    assert points[0]["variant"] != points[1]["variant"]
    # Ranked by importance d5 comes behind d9 to d6. From 0.8 on d9 and d8 count alone, then all others in their order.
    assert [point["estimate"]["value"] for point in points] == [1 / 5, 1 / 8]


def test_a_pipeline_without_vectors_is_let_off_the_encoder_of_the_others_and_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "lexical.toml").write_text('[[stage]]\nkind = "search"\nmethod = "lexical"\n')
    (tmp_path / "dense.toml").write_text('[[stage]]\nkind = "search"\nmethod = "dense"\n')
    swept = '[parameters]\npipeline = ["lexical.toml", "dense.toml"]\n[baseline]\n'
    (tmp_path / "legs.toml").write_text(swept)
    words = ("sweep", "legs.toml", "canary-locomo", "--embedder", "hash", "--store", "exact")
    done = recallbench(*words, "--out", "out", "-q", cwd=tmp_path)
    assert done.returncode == 0
    first, second, *_ = document(tmp_path)["points"]
    assert [point["in_force"]["pipeline"] for point in (first, second)] == ["lexical.toml", "dense.toml"]
    assert "Held-out recall_any@10 by kind:" in done.stdout
