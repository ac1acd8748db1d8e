"""One's own model gives the vectors that sentence-transformers gives, by whatever engine."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minilm_folder import save_model, write
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.vector_agreement import vector_difference
from recallbench.errors import Blocked
from recallbench.extras import install_command

TEXTS = [
    "Ines repaired the boat.",
    "The doctor says: more sleep, less coffee, and a walk along the river before it gets dark in the evening.",
    "Planted the pear tree on the first of March " * 12,
    "Été à Besançon — 12.5 °C, wind from the north-east",
]
PROMPTS = {"query": "search_query: ", "passage": "search_document: "}


def theirs(folder: Path, prompt: str, length: int | None = None) -> Any:
    from sentence_transformers import SentenceTransformer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SentenceTransformer(str(folder), device="cpu")
    if length is not None:
        model.max_seq_length = length
    return model.encode(TEXTS, prompt=prompt, show_progress_bar=False)


@pytest.mark.parametrize(
    ("settings", "runtime"),
    [
        ({"pooling": "cls", "normalise": False}, "torch"),
        ({"pooling": "mean", "prompts": PROMPTS, "length": 16}, "torch"),
        ({"pooling": "max", "normalise": False, "length": 16}, "sentence-transformers"),
        ({"pooling": "weightedmean", "prompts": PROMPTS}, "sentence-transformers"),
        ({"settings": {"do_lower_case": True}}, "sentence-transformers"),
    ],
    ids=["cls", "prompts", "max", "weighted mean", "lower case"],
)
def test_vectors_are_those_of_sentence_transformers(tmp_path: Path, settings: dict[str, Any], runtime: str) -> None:
    folder = save_model(tmp_path / "model", **settings)
    embedder = open_embedder(f"path:{folder}", cache_dir=tmp_path / "cache", backend="torch", environ={})
    prompts = settings.get("prompts", {})
    for role in ("passage", "query"):
        ours = embedder.lookup(TEXTS, role)  # type: ignore[arg-type]
        assert vector_difference(ours.vectors, theirs(folder, prompts.get(role, ""))).tolerable
    assert embedder.fingerprint["backend"] == f"{runtime}/cpu"
    assert embedder.fingerprint["pooling"] == settings.get("pooling", "mean")
    assert embedder.max_tokens == settings.get("length", 256)
    assert embedder.report().distinct == (8 if prompts else 4)
    embedder.close()


def test_an_architecture_without_a_pooling_layer_is_run(tmp_path: Path) -> None:
    import torch
    from transformers import DistilBertConfig, DistilBertModel

    folder = save_model(tmp_path / "model", normalise=False)
    for name in ("config.json", "model.safetensors"):
        (folder / name).unlink()
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True})
    torch.manual_seed(1)
    DistilBertModel(DistilBertConfig(dim=32, n_layers=2, n_heads=2, hidden_dim=64)).save_pretrained(folder)
    embedder = open_embedder(f"path:{folder}", cache_dir=tmp_path / "cache", backend="torch", environ={})
    assert vector_difference(embedder.lookup(TEXTS, "query").vectors, theirs(folder, "")).tolerable
    assert (embedder.fingerprint["backend"], embedder.stored_dims) == ("torch/cpu", 32)


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_length_of_ones_own_cuts_and_counts(tmp_path: Path, pooling: str) -> None:
    folder = save_model(tmp_path / "model", pooling=pooling)
    embedder = open_embedder(f"path:{folder}", cache_dir=tmp_path / "c", backend="torch", environ={}, max_tokens=9)
    ours = embedder.lookup(TEXTS, "passage")
    assert vector_difference(ours.vectors, theirs(folder, "", 9)).tolerable
    # [CLS], in ##es repaired the boat ., [SEP]; the third text is nine words, twelve times.
    assert ours.tokens.tolist() == [8, 26, 110, 20]
    assert [text[:cut] for text, cut in zip(TEXTS, ours.cut.tolist(), strict=True)][:3] == [
        "Ines repaired the boat.",
        "The doctor says: more sleep,",
        "Planted the pear tree on the first",
    ]
    assert embedder.max_tokens == 9
    assert embedder.report().truncated == 3
    embedder.close()


def test_without_sentence_transformers_it_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallbench.embedding.forms.sentence_encoder.find_spec", lambda name: None)
    plain, special = (save_model(tmp_path / pooling, pooling=pooling) for pooling in ("mean", "max"))
    open_embedder(f"path:{plain}", cache_dir=tmp_path / "cache", environ={}).close()
    with pytest.raises(Blocked, match="path:max has to be run by sentence-transformers: its pooling is max") as caught:
        open_embedder(f"path:{special}", cache_dir=tmp_path / "cache", environ={})
    assert caught.value.remedy == install_command("embed")


def test_weights_are_hashed_once_and_again_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recallbench.embedding import weights

    hashed: list[str] = []
    real = weights.sha256_of
    monkeypatch.setattr(weights, "sha256_of", lambda path: hashed.append(path.name) or real(path))
    folder = save_model(tmp_path / "model")

    def fingerprint() -> Any:
        embedder = open_embedder(f"path:{folder}", cache_dir=tmp_path / "cache", backend="torch", environ={})
        facts = dict(embedder.fingerprint)
        embedder.close()
        return facts

    first = fingerprint()
    assert sorted(hashed) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert fingerprint() == first
    assert len(hashed) == 3
    config = (folder / "config.json").read_text()
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(config + " ")
    changed = {name for name, value in fingerprint().items() if first[name] != value}
    assert changed == {"sha256 passage/config.json"}
    assert len(hashed) == 4


def test_what_was_embedded_is_not_embedded_again(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "model", pooling="max")
    for computed in (4, 0):
        embedder = open_embedder(f"path:{folder}", cache_dir=tmp_path / "cache", environ={})
        vectors = embedder.lookup(TEXTS, "passage").vectors
        assert (embedder.report().computed, embedder.report().reused) == (computed, 4 - computed)
        assert np.isfinite(vectors).all()
        embedder.close()
