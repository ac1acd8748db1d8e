"""The parameters that `--set name=value` gives to code of the user's own, and what a result records of them."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

from recallbench.confidential import concealed, without_logins, without_secrets
from recallbench.errors import UsageError
from recallbench.escaping.markdown import unformatted
from recallbench.escaping.terminal import shortened, visible
from recallbench.reading import toml
from recallbench.stores.outside.own_code import OwnCode

LONGEST = 200
"""Characters of a value that is recorded whole."""


def value_of(text: str) -> Any:
    """Return a value as TOML has it (1.5, true, "text", [1, 2]); a text that is none stands for itself."""
    try:
        table = toml(f"value = {text}")
    except ValueError:
        return text
    return table["value"] if len(table) == 1 else text


def recorded_text(text: str) -> str:
    """Return a value that was typed as results record it."""
    return _recorded(value_of(text))


def _recorded(value: Any) -> str:
    if isinstance(value, (bool, int, float, list, tuple, dict)) or value is None:
        text = json.dumps(value, default=_described, skipkeys=True)
    else:
        text = value if isinstance(value, str) else _described(value)
    # Here and not in the files alone: a report escapes the mark. A prompt may hold tags, which it would show as such.
    text = unformatted(visible(without_logins(concealed(text))))
    if len(text) <= LONGEST:
        return text
    return f"{shortened(text)} (sha256 {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]})"


def _described(value: Any) -> str:
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(getattr(value, "__qualname__", f"its {type(value).__name__}"))


class Parameters:
    """The parameters of a class's constructor, or of a function beyond its first `leading` ones."""

    def __init__(self, code: OwnCode, texts: Mapping[str, str], leading: int = 0) -> None:
        """`texts` are the values as they were typed; raises UsageError where the code does not take them."""
        self._code = code
        self.values = {name: value_of(text) for name, text in texts.items()}
        self._known: list[inspect.Parameter] = []
        try:
            self._known = list(inspect.signature(code.object).parameters.values())[leading:]
        except (TypeError, ValueError):
            return  # made by an extension, it says itself what it takes
        self._check()

    @property
    def recorded(self) -> dict[str, str]:
        """Return the values in force by name, those by default too, without secrets."""
        defaults = {p.name: p.default for p in self._named() if p.default is not p.empty}
        values = {name: value for name, value in (defaults | self.values).items() if value is not None}
        shown = without_secrets({name: _recorded(value) for name, value in values.items()})
        return {name: shown.get(name, _recorded(None)) for name in (*defaults, *self.values)}

    def _named(self) -> Iterator[inspect.Parameter]:
        return (p for p in self._known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))

    def _check(self) -> None:
        named = {p.name: p for p in self._named()}
        listed = ", ".join(shortened(str(p.replace(annotation=p.empty))) for p in named.values()) or "it takes none"
        for name in self.values:
            if name not in named and not any(p.kind is p.VAR_KEYWORD for p in self._known):
                raise UsageError(
                    f"`{self._code.name}` has no parameter {name}",
                    expected=f"its own parameters: {listed}",
                    found=f"--set {name}=…",
                    remedy="mend the name, or leave it out",
                )
        for name, parameter in named.items():
            if parameter.default is parameter.empty and name not in self.values:
                raise UsageError(
                    f"`{self._code.name}` needs a value for {name}",
                    expected=f"--set {name}=VALUE",
                    found=f"its parameters: {listed}",
                    remedy=f"give it with --set {name}=VALUE, or a default in the {self._code.noun}",
                )
