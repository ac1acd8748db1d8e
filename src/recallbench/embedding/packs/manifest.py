"""The manifest of a pack: whose vectors it holds, of which texts, who made it, and what each part hashes to."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from recallbench.embedding.fingerprint import fingerprint_digest
from recallbench.escaping.markdown import FORMATTING
from recallbench.escaping.terminal import hidden

_WORDS = r"^\w[\w .,;:@+()/'&-]{0,99}$"
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Words = Annotated[str, Field(pattern=_WORDS)]


class TensorHashes(BaseModel):
    """The sha256 of each tensor's bytes, in the order of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    vectors: Sha256
    """A row of float32 for each text."""
    texts: Sha256
    """The hash by which a text is known: sha256 over its role, where that decides its vector, and the text."""
    tokens: Sha256
    """The length of each text in tokens, before any cut."""
    cuts: Sha256
    """The character of each text at which the encoder stops reading."""


class PackManifest(BaseModel):
    """All that a pack says of itself. It names no folder and no machine by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal["recallbench vectors 1"] = "recallbench vectors 1"
    encoder: Annotated[str, Field(min_length=1, max_length=2000)]
    """Its name as results record it."""
    max_tokens: Annotated[int, Field(ge=1)] | None
    """The length that was asked for; null where the encoder's own holds."""
    fingerprint: dict[str, str]
    fingerprint_sha256: Sha256
    corpus: Annotated[str, Field(min_length=1, max_length=2000)]
    dataset_sha256: Sha256
    texts: Annotated[int, Field(ge=1)]
    """How many there are: each distinct one once, in the order in which a run uses them first."""
    dims: Annotated[int, Field(ge=1, le=1 << 16)]
    dtype: Literal["float32"] = "float32"
    vectors_sha256: Sha256
    """Over the vectors as a run uses them, as metrics.json states it of a result."""
    tensors: TensorHashes
    computed_with: list[str]
    """Library versions and processors behind the vectors."""
    maker: Words
    machine: Words
    """The processor of the machine that it was made on."""
    made: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    release: Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)+\S{0,40}$")]
    """Of RecallBench."""

    def text(self) -> str:
        """Return the one form in which it is written."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))

    @property
    def sha256(self) -> str:
        """The hash of that form."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @property
    def max_tokens_seen(self) -> int | None:
        """Tokens of a text that the encoder sees; None where that can't be known."""
        stated = self.fingerprint.get("max_tokens", "")
        return int(stated) if stated.isdecimal() else None

    def faults(self) -> Iterator[str]:
        """Yield what in it contradicts itself, or could not be shown to anybody."""
        if fingerprint_digest(self.fingerprint) != self.fingerprint_sha256:
            yield "a fingerprint_sha256 that is not the fingerprint's"
        if self.fingerprint.get("stored_dims") != str(self.dims):
            yield f"vectors of {self.dims} numbers, the fingerprint has {self.fingerprint.get('stored_dims')}"
        if not self.fingerprint.get("backend"):
            yield "a fingerprint without a backend"
        for text in _texts(self.model_dump()):
            if hidden(text) or FORMATTING.search(text):
                yield f"a text that can't be shown as it is: {text[:60]!a}"


def as_words(text: str) -> str:
    """Return a text as a manifest may hold it: what else stands in it becomes a blank."""
    shown = "".join(" " if hidden(character) else character for character in text)
    kept = " ".join(re.sub(r"[^\w .,;:@+()/'&-]", " ", shown).split())
    return re.sub(r"^\W+", "", kept)[:100].strip()


def is_words(text: str) -> bool:
    """Whether a manifest may hold this text as a name."""
    return bool(re.fullmatch(_WORDS, text)) and not hidden(text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value
