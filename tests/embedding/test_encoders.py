"""The registry says what the protocol and its clarifications pin, and the installed weights are the pinned ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from tiny_models import Tiny

from recallbench.corpora import stream
from recallbench.embedding import machine, weights
from recallbench.embedding.encoders import ENCODERS, PinnedFiles, Wheels
from recallbench.embedding.registry import default_cache_dir, open_embedder
from recallbench.embedding.weights import fetch_weights, weights_status
from recallbench.embedding.wheels import unpacked_folder
from recallbench.errors import Blocked, UsageError
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from recallbench.results import environment, manifest


def test_bge_m3_is_as_the_protocol_says() -> None:
    spec = ENCODERS["bge-m3"]
    assert (spec.passage.repo, spec.passage.revision) == ("BAAI/bge-m3", "5617a9f61b028005a4858fdac845db406aefb181")
    assert spec.query == spec.passage
    assert spec.one_sided()
    assert spec.passage.model_file == "pytorch_model.bin"
    assert spec.passage.files["pytorch_model.bin"] == "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38"
    assert (spec.pooling, spec.normalise, spec.native_dims, spec.stored_dims) == ("cls", True, 1024, 1024)


def test_dragon_plus_is_as_the_protocol_says() -> None:
    spec = ENCODERS["dragon-plus"]
    query = ("facebook/dragon-plus-query-encoder", "2d3808c087119b953f8494b7638c216c71712cee")
    assert (spec.query.repo, spec.query.revision) == query
    # Both sides are tokenised by the query encoder's tokenizer.
    assert (spec.tokenizer.repo, spec.tokenizer.revision) == query
    assert (spec.passage.repo, spec.passage.revision) == (
        "facebook/dragon-plus-context-encoder",
        "68074e7406bb0061b0d049b58592acafae00e9d4",
    )
    assert not spec.one_sided()
    assert (spec.pooling, spec.normalise, spec.native_dims, spec.stored_dims) == ("cls", False, 768, 1024)


def test_minilm_is_as_documented() -> None:
    spec = ENCODERS["minilm"]
    assert (spec.pooling, spec.normalise, spec.native_dims, spec.stored_dims) == ("mean", True, 384, 384)
    assert spec.passage.model_file == "model.safetensors"


@pytest.mark.parametrize("name", ["bge-m3", "dragon-plus", "minilm"])
def test_every_encoder_reads_512_tokens_in_batches_of_8_without_prefixes(name: str) -> None:
    spec = ENCODERS[name]
    assert (spec.max_tokens, spec.batch_size, spec.dtype) == (512, 8, "float32")
    assert (spec.prefix("passage"), spec.prefix("query")) == ("", "")


def test_the_installed_minilm_is_the_pinned_one(tmp_path: Path) -> None:
    paths = fetch_weights("minilm", {}, Silent(), cache_dir=tmp_path)
    assert [path.name for path in paths] == ["config.json", "model.safetensors", "tokenizer.json"]
    ready, detail, remedy = weights_status("minilm", {}, tmp_path)
    assert (ready, remedy) == (True, "")
    assert "all-MiniLM-L6-v2" in detail


def test_an_installed_package_of_another_version_does_not_hide_pinned_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pinned = hashlib.sha256(b"pinned").hexdigest()
    files = PinnedFiles("m", "1", {"model.bin": pinned}, package="m_of_test/weights", wheels=Wheels({}, 0, "m"))
    installed, fetched = tmp_path / "m_of_test/weights/model.bin", unpacked_folder(files, tmp_path) / "model.bin"
    for path, content in ((installed, b"another"), (tmp_path / "m_of_test/__init__.py", b""), (fetched, b"pinned")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path)
    resolver = weights.FileResolver("m", {}, tmp_path, Silent())
    assert not resolver.is_installed(files)
    assert resolver.verified_paths(files) == {"model.bin": fetched}
    fetched.unlink()
    assert resolver.missing(files) == ["model.bin"]
    with pytest.raises(Blocked) as caught:
        resolver.verified_paths(files)
    assert caught.value.remedy == "recallbench fetch m"
    installed.write_bytes(b"pinned")
    assert resolver.is_installed(files)
    assert resolver.verified_paths(files) == {"model.bin": installed}


@pytest.mark.marked
@pytest.mark.usefixtures("first_setting")
def test_mpnet_gives_the_vectors_of_sentence_transformers(tmp_path: Path) -> None:
    folder = unpacked_folder(ENCODERS["mpnet"].passage, default_cache_dir())
    if not (folder / "model.safetensors").is_file():
        pytest.skip("the weights of mpnet are not here: recallbench fetch mpnet")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/weights").symlink_to(folder.parent)
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    transformer = Transformer(str(folder), max_seq_length=384)
    reference = SentenceTransformer(modules=[transformer, Pooling(768, "mean"), Normalize()])
    texts = ["When did Melanie paint a sunrise?", "A short one.", "Caroline went to a support group. " * 80]
    expected = reference.encode(texts)
    for backend in ("torch", "openvino"):
        embedder = open_embedder("mpnet", cache_dir=tmp_path / "cache", environ={}, backend=backend)  # type: ignore[arg-type]
        found = embedder.lookup(texts, "passage")
        embedder.close()
        assert np.abs(found.vectors - expected).max() < 1e-6
        assert (found.tokens > 384).tolist() == [False, False, True]


def test_status_tells_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    ready, detail, remedy = weights_status("bge-m3", {"HF_HOME": str(tmp_path / "hf")}, tmp_path)
    assert not ready
    assert detail == ("missing: BAAI/bge-m3/config.json, BAAI/bge-m3/pytorch_model.bin, BAAI/bge-m3/tokenizer.json")
    assert remedy == "recallbench fetch bge-m3"


def test_an_unknown_encoder_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        open_embedder("stella", cache_dir=tmp_path)
    assert caught.value.expected == (
        "bge-m3, dragon-plus, minilm, mpnet, minilm-sre, minilm-int8, minilm-l3, bge-small-int8, wordllama, nomic, "
        "hash, path:DIR, hub:OWNER/NAME@REVISION, python:module:function, https://HOST/v1#MODEL"
    )


def test_the_fingerprint_names_all_that_decides_a_vector(
    tiny_dragon: Tiny, environ: dict[str, str], tmp_path: Path
) -> None:
    spec = tiny_dragon.spec
    embedder = open_embedder(spec, cache_dir=tmp_path, environ=environ, backend="torch")
    facts = dict(embedder.fingerprint)
    assert facts.pop("sha256 passage/pytorch_model.bin") == spec.passage.files["pytorch_model.bin"]
    assert facts.pop("sha256 query/pytorch_model.bin") == spec.query.files["pytorch_model.bin"]
    hashes = [facts.pop(name) for name in list(facts) if name.startswith("sha256 ")]
    assert [len(digest) for digest in hashes] == [64] * 4
    assert facts == {
        "encoder": "facebook/dragon-plus",
        "passage": "tiny/dragon-context@" + "a" * 40,
        "query": "tiny/dragon-query@" + "a" * 40,
        "tokenizer": "tiny/dragon-query@" + "a" * 40,
        "pooling": "cls",
        "normalisation": "none",
        "max_tokens": "512",
        "batch_size": "8",
        "dtype": "float32",
        "passage_prefix": "",
        "query_prefix": "",
        "native_dims": "24",
        "stored_dims": "32",
        "padding": "zeros",
        "backend": "torch/cpu",
        "recorded at first use, not pinned": "passage/config.json, query/config.json, "
        "tokenizer/tokenizer_config.json, tokenizer/vocab.txt",
    }


@pytest.mark.parametrize("name", ["bge-m3", "dragon-plus"])
def test_the_registry_agrees_with_the_protocol(name: str) -> None:
    rules, spec = load(), ENCODERS[name]
    registered = rules.embedders[name]
    assert (spec.query.repo, spec.query.revision) == (registered.query_repo, registered.query_revision)
    assert (spec.passage.repo, spec.passage.revision) == (registered.context_repo, registered.context_revision)
    assert (spec.native_dims, spec.stored_dims) == (registered.dims, registered.stored_dims)
    assert (spec.max_tokens, spec.batch_size) == (rules.max_tokens, rules.batch_size)


def test_a_file_is_hashed_and_the_processor_named_by_one_rule_everywhere() -> None:
    assert weights.sha256_of is manifest.file_sha256 is stream.sha256_of
    assert environment.cpu_model is machine.cpu_model
