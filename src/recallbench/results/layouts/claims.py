"""Published numbers, wherever a metrics file holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from recallbench.results.layouts.layout import Claim, names_a_measure

_QUOTED = ("baseline", "target", "delta", "previous", "compar")
"""Words in the name of a part that tells of another run."""
_FIGURE = ("mean", "value")
_LOW, _HIGH = ("ci95_lo", "ci_low", "low"), ("ci95_hi", "ci_high", "high")
_DEPTH = 12


def published(document: Mapping[str, Any], file: str) -> tuple[Claim, ...]:
    """Every figure under the name of a measure, with its path, its part of the questions, n and interval."""
    found = [claim for claim in _walk(document, "", (), quoted=False) if -1e9 < claim.value < 1e9]
    return tuple(replace(claim, where=f"{file} {claim.where}") for claim in found)


def _walk(node: Mapping[str, Any], path: str, parts: tuple[str, ...], quoted: bool) -> Iterator[Claim]:
    if len(parts) > _DEPTH:
        return
    for name, value in node.items():
        here = f"{path}/{name}"
        if names_a_measure(name):
            claim = _claim(name, value, here, _slice(parts), quoted)
            if claim is not None:
                yield claim
                continue
        if isinstance(value, dict):
            elsewhere = quoted or (not _holds_rows(value) and any(word in name.lower() for word in _QUOTED))
            yield from _walk(value, here, (*parts, name), elsewhere)


def _holds_rows(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("metrics"), dict)


def _claim(name: str, value: Any, where: str, slice: str, quoted: bool) -> Claim | None:
    if _is_number(value):
        return Claim(name, float(value), where, slice, quoted=quoted)
    if not isinstance(value, dict):
        return None
    key = next((key for key in _FIGURE if _is_number(value.get(key))), None)
    if key is None:
        return None
    n = value.get("n")
    return Claim(
        name,
        float(value[key]),
        f"{where}/{key}",
        slice,
        n if isinstance(n, int) and not isinstance(n, bool) else None,
        _number(value, _LOW),
        _number(value, _HIGH),
        quoted,
    )


def _slice(parts: tuple[str, ...]) -> str:
    """The part below a `by_…`, or below anything but `overall`."""
    for i, part in enumerate(parts):
        if part.startswith("by_") and i + 1 < len(parts):
            return parts[i + 1]
    named = [part for part in parts if part not in ("overall", "metrics")]
    return "/".join(named)


def _number(value: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    return next((float(value[name]) for name in names if _is_number(value.get(name))), None)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
