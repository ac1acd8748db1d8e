"""The tokens that a model's answers cost, by the endpoint's own count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of four prices. No token is in two of them, however the endpoint counts."""

    fresh: int = 0
    """Tokens of prompts that were read anew."""
    cache_read: int = 0
    """Tokens of prompts that the endpoint had kept from an earlier request."""
    cache_write: int = 0
    """Tokens of prompts that it read anew and kept."""
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*(one - less for one, less in zip(astuple(self), astuple(other), strict=True)))

    @property
    def prompt(self) -> int:
        """The tokens of prompts, kept or not."""
        return self.fresh + self.cache_read + self.cache_write

    def document(self) -> dict[str, int]:
        """Return it as results have it."""
        return asdict(self)


def usage_of(answer: Any) -> Usage | None:
    """Return the usage that an answer states; None where it states none that can be read.

    With `prompt_tokens`, and with `input_tokens_details`, kept tokens are among those of the prompt. Beside a bare
    `input_tokens` they are further ones; so are those that the stated total counts once more.
    """
    stated = answer.get("usage") if isinstance(answer, Mapping) else None
    if not isinstance(stated, Mapping):
        return None
    prompt = _count(stated, "prompt_tokens", "input_tokens")
    output = _count(stated, "completion_tokens", "output_tokens") or 0
    total = _count(stated, "total_tokens")
    if prompt is None:
        return None if total is None else Usage(fresh=max(total - output, 0), output=output)
    details = [stated[name] for name in ("prompt_tokens_details", "input_tokens_details") if _is_filled(stated, name)]
    kept = [*details, stated]
    read = _first(kept, "cached_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens")
    written = _first(kept, "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
    further = "prompt_tokens" not in stated and not details
    if total is not None and read + written:
        further = total == prompt + read + written + output
    if further or read + written > prompt:
        return Usage(prompt, read, written, output)
    return Usage(prompt - read - written, read, written, output)


def _is_filled(stated: Mapping[str, Any], name: str) -> bool:
    return isinstance(stated.get(name), Mapping) and bool(stated[name])


def _first(places: list[Mapping[str, Any]], *names: str) -> int:
    found: Iterator[int | None] = (_count(place, *names) for place in places)
    return next((count for count in found if count is not None), 0)


def _count(stated: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = stated.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
