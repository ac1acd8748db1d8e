"""The texts an encoder was given in a run, and how many tokens they can have."""

from __future__ import annotations

from collections.abc import Mapping

from recallbench.embedding.fingerprint import is_one_sided
from recallbench.results.dataset import Texts

WIDEST = 18
"""The most characters that Unicode's compatible form makes of one (U+FDFA), before tokens are cut."""
BESIDE = 32
"""Further tokens of a text: special ones."""


def most_tokens(characters: int, texts: int, prefix: str = "") -> int:
    """Return the most tokens that texts with so many characters together can have, each behind a prefix."""
    return WIDEST * (characters + len(prefix) * texts) + BESIDE * texts


def distinct_texts(texts: Texts, fingerprint: Mapping[str, str]) -> int:
    """Count the texts an encoder embeds. Equal texts count once, unless it treats questions otherwise."""
    if not is_one_sided(fingerprint):
        return texts.passages + texts.queries
    return texts.both
