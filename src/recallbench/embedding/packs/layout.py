"""The bytes of a pack: a safetensors file with one header that is possible for its manifest, then four tensors.

Written and read here, and not by the library safetensors: that takes and gives whole tensors, while these are
streamed; and where vectors are only used, none of the libraries of an encoder need be there. Any other reader of the
format reads a pack.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from recallbench.embedding.packs.manifest import PackManifest, TensorHashes
from recallbench.embedding.vector_cache import KEY_BYTES
from recallbench.errors import InputError
from recallbench.reading import parsed

LARGEST_HEADER = 1 << 20
_AT_ONCE = 1 << 22
_LENGTH = struct.Struct("<Q")
_METADATA = "__metadata__"
_MANIFEST, _HASH = "recallbench", "recallbench_sha256"
_NUMBER = {"F32": 4, "U8": 1, "I32": 4}
"""Bytes of a number of each kind."""


def rows_at_once(dims: int) -> int:
    """Return how many vectors of this length are read or written at a time: 4 MB of them."""
    return max(1, _AT_ONCE // (4 * dims))


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies, counted from the end of the header."""

    name: str
    kind: str
    columns: int
    """0 for a row of single numbers."""
    start: int
    end: int


def tensors_of(texts: int, dims: int) -> tuple[Tensor, ...]:
    """Return the tensors of a pack, in the order of the file."""
    tensors, start = [], 0
    for name, kind, columns in (
        ("vectors", "F32", dims),
        ("texts", "U8", KEY_BYTES),
        ("tokens", "I32", 0),
        ("cuts", "I32", 0),
    ):
        end = start + texts * (columns or 1) * _NUMBER[kind]
        tensors.append(Tensor(name, kind, columns, start, end))
        start = end
    return tuple(tensors)


def header_of(manifest: PackManifest) -> bytes:
    """Return the only header that a pack with this manifest can have."""
    fields: dict[str, Any] = {_METADATA: {_MANIFEST: manifest.text(), _HASH: manifest.sha256}}
    for tensor in tensors_of(manifest.texts, manifest.dims):
        fields[tensor.name] = {
            "dtype": tensor.kind,
            "shape": [manifest.texts, *([tensor.columns] if tensor.columns else [])],
            "data_offsets": [tensor.start, tensor.end],
        }
    text = json.dumps(fields, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return _LENGTH.pack(len(text)) + text


def header_length(manifest: PackManifest) -> int:
    """Return the length of the header that this manifest has, whatever its tensors hash to."""
    return len(header_of(manifest))


def read_header(path: Path, beginning: bytes, size: int) -> PackManifest:
    """Return the manifest that a file begins with; raises InputError for what no pack of this size begins with."""
    try:
        manifest = _manifest(path, beginning)
    except ValueError as error:
        raise refusal(path, str(error)) from None
    if faults := list(manifest.faults()):
        raise refusal(path, "; ".join(faults))
    header = header_of(manifest)
    if not beginning.startswith(header):
        raise refusal(path, "a header with other bytes than its manifest has")
    whole = len(header) + tensors_of(manifest.texts, manifest.dims)[-1].end
    if size != whole:
        raise refusal(path, f"{size:,} bytes, where its manifest wants {whole:,}: it may be cut off")
    return manifest


def refusal(path: Path, found: str) -> InputError:
    """Return the error of a file that is no pack, or is no longer the one that was made."""
    return InputError(
        f"{path} is not a pack as it was made",
        expected="a file of `recallbench vectors pack`, unchanged",
        found=found,
        remedy="get it again from whoever made it; none of it was used",
    )


def _manifest(path: Path, beginning: bytes) -> PackManifest:
    """Return the manifest in a header; raises ValueError with what is there instead."""
    if len(beginning) < _LENGTH.size:
        raise ValueError(f"{len(beginning)} bytes")
    (length,) = _LENGTH.unpack_from(beginning)
    if not 2 <= length <= LARGEST_HEADER or length > len(beginning) - _LENGTH.size:
        raise ValueError("no header of safetensors")
    try:
        fields = parsed(beginning[_LENGTH.size : _LENGTH.size + length], path)
    except InputError as error:
        raise ValueError(f"no header of safetensors: {error.found}") from None
    metadata = fields.get(_METADATA)
    text = metadata.get(_MANIFEST) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ValueError("a file of safetensors without the manifest of a pack")
    try:
        return PackManifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "as a whole"
        raise ValueError(f"a manifest of another kind or release: {place}: {first['msg']}") from None


UNKNOWN = TensorHashes(vectors="0" * 64, texts="0" * 64, tokens="0" * 64, cuts="0" * 64)
"""Stands for the hashes of tensors that are yet to be written."""
