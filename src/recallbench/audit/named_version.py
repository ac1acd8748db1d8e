"""Versions that are named in texts and in names of folders, and whether two are the same."""

from __future__ import annotations

import re

_VERSION = re.compile(
    r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+)(?![.\d])|(?<![\w.])v([0-9]+)(?![\d])"
    # Three numbers may follow a word directly: pgmnemo0.3.1.
    r"|(?<=[a-z])([0-9]+(?:\.[0-9]+){2,})(?![.\d])",
    re.IGNORECASE,
)
_LEADING = re.compile(r"v?[0-9]+(?:\.[0-9]+)+(?![.\w])|v[0-9]+(?![.\w])", re.IGNORECASE)

_DAY = re.compile(r"(?:19|20)[0-9]{2}\.[01][0-9]\.[0-3][0-9]")


def version_in(text: str) -> str:
    """Return the first version in a text, as 0.4.1; a single number counts only behind a v."""
    first = next((match for match in _VERSION.finditer(_words(text)) if not _DAY.fullmatch(match[0])), None)
    return next(filter(None, first.groups())) if first else ""


def leading_version(name: str) -> str:
    """Return the version that a name begins with, as those of result folders do; empty where it begins otherwise."""
    return version_in(name) if _LEADING.match(_words(name)) else ""


def alike(version: str, other: str) -> bool:
    """Return whether versions are equal as far as both go: 0.4 is 0.4.1, and v062 is 0.6.2."""
    if "." not in version or "." not in other:
        version, other = version.replace(".", ""), other.replace(".", "")
        return version.lstrip("0") == other.lstrip("0")
    return all(int(a) == int(b) for a, b in zip(version.split("."), other.split("."), strict=False))


def _words(text: str) -> str:
    return text.replace("_", " ").replace("-", " ")
