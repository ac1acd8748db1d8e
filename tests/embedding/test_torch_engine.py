"""Weights of the canonical architectures, loaded over real HTTP, file by file, with each hash checked."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, independent, repin, sentence, state_bytes

from loopback_hub import LoopbackHub
from recallbench.embedding.encoders import EncoderSpec
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.weights import fetch_weights
from recallbench.errors import Blocked, InputError
from recallbench.hub import download
from recallbench.progress import Silent

TEXTS = [sentence(length, seed) for seed, length in enumerate((3, 40, 700, 1, 12, 200, 90, 7, 30, 600, 5))]


def embed(
    spec: EncoderSpec, environ: dict[str, str], cache: Path, role: Any = "passage", backend: Any = "torch"
) -> Any:
    embedder = open_embedder(spec, cache_dir=cache, backend=backend, environ=environ)
    try:
        return embedder.lookup(TEXTS, role)
    finally:
        embedder.close()


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_xlm_roberta_with_cls_and_l2_equals_transformers(
    tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path, backend: str
) -> None:
    embedded = embed(tiny_bge.spec, environ, tmp_path / "cache", backend=backend)
    np.testing.assert_allclose(embedded.vectors, independent(tiny_bge, TEXTS, "passage"), atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(embedded.vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_bert_twins_with_cls_unnormalised_and_zero_padded_equal_transformers(
    tiny_dragon: Tiny, environ: dict[str, str], tmp_path: Path, backend: str
) -> None:
    sides = {}
    for role in ("passage", "query"):
        sides[role] = embed(tiny_dragon.spec, environ, tmp_path / "cache", role, backend).vectors
        native = independent(tiny_dragon, TEXTS, role)
        np.testing.assert_allclose(sides[role][:, :24], native, rtol=2e-5, atol=2e-5)
        assert not sides[role][:, 24:].any()
        assert (np.linalg.norm(native, axis=1) > 1.5).all()
    assert (np.abs(sides["passage"] - sides["query"]).max(axis=1) > 0.1).all()


def test_only_pinned_files_are_requested_at_their_revision(
    tiny_dragon: Tiny, environ: dict[str, str], tmp_path: Path, hub: LoopbackHub
) -> None:
    embed(tiny_dragon.spec, environ, tmp_path / "cache")
    got = {request.removeprefix("GET ") for request in hub.requests if request.startswith("GET ")}
    at = "resolve/" + "a" * 40
    assert got == {
        f"/tiny/dragon-context/{at}/config.json",
        f"/tiny/dragon-context/{at}/pytorch_model.bin",
        f"/tiny/dragon-query/{at}/config.json",
        f"/tiny/dragon-query/{at}/pytorch_model.bin",
        f"/tiny/dragon-query/{at}/vocab.txt",
        f"/tiny/dragon-query/{at}/tokenizer_config.json",
    }


def test_a_corrupted_body_of_the_same_size_is_refused(tiny_bge: Tiny, tmp_path: Path) -> None:
    body = bytearray(tiny_bge.files["tiny/bge/pytorch_model.bin"])
    body[len(body) // 2] ^= 1
    with LoopbackHub({**tiny_bge.files, "tiny/bge/pytorch_model.bin": bytes(body)}) as hub:
        environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}
        with pytest.raises(
            InputError, match=r"pytorch_model\.bin of tiny/bge at a{40} is not the pinned file"
        ) as caught:
            embed(tiny_bge.spec, environ, tmp_path / "cache")
        with pytest.raises(InputError, match="is not the pinned file"):
            fetch_weights(tiny_bge.spec, environ, Silent(), cache_dir=tmp_path / "cache")
    assert caught.value.expected == f"sha256 {tiny_bge.spec.passage.files['pytorch_model.bin']}"
    assert caught.value.found.startswith("sha256 ")
    assert caught.value.remedy.startswith("recallbench fetch tiny-bge")


def test_a_file_damaged_in_the_local_cache_is_refused_at_every_load_and_mended_by_fetch(
    tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path
) -> None:
    paths = fetch_weights(tiny_bge.spec, environ, Silent(), cache_dir=tmp_path / "cache")
    model = next(path for path in paths if path.name == "pytorch_model.bin").resolve()
    body = bytearray(model.read_bytes())
    body[-100] ^= 1
    model.write_bytes(bytes(body))
    with pytest.raises(InputError, match="is not the pinned file"):
        embed(tiny_bge.spec, environ, tmp_path / "cache")
    fetch_weights(tiny_bge.spec, environ, Silent(), cache_dir=tmp_path / "cache")
    assert embed(tiny_bge.spec, environ, tmp_path / "cache").vectors.shape == (11, 32)


def test_a_revision_the_hub_does_not_have_blocks(tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path) -> None:
    wrong = replace(tiny_bge.spec.passage, revision="b" * 40)
    spec = replace(tiny_bge.spec, passage=wrong, query=wrong)
    with pytest.raises(Blocked) as caught:
        embed(spec, environ, tmp_path / "cache")
    assert "tiny/bge at revision " + "b" * 40 in caught.value.problem
    assert caught.value.remedy.startswith("recallbench fetch tiny-bge")


def test_offline_without_the_files_blocks_without_a_request(
    tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path, hub: LoopbackHub
) -> None:
    with pytest.raises(Blocked, match=r"of tiny/bge at revision a{40}") as caught:
        embed(tiny_bge.spec, {**environ, "HF_HUB_OFFLINE": "1"}, tmp_path / "cache")
    assert caught.value.found == "HF_HUB_OFFLINE is set, and the file is not in the cache"
    assert hub.requests == []


@pytest.mark.marked  # the hub's library tries again for 20 seconds
def test_a_hub_that_is_down_blocks(tiny_bge: Tiny, tmp_path: Path) -> None:
    environ = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hf")}
    with pytest.raises(Blocked, match="the weights of tiny-bge can't be had"):
        embed(tiny_bge.spec, environ, tmp_path / "cache")


class Burglar:
    """An object whose pickle makes a folder when it is loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


def test_a_bin_that_would_run_code_is_refused_even_when_its_hash_is_pinned(tiny_bge: Tiny, tmp_path: Path) -> None:
    evil = repin(tiny_bge, "pytorch_model.bin", state_bytes({"weight": Burglar(tmp_path / "burgled")}))
    with LoopbackHub(evil.files) as hub:
        environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}
        with pytest.raises(InputError, match="holds more than tensors"):
            embed(evil.spec, environ, tmp_path / "cache")
    assert not (tmp_path / "burgled").exists()


@pytest.mark.parametrize("model_type", ["xlm-roberta", "burglar"])
def test_code_that_comes_with_the_weights_is_never_run(tiny_bge: Tiny, tmp_path: Path, model_type: str) -> None:
    config = json.loads(tiny_bge.files["tiny/bge/config.json"])
    config["model_type"] = model_type
    config["auto_map"] = {"AutoConfig": "code_burglar.Config", "AutoModel": "code_burglar.Model"}
    evil = repin(tiny_bge, "config.json", json.dumps(config).encode())
    code = f"""
import os
from transformers import XLMRobertaConfig as Config, XLMRobertaModel as Model
os.makedirs({str(tmp_path / "burgled")!r}, exist_ok=True)
"""
    with LoopbackHub({**evil.files, "tiny/bge/code_burglar.py": code.encode()}) as serving:
        environ = {"HF_ENDPOINT": serving.url, "HF_HOME": str(tmp_path / "hf")}
        # Beside the pinned files, as after somebody downloaded the whole repository.
        download("tiny/bge", "code_burglar.py", evil.spec.passage.revision, environ, Silent())
        if model_type == "burglar":
            with pytest.raises(InputError, match="is not the configuration of a known architecture"):
                embed(evil.spec, environ, tmp_path / "cache")
        else:
            vectors = embed(evil.spec, environ, tmp_path / "cache").vectors
            np.testing.assert_allclose(vectors, independent(tiny_bge, TEXTS, "passage"), atol=2e-6)
    assert not (tmp_path / "burgled").exists()


def test_a_checkpoint_that_lacks_a_tensor_is_refused(tiny_bge: Tiny, tmp_path: Path) -> None:
    state = dict(tiny_bge.models["passage"].state_dict())
    del state["encoder.layer.1.output.dense.weight"]
    short = repin(tiny_bge, "pytorch_model.bin", state_bytes(state))
    with LoopbackHub(short.files) as hub:
        environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}
        with pytest.raises(InputError, match="does not hold the tensors of tiny/bge") as caught:
            embed(short.spec, environ, tmp_path / "cache")
    assert caught.value.found == "1 missing or of another shape, first encoder.layer.1.output.dense.weight"


def test_an_unpinned_hash_is_recorded_and_checked_from_then_on(
    tiny_dragon: Tiny, environ: dict[str, str], tmp_path: Path
) -> None:
    embedder = open_embedder(tiny_dragon.spec, cache_dir=tmp_path / "cache", environ=environ, backend="torch")
    assert embedder.fingerprint["recorded at first use, not pinned"] == (
        "passage/config.json, query/config.json, tokenizer/tokenizer_config.json, tokenizer/vocab.txt"
    )
    paths = fetch_weights(tiny_dragon.spec, environ, Silent(), cache_dir=tmp_path / "cache")
    vocab = next(path for path in paths if path.name == "vocab.txt").resolve()
    vocab.write_bytes(vocab.read_bytes().replace(b"cat", b"cow"))
    with pytest.raises(InputError, match=r"vocab\.txt of tiny/dragon-query at a{40} is not the recorded file"):
        embedder.ensure(TEXTS, "passage")


@pytest.mark.parametrize(("fault", "message"), [(float("nan"), "NaN or infinity"), (0.0, "zeros")])
def test_a_model_that_gives_no_usable_vector_is_named_with_the_text(
    tiny_bge: Tiny, tmp_path: Path, fault: float, message: str
) -> None:
    state = {name: tensor.clone() for name, tensor in tiny_bge.models["passage"].state_dict().items()}
    for part in ("weight", "bias"):
        state[f"encoder.layer.1.output.LayerNorm.{part}"][:] = fault
    broken = repin(tiny_bge, "pytorch_model.bin", state_bytes(state))
    with LoopbackHub(broken.files) as hub:
        environ = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}
        # Text 2 is the longest, so it is embedded first.
        with pytest.raises(InputError, match=r"BAAI/bge-m3 gave no usable vector for passage text 2") as caught:
            embed(broken.spec, environ, tmp_path / "cache")
    assert caught.value.found == message
