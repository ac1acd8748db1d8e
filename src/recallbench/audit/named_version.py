"""Versions that names and texts tell of, and whether two of them are the same one."""

from __future__ import annotations

import re

_VERSION = re.compile(
    r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+)(?![.\d])|(?<![\w.])v([0-9]+)(?![\d])"
    # Of three numbers, a word may stand right before them: pgmnemo0.3.1.
    r"|(?<=[a-z])([0-9]+(?:\.[0-9]+){2,})(?![.\d])",
    re.IGNORECASE,
)
_LEADING = re.compile(r"v?[0-9]+(?:\.[0-9]+)+(?![.\w])|v[0-9]+(?![.\w])", re.IGNORECASE)

_DAY = re.compile(r"(?:19|20)[0-9]{2}\.[01][0-9]\.[0-3][0-9]")


def version_in(text: str) -> str:
    """The first version that a text names, as 0.4.1; a single number only behind a v."""
    found = next((one for one in _VERSION.finditer(_words(text)) if not _DAY.fullmatch(one[0])), None)
    return next(filter(None, found.groups())) if found else ""


def leading_version(name: str) -> str:
    """The version that a name begins with, as the folders of this tool do; empty where it begins otherwise."""
    return version_in(name) if _LEADING.match(_words(name)) else ""


def alike(one: str, other: str) -> bool:
    """Equal as far as both go: 0.4 is 0.4.1, and v062 is 0.6.2."""
    if "." not in one or "." not in other:
        one, other = one.replace(".", ""), other.replace(".", "")
        return one.lstrip("0") == other.lstrip("0")
    return all(int(a) == int(b) for a, b in zip(one.split("."), other.split("."), strict=False))


def _words(text: str) -> str:
    return text.replace("_", " ").replace("-", " ")
