"""For Markdown: text that makes no heading, tag, link, border or emphasis of its own, and ordinary text left as it is.

What is `Markup` was escaped, or written here; plain text never gets into a page but through these functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recallbench.escaping.terminal import visible, visible_lines

_ENTITY = re.compile(r"&(?=#[0-9]{1,8};|#[xX][0-9a-fA-F]{1,8};|[A-Za-z][A-Za-z0-9]*;)")
_TAG = re.compile(r"<(?=[A-Za-z/!?]|$)")
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~]|$)")
_STARS = re.compile(r"\*+")
_UNDERSCORE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_TARGET = re.compile(r"\](?=[(\[:])")
_OPENING = re.compile(r"(?:#{1,6}|[-+*]|[0-9]{1,9}[.)])(?=\s|$)|>|[-=_*]+\s*$|~~~|\[[ xX]\](?=\s)")
_BAR = re.compile(r"(\\*)\|")


class Markup(str):
    """Markdown, as it shall stand in a page."""

    __slots__ = ()


def inline(text: str) -> Markup:
    """Text inside a line; `Markup` stays as it is."""
    if isinstance(text, Markup):
        return text
    text = _BACKSLASH.sub(r"\\\\", visible(text)).replace("`", r"\`")
    text = _TAG.sub("&lt;", _ENTITY.sub("&amp;", text))
    text = _STARS.sub(lambda found: found[0] if _alone(found) else r"\*" * len(found[0]), text)
    text = _UNDERSCORE.sub(lambda found: r"\_" * len(found[0]), text)
    if text.count("~") > 1:
        text = text.replace("~", r"\~")
    return Markup(_TARGET.sub(r"\\]", text))


def opening(text: str) -> Markup:
    """Text at the start of a line, a list's item or a paragraph: it makes no heading, list or quotation."""
    if isinstance(text, Markup):
        return text
    found = inline(visible(text).lstrip())
    begun = _OPENING.match(found)
    if begun is None:
        return found
    at = begun.end() - 1 if begun[0][0].isdigit() else 0
    return Markup(f"{found[:at]}\\{found[at:]}")


def code(text: str) -> Markup:
    """Text as a span of code."""
    text = visible(text)
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return Markup(f"{ticks}{blank}{text}{blank}{ticks}")


def fenced(text: str) -> list[str]:
    """Text of several lines as a block of code."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, visible_lines(text), fence]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells: `Markup` as it is, text as text."""
    lines = [_row(header), f"|{'|'.join('---' for _ in header)}|"]
    return lines + [_row(row) for row in rows]


def _alone(found: re.Match[str]) -> bool:
    """Whether blanks stand on both sides, so that nothing is emphasised."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return not before.strip() and not after.strip()


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    # A bar is no border behind an odd number of backslashes, and only there.
    return _BAR.sub(lambda found: found[1] + ("\\|" if len(found[1]) % 2 == 0 else "\\\\|"), inline(text))
