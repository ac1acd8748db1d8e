"""A static encoder gives the mean of its tokens' vectors."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from recallbench.embedding.encoders import ENCODERS, EncoderSpec, PinnedFiles
from recallbench.embedding.registry import default_cache_dir, open_embedder
from recallbench.embedding.wheels import unpacked_folder

WORDS = ("<s>", "the", "cat", "sat", "lost")
TABLE = np.array([[9, 9], [1, 0], [0, 1], [0, 2]], np.float16)
"""No row for the last word."""


@pytest.fixture
def tiny(tmp_path: Path) -> EncoderSpec:
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="the"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    save_file({"embedding.weight": TABLE}, tmp_path / "table.safetensors")
    tokenizer.save(str(tmp_path / "words.json"))

    def pinned(name: str) -> PinnedFiles:
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        return PinnedFiles("tiny", "1", {name: digest}, folder=str(tmp_path))

    table, words = pinned("table.safetensors"), pinned("words.json")
    options = {"max_tokens": 4, "most_tokens": 8, "dtype": "float16", "special_tokens": False}
    return EncoderSpec("tiny", "tiny", table, table, words, "mean", True, 2, 2, "static", **options)  # type: ignore[arg-type]


def test_a_vector_is_the_mean_of_the_tokens_in_the_window(tiny: EncoderSpec, tmp_path: Path) -> None:
    embedder = open_embedder(tiny, cache_dir=tmp_path / "cache", environ={})
    texts = ["the cat", "sat", "lost", "the the the the cat cat"]
    vectors, tokens, cut = embedder.lookup(texts, "passage")
    half = 0.5**0.5
    # The word without a row has the last one's. The fifth and sixth word are behind the window.
    np.testing.assert_allclose(vectors, [[half, half], [0, 1], [0, 1], [1, 0]], atol=1e-7)
    assert tokens.tolist() == [2, 1, 1, 6]
    assert cut.tolist() == [7, 3, 4, len("the the the the")]
    facts = embedder.fingerprint
    assert (facts["backend"], facts["special_tokens"], facts["dtype"]) == ("numpy/cpu", "none", "float16")
    assert embedder.report().truncated == 1
    embedder.close()


def test_a_text_without_tokens_is_as_near_to_one_as_to_another(tiny: EncoderSpec, tmp_path: Path) -> None:
    embedder = open_embedder(tiny, cache_dir=tmp_path / "cache", environ={})
    (vector,) = embedder.lookup([""], "query").vectors
    assert vector.tolist() == pytest.approx([0.5**0.5] * 2)
    embedder.close()


@pytest.mark.marked
def test_wordllama_is_the_mean_of_its_table(tmp_path: Path) -> None:
    spec = ENCODERS["wordllama"]
    folder = unpacked_folder(spec.passage, default_cache_dir())
    if not folder.is_dir():
        pytest.skip("the weights of wordllama are not here: recallbench fetch wordllama")
    (tmp_path / "weights").symlink_to(folder.parent)
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    table = load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    texts = ["When did Melanie paint a sunrise?", "Caroline went to a support group. " * 60, "naïve café 日本語 😀"]
    means = [
        table[np.minimum(tokenizer.encode(text, add_special_tokens=False).ids, 31999)].astype("f4").mean(0)
        for text in texts
    ]
    expected = np.array([mean / np.linalg.norm(mean) for mean in means])
    embedder = open_embedder("wordllama", cache_dir=tmp_path, environ={})
    found = embedder.lookup(texts, "passage")
    embedder.close()
    np.testing.assert_allclose(found.vectors, expected, atol=1e-7)
    assert found.cut.tolist() == list(map(len, texts))
