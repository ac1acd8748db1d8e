"""How many bytes a memory outside this project says that it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recallbench.errors import InputError


def read_bytes(stated: object) -> int | None:
    """Return a number of bytes as a memory states it; None for what is no whole number of 0 or more."""
    try:
        number = stated.__index__() if not isinstance(stated, bool) else -1  # type: ignore[attr-defined]
    except AttributeError:
        return None
    return int(number) if number >= 0 else None


def held_bytes(name: str, memory: Any, call: Callable[[str, Callable[[], Any]], Any]) -> int | None:
    """Return what the user's `stored_bytes()` says; None where there is no such method.

    `call` calls the user's code, whose name is for errors. Raises InputError for an answer that is no number of bytes.
    """
    asked = getattr(memory, "stored_bytes", None)
    if not callable(asked):
        return None
    stated = call("saying how many bytes it holds", asked)
    if isinstance(stated, Mapping):  # as this project's own stores say it
        if not stated:
            return None
        stated = sum(stated.values())
    held = read_bytes(stated)
    if held is None:
        raise InputError(
            f"`{name}` does not say how many bytes it holds",
            expected="of stored_bytes() a whole number of 0 or more",
            found=repr(stated)[:80],
            remedy="mend the method, or leave it out: the result then says that it is not stated",
        )
    return held
