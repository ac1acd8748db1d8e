"""The parameters that a retriever was run with, as its user names them: recorded, shown and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from recallbench.confidential import sanitised, without_secrets
from recallbench.errors import UsageError

Params = Mapping[str, str | int | float | bool]


def record_params(params: Mapping[str, Any] | None) -> Params:
    """Return the parameters as they are recorded: numbers as they are, anything else as text, without secrets.

    Raises UsageError for anything but values by name.
    """
    given = {} if params is None else params
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name.strip() for name in given):
        raise UsageError("params are values by name", expected='params={"alpha": 0.3}', found=repr(params)[:60])
    texts = without_secrets({name: str(value) for name, value in given.items()})
    return {
        name: value
        if isinstance(value, (int, float)) and math.isfinite(value) and text == str(value)
        else sanitised(text)
        for (name, value), text in zip(given.items(), texts.values(), strict=True)
    }


def in_words(params: Params) -> str:
    """Return the parameters in a line."""
    return ", ".join(f"{name} {value}" for name, value in params.items())


def differing(before: Params, after: Params) -> dict[str, tuple[str, str]]:
    """Return the values of each parameter that differs, before and after; a dash where one does not name it."""
    names = dict.fromkeys((*before, *after))
    values = {name: (str(before.get(name, "–")), str(after.get(name, "–"))) for name in names}
    return {name: pair for name, pair in values.items() if pair[0] != pair[1]}
