"""Pages of HTML or XML: text that stays text, and addresses that lead to a file alone."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from recallbench.escaping.terminal import visible


def html(text: str) -> str:
    """Return text for between tags, or inside a quoted attribute."""
    return escape(visible(text))


def address(path: str) -> str:
    """Return a relative path as the target of a link: no scheme, no quote and no bracket in it."""
    return quote(path, safe="/+")
