"""Markdown cut into passages: headings, paragraphs, list items and the rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

Kind = Literal["heading", "prose", "item", "row", "html"]

_READ_CODE = frozenset({"", "text", "txt", "md", "markdown"})
"""Languages of code blocks that are read like the text around them; any other block holds commands or files."""
_OTHER_COLUMN = re.compile(r"^p\b|design|saturat|\bband|detect|left out|range|\bsd\b|smallest|win/", re.IGNORECASE)
"""Columns beside a measure whose numbers are no figures of it."""
_NUMBER = re.compile(r"(?<![\w@.])(?<!at )[\d.,]+\s?%?(?!\w)")
CONTROL = re.compile(r"\W*(?:chance|random(?: order)?|ceiling|oracle|bm25 control)\W*", re.IGNORECASE)
"""The label of a row that holds what stands beside a result's figures."""


@dataclass(slots=True)
class Passage:
    """One passage, without markup; the address of a link stands behind its words."""

    line: int
    text: str
    kind: Kind
    block: int
    """The number of its paragraph, list or table, counted from the top."""
    section: int
    """The number of headings down to it."""
    above: int | None = None
    """The index of the list item that it is indented under."""
    label: str = ""
    """The first cell of a row."""


def read_passages(text: str) -> list[Passage]:
    """Return the passages of a Markdown or plain text in their order."""
    passages: list[Passage] = []
    items: list[int | None] = []
    cells: list[str] = []
    header: list[str] = []
    kind: Kind = "prose"
    block = section = 0
    for line, token in _tokens(text):
        if token.level == 0 and token.nesting >= 0:
            block += 1
        if token.type == "heading_open":
            kind, section = "heading", section + 1
        elif token.type == "paragraph_open":
            kind = "item" if items else "prose"
        elif token.type == "list_item_open":
            items.append(None)
        elif token.type == "list_item_close":
            items.pop()
        elif token.type == "table_open":
            kind, header = "row", []
        elif token.type == "tr_open":
            cells, row_line = [], line
        elif token.type == "tr_close":
            if header:
                text, label = _sentence_of_row(header, cells), next(filter(None, cells), "")
                passages.append(Passage(row_line, text, "row", block, section, label=label))
            header = header or cells
        elif token.type == "inline" and kind == "row":
            cells.append(_text_of(token))
        elif token.type == "inline":
            above = next((item for item in reversed(items) if item is not None), None)
            if items and items[-1] is None:
                items[-1] = len(passages)
            passages.append(Passage(line, _text_of(token), kind, block, section, above))
        elif token.type == "html_block":
            passages.append(Passage(line, token.content, "html", block, section))
    return passages


def _tokens(text: str, above: int = 0) -> Iterator[tuple[int, Token]]:
    """Every token with its line in the file; a readable code block gives those of its text."""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        line = above + (token.map[0] + 1 if token.map else 1)
        if token.type in ("fence", "code_block") and token.info.strip().lower() in _READ_CODE:
            yield from _tokens(token.content, line if token.type == "fence" else line - 1)
        else:
            yield line, token


def _sentence_of_row(header: Sequence[str], cells: Sequence[str]) -> str:
    """The row as a sentence would say it: each cell behind the label of its row and the name of its column."""
    label = next(filter(None, cells), "")
    parts = []
    for head, cell in zip(header, cells, strict=True):
        if not _OTHER_COLUMN.search(head):
            named = [head] if cell == label else [head, label] if CONTROL.fullmatch(label) else [label, head]
            parts.append(f"{_NUMBER.sub('', ' '.join(named))}: {cell}")
    return " | ".join(parts)


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
        elif child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "html_inline":
            parts.append(" ")
    return "".join(parts)
