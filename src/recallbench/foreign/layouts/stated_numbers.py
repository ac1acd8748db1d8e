"""The numbers of a metrics file: published figures, counts, and possible figures that can't be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recallbench.foreign.layouts.layout import Claim, Count, Unread, shown
from recallbench.foreign.names import is_measure_name, mentions_measure, plain

_QUOTED = ("baseline", "target", "delta", "previous", "compar")
"""Words in the names of parts about another run."""
_FIGURE = ("mean", "value")
_LOW = ("ci95_lo", "ci95_low", "ci_low", "ci_lo", "ci_lower", "lower", "low")
_HIGH = ("ci95_hi", "ci95_high", "ci_high", "ci_hi", "ci_upper", "upper", "high")
_BOTH = ("ci95", "ci_95", "ci", "interval", "confidence_interval")
_COUNT = re.compile(
    r"n|(n|num)_[a-z_]+|([a-z_]+_)?(count|total)|total_[a-z_]+|rows|questions|queries|items|instances|segments"
)
_SETTING = re.compile(
    r"wall_clock.*|.*(latency|elapsed|duration).*|.*_(s|sec|secs|seconds|ms|min|minutes|hours|chars|tokens|weight|bytes"
    r"|mb|gb)|(.*_)?(dim|dims|version|seed|size|length|depth|workers|threads|port)|.*_dim_[a-z]+|rrf_k|top_?k|k1?|b"
    r"|temperature"
)
_SETTINGS = ("guc_state", "settings", "config", "parameters", "environment")
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+(e[+-]?[0-9]+)?\s*%?", re.IGNORECASE)
_DEPTH = 12
_LARGEST = 1e9


@dataclass(slots=True)
class StatedNumbers:
    """All numbers of a metrics file."""

    file: str
    claims: list[Claim] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def refuse(self, place: _Location, value: Any) -> None:
        """Add a value as unread."""
        self.unread.append(Unread(f"{self.file} {place.path}", shown(value), place.quoted))


@dataclass(frozen=True, slots=True)
class _Location:
    path: str
    parts: tuple[str, ...]
    quoted: bool

    def below(self, name: str, value: Any) -> _Location:
        elsewhere = isinstance(value, dict) and not isinstance(value.get("metrics"), dict)
        quoted = self.quoted or (elsewhere and any(word in name.lower() for word in _QUOTED))
        return _Location(f"{self.path}/{name}", (*self.parts, name), quoted)

    @property
    def measured(self) -> bool:
        """Whether it is below the name of a measure."""
        return any(map(is_measure_name, self.parts))


def stated_numbers(document: Mapping[str, Any], file: str, facts: tuple[str, ...] = ()) -> StatedNumbers:
    """Return every figure under the name of a measure, with its path, its part of the questions, n and interval.

    `facts` names fields that never hold a figure.
    """
    numbers = StatedNumbers(file)
    _walk(numbers, document, _Location("", (), quoted=False), facts)
    return numbers


def _walk(numbers: StatedNumbers, node: Mapping[str, Any], place: _Location, facts: tuple[str, ...]) -> None:
    for name, value in node.items():
        here = place.below(name, value)
        if is_measure_name(name) and (read := _claim(numbers.file, name, value, here, place)) is not None:
            claim, used = read
            numbers.claims.append(claim)
            if isinstance(value, dict):
                _walk(numbers, {key: item for key, item in value.items() if key not in used}, here, ())
        elif not place.parts and name in facts and _is_plain(value) and not _COUNT.fullmatch(name):
            continue
        else:
            _collect(numbers, name, value, here)


def _collect(numbers: StatedNumbers, name: str, value: Any, here: _Location) -> None:
    if isinstance(value, list):
        nested = any(isinstance(item, (dict, list)) for item in value)
        if not nested and any(_is_number(item) or _is_numeral(item) for item in value):
            numbers.refuse(here, value)
            return
        value = {str(number): item for number, item in enumerate(value)}
    if isinstance(value, dict):
        if len(here.parts) > _DEPTH:
            numbers.refuse(here, "more, nested too deep")
        else:
            _walk(numbers, value, here, ())
    elif isinstance(value, bool):
        if here.measured:
            numbers.refuse(here, value)
    elif _is_numeral(value):
        if not _is_setting(name, here):
            numbers.refuse(here, value)
    elif _is_number(value):
        _read_number(numbers, name, value, here)


def _read_number(numbers: StatedNumbers, name: str, value: float, here: _Location) -> None:
    above = here.parts[-2] if len(here.parts) > 1 else ""
    whole = 0 <= value < _LARGEST and float(value).is_integer()
    if whole and not here.measured and (_COUNT.fullmatch(plain(name)) or above.endswith("distribution")):
        counts = not above.endswith("distribution")
        if not here.quoted:
            slice = _slice(here.parts[:-1]) if counts else name
            numbers.counts.append(
                Count(plain(name) if counts else above, int(value), f"{numbers.file} {here.path}", slice)
            )
    elif not _is_setting(name, here):
        numbers.refuse(here, value)


def _is_setting(name: str, here: _Location) -> bool:
    """Return whether a number is a setting of the run, not an outcome."""
    if here.measured or mentions_measure(name):
        return False
    return _SETTING.fullmatch(plain(name)) is not None or any(part in _SETTINGS for part in here.parts[:-1])


def _claim(file: str, name: str, value: Any, here: _Location, above: _Location) -> tuple[Claim, set[str]] | None:
    """Return the claim, and the fields below it that it was read from."""
    if above.measured:
        return None
    slice = _slice(above.parts)
    where = f"{file} {here.path}"
    if _is_figure(value):
        return Claim(name, float(value), where, slice, quoted=here.quoted), set()
    if not isinstance(value, dict):
        return None
    key = next((key for key in _FIGURE if _is_figure(value.get(key))), None)
    if key is None:
        return None
    low, high = (_named(value, names) for names in (_LOW, _HIGH))
    n = "n" if isinstance(value.get("n"), int) and not isinstance(value.get("n"), bool) else ""
    both = next((name for name in _BOTH if _is_pair(value.get(name))), "") if not low and not high else ""
    low_value, high_value = value[both] if both else (value.get(low), value.get(high))
    claim = Claim(
        name,
        float(value[key]),
        f"{where}/{key}",
        slice,
        value[n] if n else None,
        None if low_value is None else float(low_value),
        None if high_value is None else float(high_value),
        here.quoted,
    )
    return claim, {key, low, high, both, n}


def _slice(parts: tuple[str, ...]) -> str:
    """Return the part of the questions: the name below a `by_…`, else all names but `overall`."""
    for i, part in enumerate(parts):
        if part.startswith("by_") and i + 1 < len(parts):
            return parts[i + 1]
    named = [part for part in parts if part not in ("overall", "metrics")]
    return "/".join(named)


def _named(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if _is_figure(value.get(name))), "")


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_figure, value))


def _is_figure(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_numeral(value: object) -> bool:
    """Return whether a value is a number written as text."""
    return isinstance(value, str) and _NUMBER.fullmatch(value.strip()) is not None


def _is_plain(value: object) -> bool:
    """Return whether a value can be a seed, a version or a date: neither words nor parts."""
    return _is_numeral(value) or not isinstance(value, (str, dict, list))
