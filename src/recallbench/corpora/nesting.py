"""How deep brackets stand inside each other in a file of JSON, found before it is parsed.

A streaming parser keeps a path for each level: 20 kB of brackets would take a gigabyte.
"""

from __future__ import annotations

from pathlib import Path

from recallbench.errors import InputError
from recallbench.reading import NESTED

DEEPEST = 100
"""Levels; the registered files have no more than ten."""
_CHUNK = 1 << 20
_NEITHER = bytes(set(range(256)) - set(b'"[]{}'))
"""All that is neither a quote nor a bracket."""


def check_nesting(path: Path, remedy: str) -> None:
    """Raise InputError where brackets are nested deeper than any corpus has them."""
    depth, inside, rest = 0, False, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            chunk = rest + chunk
            # What a backslash escapes must not be torn from it.
            rest = b"\\" if (len(chunk) - len(chunk.rstrip(b"\\"))) % 2 else b""
            chunk = chunk[: len(chunk) - len(rest)]
            if b"\\" in chunk:
                chunk = chunk.replace(b"\\\\", b"").replace(b'\\"', b"")
            parts = chunk.translate(None, _NEITHER).split(b'"')
            brackets = b"".join(parts[inside::2])
            inside ^= len(parts) % 2 == 0
            if depth + brackets.count(b"[") + brackets.count(b"{") > DEEPEST:
                for bracket in brackets:
                    depth += 1 if bracket in b"[{" else -1
                    if depth > DEEPEST:
                        raise InputError(
                            f"{path}: not a corpus", expected=f"at most {DEEPEST} levels", found=NESTED, remedy=remedy
                        )
            else:
                depth += 2 * (brackets.count(b"[") + brackets.count(b"{")) - len(brackets)
