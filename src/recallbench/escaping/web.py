"""For a page of HTML or XML: text that is text, and addresses that lead nowhere but to a file."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from recallbench.escaping.terminal import visible


def html(text: str) -> str:
    """Text between tags, or inside a quoted attribute."""
    return escape(visible(text))


def address(path: str) -> str:
    """A relative path as the target of a link: no scheme, no quote and no bracket in it."""
    return quote(path, safe="/+")
