"""What decides the vectors of an encoder: its fingerprint, and the key of a text under it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.weights import Shelf
from recallbench.errors import InputError

FIRST_USE = "recorded at first use, not pinned"
"""What a fingerprint calls the files whose hash nobody gave beforehand."""


class Identity:
    """An encoder down to the hash of every file. Making one may download what is neither pinned nor recorded."""

    def __init__(self, spec: EncoderSpec, shelf: Shelf) -> None:
        self._spec = spec
        self._hashes: dict[str, str] = {}
        self._recorded: list[str] = []
        parts = {"passage": spec.passage, "query": spec.query, "tokenizer": spec.tokenizer}
        if spec.query == spec.passage:
            del parts["query"]
        for part, weights in parts.items():
            known = shelf.hashes(weights)
            if known is None:
                shelf.verified(weights)
                known = shelf.hashes(weights) or {}
            self._hashes |= {f"{part}/{file}": digest for file, digest in known.items()}
            self._recorded += [f"{part}/{file}" for file, pinned in weights.files.items() if not pinned]

    def fingerprint(self, backend: str) -> dict[str, str]:
        """Everything that decides a vector, in words."""
        sources, treatment = sources_of(self._spec), treatment_of(self._spec)
        hashes = {f"sha256 {place}": digest for place, digest in sorted(self._hashes.items())}
        facts = {**sources, **hashes, **treatment, "backend": backend}
        if self._recorded:
            facts[FIRST_USE] = ", ".join(sorted(self._recorded))
        return facts

    def of_module(self, role: Role) -> dict[str, str]:
        """What a proof about the forward pass of this role depends on, besides machine and libraries."""
        part = "passage" if self._spec.query == self._spec.passage else role
        files = {place: digest for place, digest in self._hashes.items() if place.startswith(f"{part}/")}
        return {
            "weights": json.dumps(sorted(files.values())),
            "pooling": self._spec.pooling,
            "normalise": str(self._spec.normalise),
        }


def sources_of(spec: EncoderSpec) -> dict[str, str]:
    """Which weights an encoder takes."""
    return {
        "encoder": spec.title,
        "passage": f"{spec.passage.repo}@{spec.passage.revision}",
        "query": f"{spec.query.repo}@{spec.query.revision}",
        "tokenizer": f"{spec.tokenizer.repo}@{spec.tokenizer.revision}",
    }


def treatment_of(spec: EncoderSpec) -> dict[str, str]:
    """What it does with a text."""
    return {
        "pooling": spec.pooling,
        "normalisation": "L2" if spec.normalise else "none",
        "max_tokens": str(spec.max_tokens),
        "batch_size": str(spec.batch_size),
        "dtype": spec.dtype,
        "passage_prefix": spec.passage_prefix,
        "query_prefix": spec.query_prefix,
        "native_dims": str(spec.native_dims),
        "stored_dims": str(spec.stored_dims),
        "padding": "zeros" if spec.stored_dims > spec.native_dims else "none",
    }


def pinned_of(spec: EncoderSpec) -> dict[str, str]:
    """The pinned hash of each of its files."""
    return {name: digest for name, digest in files_of(spec).items() if digest}


def files_of(spec: EncoderSpec) -> dict[str, str]:
    """Its files as a fingerprint names them, with the pinned hash of each; empty where none is pinned."""
    parts = {"passage": spec.passage, "query": spec.query, "tokenizer": spec.tokenizer}
    return {
        f"sha256 {part}/{file}": digest for part, weights in parts.items() for file, digest in weights.files.items()
    }


def digest_of(fingerprint: Mapping[str, str]) -> str:
    """One hash over a fingerprint."""
    return hashlib.sha256(json.dumps(dict(fingerprint), sort_keys=True).encode()).hexdigest()


def key_of(spec: EncoderSpec, text: str, role: Role, position: int) -> bytes:
    """The key of a text under one fingerprint. Where both roles share weights and prefix, a text has one vector,
    whichever role it plays; else the role is part of the key."""
    side = "text" if spec.one_sided() else role
    try:
        return hashlib.sha256(f"{side}\0{text}".encode()).digest()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{role} text {position} (counted from 0) holds a character that no encoder reads",
            expected="Unicode text",
            found=f"a lone surrogate at character {error.start - len(side) - 1}",
            remedy="repair the corpus file: half of a \\uD8xx\\uDCxx pair is missing",
        ) from error
