"""What an encoder was given in a run, and what it can have made of it."""

from __future__ import annotations

from recallbench.embedding.encoders import ENCODERS
from recallbench.results.dataset import Texts

WIDEST = 18
"""Characters that one becomes at most when Unicode brings it to a compatible form (U+FDFA), before tokens are made."""
BESIDE = 32
"""Tokens beside those of a text: special ones, and a prefix."""


def most_tokens(characters: int, texts: int) -> int:
    """The most tokens that so many texts of so many characters together can have."""
    return WIDEST * characters + BESIDE * texts


def distinct_texts(texts: Texts, encoder: str) -> int:
    """How many texts an encoder must tell apart: a text that is question and segment counts once, unless twins read."""
    spec = ENCODERS.get(encoder)
    if spec is not None and not spec.one_sided():
        return len(texts.passages) + len(texts.queries)
    return len(texts.passages | texts.queries)
