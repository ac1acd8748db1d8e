"""JSON that is printed or written: the same document, with invisible characters escaped."""

from __future__ import annotations

import json
import re
from typing import Any

from recallbench.escaping.terminal import hidden

_NO_ASCII = re.compile(r"[^\n -~]")


def json_text(document: Any, indent: int | None = None) -> str:
    """Return a document as JSON; raises ValueError for numbers that JSON lacks, as NaN."""
    return plain(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))


def plain(text: str) -> str:
    """Return a JSON text whose strings write control, bidirectional and zero-width characters as `\\uXXXX`."""
    return _NO_ASCII.sub(lambda match: json.dumps(match[0])[1:-1] if hidden(match[0]) else match[0], text)
