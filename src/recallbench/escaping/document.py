"""For JSON that is printed or written: the same document, without a character that can't be seen."""

from __future__ import annotations

import json
import re
from typing import Any

from recallbench.escaping.terminal import hidden

_NO_ASCII = re.compile(r"[^\n -~]")


def json_text(document: Any, indent: int | None = None) -> str:
    """A document as JSON; raises ValueError for what has no number there (NaN)."""
    return plain(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))


def plain(text: str) -> str:
    """A JSON text whose strings write control, bidirectional and zero-width characters as `\\uXXXX`."""
    return _NO_ASCII.sub(lambda found: json.dumps(found[0])[1:-1] if hidden(found[0]) else found[0], text)
