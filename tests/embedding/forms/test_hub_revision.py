"""An encoder of the hub at one revision, from a hub on the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Tiny, independent, sentence

from commandline import recallbench
from loopback_hub import LoopbackHub
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.vector_agreement import vector_difference
from recallbench.errors import Blocked

REVISION = "a" * 40
NAME = f"hub:tiny/bge@{REVISION}"
SETTINGS = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ],
    "1_Pooling/config.json": {"word_embedding_dimension": 32, "pooling_mode_cls_token": True},
    "sentence_bert_config.json": {"max_seq_length": 512},
}


@pytest.fixture
def hub(tiny_bge: Tiny) -> Iterator[LoopbackHub]:
    settings = {f"tiny/bge/{name}": json.dumps(value).encode() for name, value in SETTINGS.items()}
    with LoopbackHub({**tiny_bge.files, **settings}, revisions=(REVISION,)) as serving:
        yield serving


def test_a_model_is_fetched_once_and_treated_as_it_says(
    tiny_bge: Tiny, hub: LoopbackHub, environ: dict[str, str], tmp_path: Path
) -> None:
    texts = [sentence(5), sentence(700, 1), sentence(40, 2)]
    for variables in (environ, {**environ, "HF_HUB_OFFLINE": "1"}):
        embedder = open_embedder(NAME, cache_dir=tmp_path / "cache", environ=variables, backend="torch")
        vectors = embedder.lookup(texts, "query").vectors
        assert vector_difference(vectors, independent(tiny_bge, texts, "query")).tolerable
        facts = embedder.fingerprint
        embedder.close()
    assert facts["passage"] == facts["tokenizer"] == f"tiny/bge@{REVISION}"
    assert (facts["pooling"], facts["normalisation"], facts["max_tokens"]) == ("cls", "L2", "512")
    assert facts["pinned"] == "yes: a public revision, its files hashed when they were first used"
    hashed = "passage/config.json, passage/pytorch_model.bin, tokenizer/tokenizer.json"
    assert facts["recorded at first use, not pinned"] == hashed
    fetched = [line.rpartition("/")[2] for line in hub.requests if line.startswith("GET")]
    settings = ["modules.json", "config.json", "config.json", "sentence_bert_config.json"]
    assert sorted(fetched) == sorted([*settings, "pytorch_model.bin", "tokenizer.json"])


def test_sentence_transformers_runs_what_is_special(tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path) -> None:
    special = {**SETTINGS, "1_Pooling/config.json": {"word_embedding_dimension": 32, "pooling_mode": "max"}}
    settings = {f"tiny/bge/{name}": json.dumps(value).encode() for name, value in special.items()}
    texts = [sentence(5), sentence(40, 2)]
    with LoopbackHub({**tiny_bge.files, **settings}, revisions=(REVISION,)) as hub:
        variables = {**environ, "HF_ENDPOINT": hub.url}
        embedder = open_embedder(NAME, cache_dir=tmp_path / "cache", environ=variables)
        vectors = embedder.lookup(texts, "passage").vectors
        embedder.close()
    hidden = [tokens_of(tiny_bge, text) for text in texts]
    expected = np.stack([tokens.max(axis=0) / np.linalg.norm(tokens.max(axis=0)) for tokens in hidden])
    assert vector_difference(vectors, expected).tolerable
    facts = embedder.fingerprint
    assert (facts["pooling"], facts["normalisation"], facts["max_tokens"]) == ("max", "L2", "512")
    assert facts["recorded at first use, not pinned"] == (
        "passage/1_Pooling/config.json, passage/config.json, passage/modules.json, passage/pytorch_model.bin, "
        "passage/sentence_bert_config.json, passage/tokenizer.json"
    )


def tokens_of(tiny: Tiny, text: str) -> Any:
    """The last hidden state by transformers alone."""
    import torch

    inputs = tiny.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        hidden = tiny.models["passage"](**{key: inputs[key] for key in ("input_ids", "attention_mask")})
    return hidden.last_hidden_state[0].numpy()


def test_a_hub_that_can_not_be_reached_says_what_to_do(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(Blocked) as caught:
        open_embedder(NAME, cache_dir=tmp_path / "cache", environ={**environ, "HF_HUB_OFFLINE": "1"})
    assert caught.value.remedy == f"recallbench fetch {NAME}, on a machine that reaches the hub"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hub:tiny/bge", "hub:tiny/bge@ and the 40 hexadecimal digits of a commit"),
        ("hub:tiny/bge@main", "hub:tiny/bge@ and the 40 hexadecimal digits of a commit"),
        ("hub:bge", "hub:OWNER/NAME@REVISION"),
    ],
)
def test_a_name_that_may_move_is_refused_with_what_to_type(tmp_path: Path, name: str, expected: str) -> None:
    done = recallbench("run", "canary-locomo", "--store", "exact", "--embedder", name, cwd=tmp_path)
    assert done.returncode == 2
    assert f"expected: {expected}" in done.stderr


@pytest.mark.marked
def test_a_run_of_a_fetched_model_is_audited(environ: dict[str, str], hub: LoopbackHub, tmp_path: Path) -> None:
    words = ("run", "canary-locomo", "--store", "exact", "--embedder", NAME, "--cache-dir", tmp_path / "cache")
    missing = recallbench(*words, "--dry-run", cwd=tmp_path, env=environ)
    assert f"what to do: recallbench fetch {NAME}" in missing.stdout
    online = {**environ, "HF_HUB_OFFLINE": "0"}
    fetched = recallbench("fetch", NAME, "--cache-dir", tmp_path / "cache", cwd=tmp_path, env=online)
    assert fetched.returncode == 0
    assert fetched.stdout.splitlines()[-1] == (
        f"{NAME} is here; every file is that of the revision, and results will state its hash; "
        f"next: recallbench run locomo --embedder {NAME}"
    )
    again = ("fetch", NAME, "--cache-dir", tmp_path / "cache", "--format", "json")
    document = json.loads(recallbench(*again, cwd=tmp_path, env=online).stdout)
    assert document["files"] == fetched.stdout.splitlines()[:-2]
    asked = len(hub.requests)
    assert "NOT READY" not in recallbench(*words, "--dry-run", cwd=tmp_path, env=environ).stdout
    assert recallbench(*words, "--folder", "result", cwd=tmp_path, env=environ).returncode == 0
    assert len(hub.requests) == asked
    audit = recallbench("audit", "result", cwd=tmp_path)
    assert "  fail " not in audit.stdout
    assert ": holds, not committed\n" in audit.stdout
    embedder: dict[str, Any] = json.loads((tmp_path / "result" / "metrics.json").read_text())["embedder"]
    assert embedder["name"] == NAME
    assert "pinned to no public revision" not in (tmp_path / "result" / "report.md").read_text()
