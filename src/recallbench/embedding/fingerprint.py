"""The fingerprint of an encoder: all that decides its vectors, and the key of a text under it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from recallbench.embedding.encoders import ENCODERS, EncoderSpec, Role
from recallbench.embedding.options import Dtype
from recallbench.embedding.weights import FileResolver
from recallbench.errors import InputError
from recallbench.escaping.terminal import visible

FIRST_USE = "recorded at first use, not pinned"
"""The hash, in a fingerprint, of files whose real hash was not known beforehand."""
TOLD_APART = "told apart"
"""What `roles` says of an encoder that treats a query otherwise."""
UNKNOWN_DTYPE = "unknown numbers"
"""What a fingerprint says was computed in that no encoder computes in."""
PINNED = "pinned"
"""Says of one's own encoder whether it is one of a public revision: `yes…` or `no…`."""


def file_hashes(spec: EncoderSpec, resolver: FileResolver) -> dict[str, str]:
    """Return the sha256 of every file by `part/file`; downloads files that are neither pinned nor recorded."""
    hashes: dict[str, str] = {}
    for part, files in spec.parts().items():
        known = resolver.known_hashes(files)
        if known is None:
            resolver.verified_paths(files)
            known = resolver.known_hashes(files) or {}
        hashes |= {f"{part}/{file}": digest for file, digest in known.items()}
    return hashes


def fingerprint(spec: EncoderSpec, hashes: Mapping[str, str], backend: str) -> dict[str, str]:
    """Return everything that decides a vector, in words."""
    facts = {
        **source_facts(spec),
        **{f"sha256 {name}": digest for name, digest in sorted(hashes.items())},
        **treatment_facts(spec),
        "backend": backend,
    }
    recorded = [
        f"{part}/{file}" for part, files in spec.parts().items() for file, pin in files.files.items() if not pin
    ]
    if recorded:
        facts[FIRST_USE] = ", ".join(sorted(recorded))
    if spec.pinned:
        facts[PINNED] = spec.pinned
    return facts


def source_facts(spec: EncoderSpec) -> dict[str, str]:
    """Return the source of an encoder's weights."""
    return {
        "encoder": spec.title,
        "passage": f"{spec.passage.repo}@{spec.passage.revision}",
        "query": f"{spec.query.repo}@{spec.query.revision}",
        "tokenizer": f"{spec.tokenizer.repo}@{spec.tokenizer.revision}",
    }


def treatment_facts(spec: EncoderSpec) -> dict[str, str]:
    """Return an encoder's treatment of a text."""
    facts = {
        "pooling": spec.pooling,
        "normalisation": "L2" if spec.normalise else "none",
        "max_tokens": str(spec.max_tokens),
        "batch_size": str(spec.batch_size),
        "dtype": spec.dtype,
        "passage_prefix": visible(spec.passage_prefix),
        "query_prefix": visible(spec.query_prefix),
        "native_dims": str(spec.native_dims),
        "stored_dims": str(spec.stored_dims),
        "padding": "zeros" if spec.stored_dims > spec.native_dims else "none",
    }
    if not spec.special_tokens:
        facts["special_tokens"] = "none"
    if spec.one_engine:
        facts["batch"] = "1 text, without padding"
    return facts


def pinned_hashes(spec: EncoderSpec) -> dict[str, str]:
    """Return the pinned hash of each file by its name in a fingerprint; empty where none is pinned."""
    parts = {"passage": spec.passage, "query": spec.query, "tokenizer": spec.tokenizer}
    return {f"sha256 {part}/{file}": pin for part, files in parts.items() for file, pin in files.files.items()}


def engine_facts(spec: EncoderSpec, hashes: Mapping[str, str], side: Role) -> dict[str, str]:
    """Return the facts that a proof for one side depends on, besides machine and libraries."""
    digests = [digest for name, digest in hashes.items() if name.startswith(f"{side}/")]
    return {"weights": json.dumps(sorted(digests)), "pooling": spec.pooling, "normalise": str(spec.normalise)} | (
        {"dtype": spec.dtype} if spec.reduced else {}
    )


def is_one_sided(facts: Mapping[str, str]) -> bool:
    """Return whether a text has the same vector as passage and as query, by a fingerprint."""
    pairs = (("passage", "query"), ("passage_prefix", "query_prefix"))
    return facts.get("roles") != TOLD_APART and all(facts.get(one) == facts.get(other) for one, other in pairs)


def dtype_of(name: str, facts: Mapping[str, str]) -> str:
    """Return what a fingerprint says was computed in; fp32 where weights of another kind are as they were published,
    and where nothing is stated, as in results of earlier releases."""
    spec = ENCODERS.get(name)
    stated = facts.get("dtype", "float32")
    if spec is not None and stated == spec.dtype:
        return "fp32"
    known: Mapping[str, Dtype] = {"float32": "fp32", "bfloat16": "bf16", "int8": "int8"}
    return known.get(stated, UNKNOWN_DTYPE)


def fingerprint_digest(facts: Mapping[str, str]) -> str:
    """Return one hash over a fingerprint."""
    return hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode()).hexdigest()


def text_key(text: str, role: Role, position: int, *, one_sided: bool) -> bytes:
    """Return the key of a text under one fingerprint. Where both roles share weights and prefix, a text has one
    vector, whichever role it plays; else the role is part of the key."""
    side = "text" if one_sided else role
    try:
        return hashlib.sha256(f"{side}\0{text}".encode()).digest()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{role} text {position} (counted from 0) holds a character that no encoder reads",
            expected="Unicode text",
            found=f"a lone surrogate at character {error.start - len(side) - 1}",
            remedy="repair the corpus file: half of a \\uD8xx\\uDCxx pair is missing",
        ) from error
