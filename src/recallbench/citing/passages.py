"""Markdown cut into passages: paragraphs, list items and rows, each with the result folders around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from recallbench.citing.figure_grammar import MEASURE, PLAIN_NUMBER, SHARE, NamedFolder, is_control

_PATH = re.compile(r"[\w.+~:/%-]*[A-Za-z][\w.+~:/-]*(?<![.:])")
_CLAIMED_PATH = re.compile(r"(?:.*/)?results/[\w.+-]+.*|(?:[\w.+-]+/)*[\w.+-]+_\d{8}\w*")
_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_INLINE = ("inline", "link", "strong", "em")


Folders = Sequence[NamedFolder]


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage without markup; the address of a link stands behind its words."""

    line: int
    text: str
    around: Folders
    """The folders that it stands in or beside, for figures where it names none itself."""
    row: str | None = None
    """The first cell, where it is the row of a table."""
    section: str = ""
    """All that stands under the same heading."""


class PassageReader:
    """Reads passages and the folders they name; `locate` returns the result folder that a word means, or None."""

    def __init__(self, locate: Callable[[str], Path | None]) -> None:
        self._locate = locate

    def read(self, text: str) -> Iterator[Passage]:
        """Yield the passages of a Markdown or plain text in their order."""
        sections: list[list[SyntaxTreeNode]] = [[]]
        for block in SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text)).children:
            if block.type == "heading":
                sections.append([])
            sections[-1].append(block)
        for blocks in sections:
            section = "\n".join(map(_text_of, blocks))
            for passage in self._passages(blocks, self._named_by("heading", blocks[:1])):
                yield replace(passage, section=section)

    def folders_in(self, text: str) -> list[NamedFolder]:
        """Return the result folders that a text names, also those that are not there."""
        words = [NamedFolder(word, self._locate(word)) for word in _PATH.findall(text)]
        return [folder for folder in words if folder.path is not None or _CLAIMED_PATH.fullmatch(folder.text)]

    def without_folders(self, text: str) -> str:
        """Return the text with spaces in the place of folders."""
        return _PATH.sub(lambda match: " " * len(match[0]) if self.folders_in(match[0]) else match[0], text)

    def _named_by(self, kind: str, blocks: Sequence[SyntaxTreeNode]) -> Folders:
        return [folder for block in blocks if block.type == kind for folder in self.folders_in(_text_of(block))]

    def _passages(self, blocks: Sequence[SyntaxTreeNode], around: Folders) -> Iterator[Passage]:
        for i, block in enumerate(blocks):
            before = self._named_by("paragraph", blocks[max(0, i - 1) : i])
            outer = before or around or self._named_by("paragraph", blocks[i + 1 : i + 2])
            if block.type in ("paragraph", "heading"):
                yield Passage(_line(block), _text_of(block), around)
            elif block.type == "html_block":
                yield Passage(_line(block), _TAG.sub(" | ", block.content), outer)
            elif block.type == "table":
                yield from self._rows([row for part in block.children for row in part.children], outer)
            elif block.type == "blockquote":
                yield from self._passages(block.children, around)
            elif block.type in ("bullet_list", "ordered_list"):
                beside = self._beside([_text_of(item) for item in block.children], outer)
                for item in block.children:
                    yield from self._passages(item.children, beside)

    def _rows(self, rows: Sequence[SyntaxTreeNode], outer: Folders) -> Iterator[Passage]:
        table = [[_text_of(cell).strip() for cell in row.children] for row in rows]
        texts = ["\n".join(cells) for cells in table]
        # Chance and ceiling belong to the systems beside whose rows they stand.
        inside, beside = self.folders_in("\n".join(texts)), self._beside(texts, outer)
        for row, cells in list(zip(rows, table, strict=True))[1:]:
            label = next(filter(None, cells), "")
            around = inside if inside and is_control(label) else beside
            yield Passage(_line(row), _sentence_of_row(table[0], cells, label), around, label)

    def _beside(self, texts: Sequence[str], outer: Folders) -> Folders:
        """Return the folders for items or rows without any: of those that hold no figure, else the outer ones."""
        bare = [text for text in texts if not SHARE.search(self.without_folders(text))]
        return self.folders_in("\n".join(bare)) if self.folders_in("\n".join(texts)) else outer


def _sentence_of_row(header: Sequence[str], cells: Sequence[str], label: str) -> str:
    """Return the row as a sentence would say it: each cell behind the name of its column, and of its row's measure."""
    parts = []
    for head, cell in zip(header, cells, strict=True):
        if cell != label and MEASURE.search(label):
            head = f"{label} {head}"
        elif cell != label and MEASURE.search(head) and is_control(label):
            head = f"{head} {label}"
        percent = "%" if "%" in head and PLAIN_NUMBER.fullmatch(cell) else ""
        parts.append(f"{head}: {cell}{percent}")
    return " | ".join(parts)


def _line(node: SyntaxTreeNode) -> int:
    return node.map[0] + 1 if node.map else 1


def _text_of(node: SyntaxTreeNode) -> str:
    """Return the words of a block or inline element; pictures and code blocks hold none."""
    match node.type:
        case "text" | "code_inline":
            return node.content
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return ""
    words = ("" if node.type in _INLINE else "\n").join(map(_text_of, node.children))
    return f"{words} {node.attrs['href']} " if node.type == "link" else words
