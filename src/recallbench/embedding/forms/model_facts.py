"""What the fingerprint of a model of one's own states, as patterns for an audit."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.embedding.fingerprint import FIRST_USE, PINNED, TOLD_APART

_HASH = "[0-9a-f]{64}"
FURTHER: Mapping[str, str] = {
    r"sha256 (passage|query|tokenizer)/.+": _HASH,
    FIRST_USE: ".+",
    "max_tokens": "[0-9]+",
    "modules": ".+",
    "batch": "1 text, without padding",
    "roles": TOLD_APART,
}


def model_facts(name: str, source: str, pinned: str) -> dict[str, str]:
    """Return the patterns of a model with this name and source."""
    return {
        "encoder": name,
        "passage": source,
        "query": source,
        "tokenizer": source,
        "pooling": r"[\w+]+",
        "normalisation": "L2|none",
        "batch_size": "[0-9]+",
        "dtype": "float32|bfloat16|int8",
        "passage_prefix": ".*",
        "query_prefix": ".*",
        "native_dims": "[0-9]+",
        "stored_dims": "[0-9]+",
        "padding": "none",
        "backend": r"(torch|openvino|sentence-transformers)/\w+",
        PINNED: pinned,
    }
