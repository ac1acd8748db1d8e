"""The texts an encoder was given in a run, and how many tokens they can have."""

from __future__ import annotations

from recallbench.embedding.encoders import ENCODERS
from recallbench.results.dataset import Texts

WIDEST = 18
"""The most characters that Unicode's compatible form makes of one (U+FDFA), before tokens are cut."""
BESIDE = 32
"""Further tokens of a text: special ones, and a prefix."""


def most_tokens(characters: int, texts: int) -> int:
    """Return the most tokens that texts with so many characters together can have."""
    return WIDEST * characters + BESIDE * texts


def distinct_texts(texts: Texts, encoder: str) -> int:
    """Count the texts an encoder embeds. Equal texts count once, unless it treats questions otherwise."""
    spec = ENCODERS.get(encoder)
    if spec is not None and not spec.one_sided():
        return len(texts.passages) + len(texts.queries)
    return len(texts.passages | texts.queries)
