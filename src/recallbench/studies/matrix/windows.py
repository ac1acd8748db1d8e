"""Encoders as a matrix names them: `minilm`, or `minilm@256` for one that reads 256 tokens of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from recallbench.embedding.encoders import ENCODERS
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

    @property
    def window(self) -> int | None:
        """Tokens of a text that it reads; None for its own window where only its files say it."""
        spec = ENCODERS.get(self.typed)
        return self.max_tokens if spec is None else self.max_tokens or spec.max_tokens


def read_encoders(words: Sequence[str]) -> list[WindowedEncoder]:
    """Return these encoders; raises UsageError for one that can't be opened, or not with its window."""
    encoders = []
    for word in words:
        named = WINDOW.fullmatch(word)
        encoder = WindowedEncoder(named[1], int(named[2])) if named else WindowedEncoder(word)
        recorded_encoder(encoder.typed)
        if encoder.max_tokens is not None:
            _check_window(encoder, encoder.max_tokens)
        encoders.append(encoder)
    for place, encoder in enumerate(encoders):
        for other in encoders[:place]:
            if (encoder.encoder, encoder.window) == (other.encoder, other.window):
                same = "" if encoder.name == other.name else f": {other.name} and {encoder.name} read the same"
                raise UsageError(
                    f"{encoder.encoder} is named twice{same}",
                    expected="each encoder once with each length",
                    found=f"{other.name}, {encoder.name}",
                    remedy="leave one out",
                )
    return encoders


def _check_window(encoder: WindowedEncoder, tokens: int) -> None:
    """Raise UsageError where an encoder can't be given this window."""
    spec = ENCODERS.get(encoder.typed)
    most = spec.most_tokens if spec is not None else 0
    alone = f"{encoder.encoder} alone for its own length"
    if tokens < SHORTEST:
        raise UsageError(
            f"{encoder.name} reads too little of a text",
            expected=f"@{SHORTEST} or more",
            found=f"@{tokens}",
            remedy=f"write @{SHORTEST} or more, or {alone}",
        )
    try:
        check_length(encoder.typed, tokens)
    except UsageError as error:
        raise UsageError(
            error.problem.replace("--max-tokens", f"@{tokens}"),
            expected=f"@{most} or less" if most else "@TOKENS behind one that takes a length, such as minilm@256",
            found=encoder.name,
            remedy=f"write @{most} or less, or {alone}" if most else f"write {alone}",
        ) from error


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
