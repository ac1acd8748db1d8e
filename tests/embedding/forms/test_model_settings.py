"""What a folder of sentence-transformers says of the treatment of a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recallbench.embedding.forms.model_settings import ModelSettings, read_model_settings
from recallbench.errors import InputError

KINDS = ("Transformer", "Pooling", "Normalize")
CONFIG = {"hidden_size": 384, "max_position_embeddings": 512, "pad_token_id": 0}


class Folder:
    """The files of a model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, file: str) -> Path | None:
        return path if (path := self.folder / file).is_file() else None

    def has(self, file: str) -> bool:
        return self.find(file) is not None


def modules(*kinds: str, package: str = "sentence_transformers.models") -> list[dict[str, Any]]:
    return [{"idx": i, "path": f"{i}_{kind}" if i else "", "type": f"{package}.{kind}"} for i, kind in enumerate(kinds)]


def settings(folder: Path, **files: Any) -> ModelSettings:
    """Return the settings of a model of these files; in a name __ is a slash, and None leaves a file out."""
    contents: dict[str, Any] = {
        "modules": modules(*KINDS),
        "config": CONFIG,
        "1_Pooling__config": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
        "sentence_bert_config": {"max_seq_length": 256, "do_lower_case": False},
        "tokenizer": {},
        **files,
    }
    for name, value in contents.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        if value is not None:
            path.write_text(json.dumps(value))
    (folder / "model.safetensors").touch()
    return read_model_settings(Folder(folder))


def test_a_usual_model_needs_nothing_special(tmp_path: Path) -> None:
    assert settings(tmp_path) == ModelSettings(KINDS, "mean", True, 384, 256, 512, "", "", "")


@pytest.mark.parametrize(
    ("table", "pooling", "special"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls", ""),
        ({"pooling_mode": "cls", "include_prompt": True}, "cls", ""),
        ({"pooling_mode": ["mean"]}, "mean", ""),
        ({"pooling_mode_lasttoken": True}, "lasttoken", "its pooling is lasttoken"),
        (
            {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True},
            "cls+max_tokens",
            "its pooling is cls+max_tokens",
        ),
        ({"pooling_mode": ["mean", "max"]}, "mean+max", "its pooling is mean+max"),
        ({"pooling_mode": "mean", "include_prompt": False}, "mean", "its pooling leaves the prompt out"),
    ],
)
def test_the_pooling_is_read_from_either_spelling(
    tmp_path: Path, table: dict[str, Any], pooling: str, special: str
) -> None:
    read = settings(tmp_path, **{"1_Pooling__config": table})
    assert (read.pooling, read.special) == (pooling, special)


LENGTH = "sentence_bert_config.json"
UNKNOWN = "its config.json asks for more than the encoder of a known architecture"


@pytest.mark.parametrize(
    ("files", "special"),
    [
        ({"modules": modules(*KINDS, "Dense")}, "its modules are Transformer, Pooling, Normalize, Dense"),
        ({"modules": modules("StaticEmbedding")}, "its modules are StaticEmbedding"),
        ({"sentence_bert_config": {"do_lower_case": True}}, f"{LENGTH} sets do_lower_case"),
        ({"sentence_bert_config": {"unpad_inputs": True}}, f"{LENGTH} sets unpad_inputs"),
        ({"config": {**CONFIG, "auto_map": {"AutoModel": "x.Y"}}}, UNKNOWN),
        ({"config": {**CONFIG, "is_encoder_decoder": True}}, UNKNOWN),
        ({"adapter_config": {}}, "it has an adapter"),
        ({"tokenizer": None}, "it has no tokenizer.json"),
        ({"config_sentence_transformers": {"truncate_dim": 64}}, "its vectors are cut to fewer dimensions"),
        ({"sentence_bert_config": None, "config": {"hidden_size": 8}}, "it states no length"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_sentence_transformers_has_to_run_says_why(tmp_path: Path, files: dict[str, Any], special: str) -> None:
    assert settings(tmp_path, **files).special == special


@pytest.mark.parametrize(
    ("table", "passage", "query"),
    [
        ({"prompts": {"query": "q: ", "document": "d: "}}, "d: ", "q: "),
        ({"prompts": {"query": "q: ", "passage": "p: ", "document": ""}}, "p: ", "q: "),
        ({"prompts": {"query": "q: "}, "default_prompt_name": "query"}, "", "q: "),
        ({"prompts": {"retrieval": "r: "}, "default_prompt_name": "retrieval"}, "r: ", "r: "),
        ({"prompts": None, "default_prompt_name": None}, "", ""),
    ],
)
def test_each_role_has_its_prompt(tmp_path: Path, table: dict[str, Any], passage: str, query: str) -> None:
    read = settings(tmp_path, config_sentence_transformers=table)
    assert (read.passage_prefix, read.query_prefix) == (passage, query)


@pytest.mark.parametrize(
    ("files", "length", "most"),
    [
        ({}, 256, 512),
        ({"sentence_bert_config": {"max_seq_length": None}}, 512, 512),
        ({"sentence_bert_config": None, "tokenizer_config": {"model_max_length": 384}}, 384, 512),
        ({"sentence_bert_config": None, "tokenizer_config": {"model_max_length": 10**30}}, 512, 512),
        # Positions begin behind the padding token: RoBERTa states 514 of which 512 are for tokens.
        ({"config": {"max_position_embeddings": 514, "pad_token_id": 1}, "sentence_bert_config": None}, 512, 512),
        ({"config": {}, "sentence_bert_config": {"max_seq_length": 9}}, 9, None),
    ],
)  # fmt: skip
def test_the_length_is_the_stated_one_else_what_the_model_can_read(
    tmp_path: Path, files: dict[str, Any], length: int, most: int | None
) -> None:
    read = settings(tmp_path, **files)
    assert (read.max_tokens, read.most_tokens) == (length, most)


def test_a_model_without_modules_is_pooled_over_its_mean(tmp_path: Path) -> None:
    read = settings(tmp_path, modules=None, **{"1_Pooling__config": None})
    assert (read.modules, read.pooling, read.normalise, read.special) == (("Transformer", "Pooling"), "mean", False, "")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"modules": modules("Evil", package="burglar")}, "asks for code that came with the model, which is never run"),
        ({"modules": {"a": 1}}, "is not as sentence-transformers writes it"),
        ({"modules": [1]}, "is not as sentence-transformers writes it"),
        ({"modules": [{"type": 3}]}, "is not as sentence-transformers writes it"),
        ({"1_Pooling__config": [1]}, "config.json"),
        ({"modules": None, "config": None}, "there is no model"),
    ],
)
def test_files_that_say_something_else_are_refused(tmp_path: Path, files: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        settings(tmp_path, **files)
    assert told in caught.value.problem
