"""Markdown: text that makes no heading, tag, link, border or emphasis of its own, and ordinary text left as it is.

`Markup` was escaped here, or is this project's own; plain text gets into a page by these functions alone.
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
FORMATTING = re.compile(
    r"```|<!--|<!\[CDATA|</?(?:a|abbr|audio|b|base|body|br|button|center|code|del|details|div|em|embed|font|form|h[1-6]|"
    r"head|hr|html|i|iframe|img|input|ins|kbd|li|link|math|meta|object|ol|p|picture|pre|s|script|source|span|strong|style|"
    r"sub|summary|sup|svg|table|tbody|td|textarea|th|thead|title|tr|tt|u|ul|video)(?:[\s/>]|$)",
    re.IGNORECASE,
)
"""Tags, comments and blocks of HTML or Markdown; `<=>` and `<locals>` are none."""


class Markup(str):
    """Text that is Markdown already, and is put into a page as it is."""

    __slots__ = ()


def unformatted(text: str) -> str:
    """Return text that no page could take for a tag or block: what opens one is spelled out (`\\x3c`)."""
    return FORMATTING.sub(lambda match: match[0].replace("<", "\\x3c").replace("`", "\\x60"), text)


def inline(text: str) -> Markup:
    """Return text for the inside of a line; `Markup` stays as it is."""
    if isinstance(text, Markup):
        return text
    text = _BACKSLASH.sub(r"\\\\", visible(text)).replace("`", r"\`")
    text = _TAG.sub("&lt;", _ENTITY.sub("&amp;", text))
    text = _STARS.sub(lambda stars: stars[0] if _stands_alone(stars) else r"\*" * len(stars[0]), text)
    text = _UNDERSCORE.sub(lambda underscores: r"\_" * len(underscores[0]), text)
    if text.count("~") > 1:
        text = text.replace("~", r"\~")
    return Markup(_TARGET.sub(r"\\]", text))


def opening(text: str) -> Markup:
    """Return text for the start of a line, a list's item or a paragraph: it makes no heading, list or quotation."""
    if isinstance(text, Markup):
        return text
    escaped = inline(visible(text).lstrip())
    mark = _OPENING.match(escaped)
    if mark is None:
        return escaped
    at = mark.end() - 1 if mark[0][0].isdigit() else 0
    return Markup(f"{escaped[:at]}\\{escaped[at:]}")


def code(text: str) -> Markup:
    """Return text as a span of code."""
    text = visible(text)
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return Markup(f"{ticks}{blank}{text}{blank}{ticks}")


def headed(title: str, lines: Iterable[str]) -> str:
    """Return a document of these lines below its title."""
    return "\n".join([f"# {inline(title)}", "", *lines])


def fenced(text: str) -> list[str]:
    """Return text of several lines as a block of code."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, visible_lines(text), fence]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, its cells escaped but for `Markup`."""
    lines = [_row(header), f"|{'|'.join('---' for _ in header)}|"]
    return lines + [_row(row) for row in rows]


def _stands_alone(stars: re.Match[str]) -> bool:
    """Return whether blanks are on both sides, so that nothing is emphasised."""
    before, after = stars.string[: stars.start()][-1:], stars.string[stars.end() :][:1]
    return not before.strip() and not after.strip()


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    # A bar is no border behind an odd number of backslashes, and only there.
    return _BAR.sub(lambda bar: bar[1] + ("\\|" if len(bar[1]) % 2 == 0 else "\\\\|"), inline(text))
