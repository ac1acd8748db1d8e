"""The differences between two descriptions of the same thing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

ROUNDING = 1e-9
"""The tolerance for figures: the last digits of a sum differ from one processor to the next."""


def differing(stated: Any, derived: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each value that is stated and does not follow, or follows and is not stated."""
    stated, derived = _as_data(stated), _as_data(derived)
    if isinstance(stated, Mapping) and isinstance(derived, Mapping):
        for name in [*stated, *(name for name in derived if name not in stated)]:
            inner = f"{place}.{name}" if place else str(name)
            if name not in derived:
                yield f"{inner}: stated, but nothing like it follows"
            elif name not in stated:
                yield f"{inner}: not stated"
            else:
                yield from differing(stated[name], derived[name], inner)
    elif isinstance(stated, (list, tuple)) and isinstance(derived, (list, tuple)):
        if len(stated) != len(derived):
            yield f"{place}: {len(stated)} entries stated, {len(derived)} follow"
        for number, (stated_entry, derived_entry) in enumerate(zip(stated, derived, strict=False)):
            yield from differing(stated_entry, derived_entry, f"{place}.{_name(stated_entry, number)}")
    elif not _equal(stated, derived):
        yield f"{place}: {stated} stated, {derived} follows"


def _as_data(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else value


def _name(entry: Any, number: int) -> str:
    """Return the measure or name of a list's entry, or its number."""
    entry = _as_data(entry)
    if isinstance(entry, Mapping):
        for key in ("measure", "protocol_name", "name"):
            if isinstance(entry.get(key), str):
                return str(entry[key])
    return str(number)


def _equal(stated: Any, derived: Any) -> bool:
    if isinstance(stated, float) and isinstance(derived, (int, float)) and not isinstance(derived, bool):
        return math.isclose(stated, derived, rel_tol=0.0, abs_tol=ROUNDING)
    return type(stated) is type(derived) and bool(stated == derived)


def keys(parts: Sequence[Any], fields: Sequence[str]) -> list[dict[str, Any]]:
    """Return some fields of each part."""
    return [{name: getattr(part, name) for name in fields} for part in parts]
