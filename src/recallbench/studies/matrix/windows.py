"""Encoders as a matrix names them: `minilm`, or `minilm@256` for one that reads 256 tokens of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from recallbench.embedding.registry import check_length, recorded_encoder
from recallbench.errors import UsageError

WINDOW = re.compile(r"(.+)@(\d{1,6})")
"""A name with a window; the revision behind the @ of hub: has 40 digits."""
SHORTEST = 8
"""Tokens of the shortest window that `run --max-tokens` takes."""


@dataclass(frozen=True, slots=True)
class WindowedEncoder:
    """An encoder, and how much of a text it is to read."""

    typed: str
    """Its name as `run --embedder` takes it."""
    max_tokens: int | None = None
    """None for its own window."""

    @property
    def encoder(self) -> str:
        """Its name as results have it."""
        return recorded_encoder(self.typed)

    @property
    def name(self) -> str:
        """Its name as results have it, with the window behind an @."""
        return self.encoder if self.max_tokens is None else f"{self.encoder}@{self.max_tokens}"


def read_encoders(words: Sequence[str]) -> list[WindowedEncoder]:
    """Return these encoders; raises UsageError for one that can't be opened, or not with its window."""
    encoders = []
    for word in words:
        named = WINDOW.fullmatch(word)
        encoder = WindowedEncoder(named[1], int(named[2])) if named else WindowedEncoder(word)
        recorded_encoder(encoder.typed)
        if encoder.max_tokens is not None and encoder.max_tokens < SHORTEST:
            raise UsageError(
                f"{word} reads too little of a text", expected=f"@{SHORTEST} or more", found=f"@{encoder.max_tokens}"
            )
        check_length(encoder.typed, encoder.max_tokens)
        encoders.append(encoder)
    named_twice = {each.name for each in encoders if [other.name for other in encoders].count(each.name) > 1}
    if named_twice:
        raise UsageError(f"{min(named_twice)} is named twice", expected="each encoder once", remedy="leave one out")
    return encoders


def neighbouring_windows(encoders: Sequence[tuple[str, int | None]]) -> list[tuple[int, int]]:
    """Return the places of neighbours among the windows of each encoder, the shorter one first."""
    by_encoder: dict[str, list[tuple[int, int]]] = {}
    for place, (encoder, max_tokens) in enumerate(encoders):
        if max_tokens is not None:
            by_encoder.setdefault(encoder, []).append((max_tokens, place))
    windows = [sorted(places) for places in by_encoder.values()]
    return [
        (shorter[1], longer[1]) for places in windows for shorter, longer in pairwise(places) if shorter[0] < longer[0]
    ]
