"""Markdown cut into passages: paragraphs, list items, headings and the rows of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

_READ_CODE = frozenset({"", "text", "txt", "md", "markdown"})
"""Languages of code blocks that are read like the text around them; any other block holds commands or files."""


@dataclass(slots=True)
class Passage:
    """One passage, without markup; the address of a link stands behind its words."""

    line: int
    text: str
    kind: Literal["prose", "heading", "item", "row", "html"]
    block: int
    """The number of its paragraph, list or table, counted from the top."""
    section: int
    """The number of headings down to it."""
    above: int | None = None
    """The index of the list item that it is indented under."""
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()


def read_passages(text: str) -> list[Passage]:
    """Return the passages of a Markdown or plain text in their order."""
    passages: list[Passage] = []
    items: list[int | None] = []
    cells: list[str] | None = None
    header: tuple[str, ...] = ()
    block = section = 0
    previous = ""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        line = token.map[0] + 1 if token.map else 1
        if token.level == 0 and token.nesting >= 0:
            block += 1
        if token.type == "heading_open":
            section += 1
        elif token.type == "list_item_open":
            items.append(None)
        elif token.type == "list_item_close":
            items.pop()
        elif token.type == "tr_open":
            cells, row_line = [], line
        elif token.type == "tr_close" and cells is not None:
            header = header or tuple(cells)
            text = " | ".join(cells)
            passages.append(Passage(row_line, text, "row", block, section, cells=tuple(cells), header=header))
            cells = None
        elif token.type == "table_close":
            header = ()
        elif token.type == "inline" and cells is not None:
            cells.append(_text_of(token))
        elif token.type == "inline":
            above = next((item for item in reversed(items) if item is not None), None)
            if items and items[-1] is None:
                items[-1] = len(passages)
            kind: Literal["heading", "item", "prose"] = "item" if items else "prose"
            kind = "heading" if previous == "heading_open" else kind
            passages.append(Passage(line, _text_of(token), kind, block, section, above))
        elif token.type == "html_block":
            passages.append(Passage(line, token.content, "html", block, section))
        elif token.type in ("fence", "code_block") and token.info.strip().lower() in _READ_CODE:
            first, count = line if token.type == "fence" else line - 1, len(passages)
            for inner in read_passages(token.content):
                inner.line, inner.block, inner.section = (
                    inner.line + first,
                    inner.block + block,
                    inner.section + section,
                )
                inner.above = None if inner.above is None else inner.above + count
                passages.append(inner)
            if passages[count:]:
                block, section = passages[-1].block, passages[-1].section
        previous = token.type
    return passages


def _text_of(inline: Token) -> str:
    parts: list[str] = []
    addresses: list[str] = []
    for child in inline.children or []:
        if child.type == "link_open":
            addresses.append(str(child.attrs["href"]))
        elif child.type == "link_close":
            parts.append(f" {addresses.pop()} ")
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type in ("text", "code_inline") and not (addresses and child.content.startswith("^")):
            parts.append(child.content)
        elif child.type == "html_inline":
            parts.append(" ")
    return "".join(parts)
