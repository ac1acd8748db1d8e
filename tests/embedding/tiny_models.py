"""Tiny, randomly initialised encoders of the canonical architectures, in the files the real ones are published in."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recallbench.embedding.encoders import ENCODERS, EncoderSpec, PinnedFiles

REVISION = "a" * 40
WORDS = (
    "the", "a", "cat", "dog", "sat", "on", "mat", "in", "park", "we", "met", "ate", "rice", "and", "walked", "home",
    "after", "rain", "again",
)  # fmt: skip


@dataclass
class Tiny:
    """An encoder made here: what a hub would serve, its spec, and its models for an independent computation."""

    spec: EncoderSpec
    files: dict[str, bytes]
    models: dict[str, Any]
    tokenizer: Any
    table: dict[str, Any] = field(default_factory=dict)


def sentence(words: int, seed: int = 0) -> str:
    """Return a text of so many words, drawn by the seed."""
    return " ".join(WORDS[(seed * 7 + position * (seed + 3) + position // 5) % len(WORDS)] for position in range(words))


def bge(folder: Path) -> Tiny:
    """Like bge-m3: XLM-RoBERTa, tokenizer.json, pytorch_model.bin, CLS and L2."""
    import torch
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(1)
    tokenizer_json = _unigram()
    config = XLMRobertaConfig(
        vocab_size=120,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=600,
        type_vocab_size=1,
        initializer_range=0.5,
    )
    model = XLMRobertaModel(config).eval()
    files = {
        "config.json": _config(config, folder / "bge"),
        "pytorch_model.bin": state_bytes(model.state_dict()),
        "tokenizer.json": tokenizer_json,
    }
    weights = weights_of("tiny/bge", files, "config.json", "pytorch_model.bin")
    spec = replace(
        ENCODERS["bge-m3"],
        name="tiny-bge",
        passage=weights,
        query=weights,
        tokenizer=weights_of("tiny/bge", files, "tokenizer.json"),
        native_dims=32,
        stored_dims=32,
    )
    (folder / "tokenizer.json").write_bytes(tokenizer_json)
    fast = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    )
    return Tiny(spec, {f"tiny/bge/{name}": body for name, body in files.items()}, dict.fromkeys(ROLES, model), fast)


def dragon(folder: Path) -> Tiny:
    """Like dragon-plus: BERT twins as .bin, the query side's vocab.txt, CLS, no normalisation, padded with zeros."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS[:-3], *"abcdefghijklmnopqrstuvwxyz.,é"]
    vocab += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    config = BertConfig(
        vocab_size=len(vocab),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=512,
        initializer_range=0.5,
    )
    tokens = {
        "vocab.txt": ("\n".join(vocab) + "\n").encode(),
        "tokenizer_config.json": b'{"do_lower_case": true}',
    }
    files: dict[str, bytes] = {f"tiny/dragon-query/{name}": body for name, body in tokens.items()}
    models = {}
    for role, repo, seed in (("passage", "tiny/dragon-context", 2), ("query", "tiny/dragon-query", 3)):
        torch.manual_seed(seed)
        models[role] = BertModel(config).eval()
        files[f"{repo}/config.json"] = _config(config, folder / role)
        files[f"{repo}/pytorch_model.bin"] = state_bytes(models[role].state_dict())
    # As with the real ones, the small files' hashes are not known beforehand.
    sides = {
        role: PinnedFiles(
            repo, REVISION, {"config.json": "", "pytorch_model.bin": _sha256(files[f"{repo}/pytorch_model.bin"])}
        )
        for role, repo in (("passage", "tiny/dragon-context"), ("query", "tiny/dragon-query"))
    }
    spec = replace(
        ENCODERS["dragon-plus"],
        name="tiny-dragon",
        passage=sides["passage"],
        query=sides["query"],
        tokenizer=PinnedFiles("tiny/dragon-query", REVISION, dict.fromkeys(tokens, "")),
        native_dims=24,
        stored_dims=32,
    )
    (folder / "vocab.txt").write_bytes(tokens["vocab.txt"])
    return Tiny(spec, files, models, BertTokenizer(str(folder / "vocab.txt"), do_lower_case=True))


ROLES = ("passage", "query")


def independent(tiny: Tiny, texts: list[str], role: str) -> Any:
    """The native vectors by transformers alone, one text at a time."""
    import numpy as np
    import torch

    rows = []
    for text in texts:
        inputs = tiny.tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
        keep = {key: inputs[key] for key in ("input_ids", "attention_mask")}
        with torch.no_grad():
            vector = tiny.models[role](**keep).last_hidden_state[0, 0]
        rows.append((vector / vector.norm() if tiny.spec.normalise else vector).numpy())
    return np.stack(rows)


def weights_of(repo: str, files: Mapping[str, bytes], *names: str) -> PinnedFiles:
    """These files of a repository, pinned by the hash of their bodies."""
    return PinnedFiles(repo, REVISION, {name: _sha256(files[name]) for name in names})


def repin(tiny: Tiny, name: str, body: bytes) -> Tiny:
    """Return the encoder with another body for this file, and its hash pinned."""
    repo = tiny.spec.passage.repo
    weights = replace(tiny.spec.passage, files={**tiny.spec.passage.files, name: _sha256(body)})
    return replace(
        tiny,
        spec=replace(tiny.spec, passage=weights, query=weights),
        files={**tiny.files, f"{repo}/{name}": body},
    )


def state_bytes(state: Mapping[str, Any]) -> bytes:
    """A state dict as a `.bin`."""
    import torch

    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    return buffer.getvalue()


def table_of(spec: EncoderSpec) -> str:
    """A spec as JSON, to build it again in another process with `read_spec`."""
    from dataclasses import asdict

    fields = asdict(spec)
    del fields["name"]
    return json.dumps(fields)


def _config(config: Any, folder: Path) -> bytes:
    config.save_pretrained(folder)
    return (folder / "config.json").read_bytes()


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _unigram() -> bytes:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=110, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([sentence(60, seed) for seed in range(20)], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    # A published file may bring a cut and a padding of its own: they must not show.
    tokenizer.enable_truncation(64)
    tokenizer.enable_padding(length=64, pad_id=1, pad_token="<pad>")
    return str(tokenizer.to_str()).encode()
