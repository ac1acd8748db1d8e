"""What a folder of sentence-transformers says of the treatment of a text: pooling, normalisation, prompts, length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from recallbench.errors import InputError
from recallbench.reading import document, parsed


class ModelFiles(Protocol):
    """The files of one model."""

    def find(self, file: str) -> Path | None:
        """Return a file by its name in the model; None where the model has none."""

    def has(self, file: str) -> bool:
        """Whether the model has a file, which may be large."""


MODULES, PROMPTS, LENGTH = "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"
NO_POOLING = "none"
"""The pooling of a model whose modules make one vector of a text in another way."""
OWN = "sentence_transformers."
"""What the type of a module begins with, unless the model brings code of its own."""
_POOLING = "pooling_mode_"
_MODES = {"cls_token": "cls", "mean_tokens": "mean"}
_LENGTHS_MEAN_NOTHING = 1_000_000
"""Tokenizers that know no limit state an astronomical one."""
_PLAIN: Mapping[str, tuple[Any, ...]] = {
    "do_lower_case": (False, None),
    "transformer_task": ("feature-extraction",),
    "module_output_name": ("token_embeddings",),
    "modality_config": ({"text": {"method": "forward", "method_output_name": "last_hidden_state"}},),
}
"""Settings of a transformer module that leave its last hidden state as it is."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The treatment of a text."""

    modules: tuple[str, ...]
    """Names of the module classes, in order."""
    pooling: str
    """One mode, or several joined by +."""
    normalise: bool
    dims: int
    """Width of the transformer's hidden state; 0 where there is none."""
    max_tokens: int | None
    most_tokens: int | None
    """The most that the transformer has positions for; None where it knows no limit."""
    passage_prefix: str
    query_prefix: str
    special: str
    """Why sentence-transformers itself has to run it; empty for a transformer with CLS or mean pooling."""

    @property
    def routed(self) -> bool:
        """Whether questions take another way through the modules than passages."""
        return "Router" in self.modules or "Asym" in self.modules


def read_model_settings(files: ModelFiles) -> ModelSettings:
    """Read the settings of a model; raises InputError for files that say something else."""
    modules = _modules(files)
    names = tuple(kind for kind, _ in modules)
    config = _table(files, "config.json")
    reasons = [] if modules else ["it has no modules"]
    if names[:1] == ("Transformer",) and modules[0][1]:
        reasons.append(f"its transformer lies in {modules[0][1]}")
    if names not in (("Transformer", "Pooling"), ("Transformer", "Pooling", "Normalize")):
        reasons.append(f"its modules are {', '.join(names)}")
    pools = names[1:2] == ("Pooling",)
    pooled = _table(files, f"{modules[1][1]}/config.json") if pools else {}
    pooling, whole = _pooling(pooled) if pools else (NO_POOLING, True)
    if pooling not in ("cls", "mean"):
        reasons.append(f"its pooling is {pooling}")
    if not whole:
        reasons.append("its pooling leaves the prompt out")
    length = _table(files, LENGTH)
    reasons += [f"{LENGTH} sets {name}" for name in length if name != "max_seq_length" and not _is_plain(name, length)]
    if config.get("is_encoder_decoder") or config.get("auto_map"):
        reasons.append("its config.json asks for more than the encoder of a known architecture")
    if files.has("adapter_config.json"):
        reasons.append("it has an adapter")
    if not files.has("tokenizer.json"):
        reasons.append("it has no tokenizer.json")
    if not files.has("model.safetensors") and not files.has("pytorch_model.bin"):
        reasons.append("its weights are in neither model.safetensors nor pytorch_model.bin")
    prompts = _table(files, PROMPTS)
    if prompts.get("truncate_dim") is not None:
        reasons.append("its vectors are cut to fewer dimensions")
    stated = _length(length, _table(files, "tokenizer_config.json"), config)
    if stated is None:
        reasons.append("it states no length")
    return ModelSettings(
        modules=names,
        pooling=pooling,
        normalise="Normalize" in names,
        dims=_width(pooled, config),
        max_tokens=stated,
        most_tokens=_positions(config),
        passage_prefix=_prompt(prompts, "document", "passage", "corpus"),
        query_prefix=_prompt(prompts, "query"),
        special=reasons[0] if reasons else "",
    )


def _modules(files: ModelFiles) -> list[tuple[str, str]]:
    """Return class name and folder of each module; a transformer and its mean, where the model lists none."""
    path = files.find(MODULES)
    if path is None:
        if not files.has("config.json"):
            raise InputError(
                "there is no model",
                expected=f"a folder of sentence-transformers, with {MODULES} or config.json",
                found="neither",
                remedy="save one with SentenceTransformer(…).save(DIR)",
            )
        return [("Transformer", ""), ("Pooling", "")]
    # The reader knows objects alone, and the file is a list.
    listed = parsed(b'{"modules":' + _content(path) + b"}", path)["modules"]
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise _unfit(path, "a list of modules", type(listed).__name__)
    modules = []
    for entry in listed:
        kind, folder = entry.get("type"), entry.get("path", "")
        if not isinstance(kind, str) or not isinstance(folder, str):
            raise _unfit(path, 'modules with "type" and "path"', str(entry)[:80])
        if not kind.startswith(OWN):
            raise InputError(
                f"{path} asks for code that came with the model, which is never run",
                expected=f"types that begin with {OWN}",
                found=kind[:80],
                remedy="load it yourself, and name your function: --embedder python:module:function",
            )
        modules.append((kind.rpartition(".")[2], folder))
    return modules


def _pooling(table: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the pooling, and whether the tokens of a prompt take part in it."""
    mode = table.get("pooling_mode")
    modes = [mode] if isinstance(mode, str) else list(mode or ())
    modes = modes or [name for name, on in table.items() if name.startswith(_POOLING) and on is True]
    plain = [str(name).removeprefix(_POOLING) for name in modes]
    joined = "+".join(_MODES.get(name, name) for name in plain) or "mean"
    return joined, table.get("include_prompt", True) is not False


def _is_plain(name: str, table: Mapping[str, Any]) -> bool:
    return table[name] in _PLAIN.get(name, (None, {}, False))


def _prompt(table: Mapping[str, Any], *names: str) -> str:
    """Return the prompt of these names; a default one only where it is neither for questions nor for passages."""
    prompts = table.get("prompts")
    known = {name: text for name, text in prompts.items() if text} if isinstance(prompts, dict) else {}
    default = table.get("default_prompt_name")
    others = () if default in ("query", "document", "passage", "corpus") else (default,)
    return next((str(known[name]) for name in (*names, *others) if name in known), "")


def _length(settings: Mapping[str, Any], tokenizer: Mapping[str, Any], config: Mapping[str, Any]) -> int | None:
    stated = _number(settings.get("max_seq_length"))
    if stated is not None:
        return stated
    lengths = [_number(tokenizer.get("model_max_length")), _positions(config)]
    return min((length for length in lengths if length is not None and length < _LENGTHS_MEAN_NOTHING), default=None)


def _positions(config: Mapping[str, Any]) -> int | None:
    """Return how many tokens have a position; where padding is token 1, positions begin behind it."""
    most = _number(config.get("max_position_embeddings"))
    return most - 2 if most is not None and config.get("pad_token_id") == 1 else most


def _width(pooled: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    stated = (pooled.get("embedding_dimension"), pooled.get("word_embedding_dimension"))
    # Architectures have names of their own for it.
    named = (config.get("hidden_size"), config.get("dim"), config.get("d_model"))
    return next((width for value in (*stated, *named) if (width := _number(value))), 0)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _table(files: ModelFiles, file: str) -> dict[str, Any]:
    """Return a settings file; empty where the model has none."""
    path = files.find(file.removeprefix("/"))
    if path is None:
        return {}
    return parsed(_content(path), path)


def _content(path: Path) -> bytes:
    # In the hub's cache, and in folders that were linked together from it, a file is a link.
    return document(path.resolve())


def _unfit(path: Path, expected: str, found: str) -> InputError:
    return InputError(
        f"{path} is not as sentence-transformers writes it",
        expected=expected,
        found=found,
        remedy="save the model anew",
    )
