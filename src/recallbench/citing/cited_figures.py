"""The figures of a Markdown text, each with its line and the result folders that are named for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from recallbench.citing.figure_grammar import (
    MEASURE,
    PLAIN_NUMBER,
    SHARE,
    CitedFigure,
    NamedFolder,
    figures_in,
    is_control,
    words_not_read,
)

_PATH = re.compile(r"[\w.+~:/%-]*[A-Za-z][\w.+~:/-]*(?<![.:])")
_CLAIMED_PATH = re.compile(r"(?:.*/)?results/[\w.+-]+.*|(?:[\w.+-]+/)*[\w.+-]+_\d{8}\w*")
_BESIDE = re.compile(r"\b(?:interval|CI|n)\b", re.IGNORECASE)
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[A-Z\[*`(])|$)", re.DOTALL)
_ROW = re.compile(r".+", re.DOTALL)
_INLINE = ("inline", "link", "strong", "em")


_Folders = Sequence[NamedFolder]


class FigureReader:
    """Reads the figures of a text; `locate` returns the result folder that a word means, or None.

    A figure belongs to the folder in its sentence, paragraph, list item or row, else to the one around it: in the list
    item above, beside the list or table, or in the heading.
    """

    def __init__(self, locate: Callable[[str], Path | None]) -> None:
        self._locate = locate

    def read(self, text: str) -> Iterator[CitedFigure]:
        """Yield every figure of a Markdown or plain text, in order."""
        sections: list[list[SyntaxTreeNode]] = [[]]
        for block in SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text)).children:
            if block.type == "heading":
                sections.append([])
            sections[-1].append(block)
        for blocks in sections:
            section = "\n".join(map(_text_of, blocks))
            for figure in self._read_blocks(blocks, self._named_by("heading", blocks[:1])):
                figure.section = section
                yield figure

    def _figures(self, line: int, text: str, around: _Folders, row: str | None = None) -> Iterator[CitedFigure]:
        """Yield the figures of a passage; `row` is the first cell of a table's row."""
        own = self._folders_in(text)
        for sentence in (_SENTENCE if row is None else _ROW).finditer(text):
            folders = self._folders_in(sentence[0]) or own or around
            for figure in figures_in(self._without_folders(sentence[0])):
                # Without a folder, only what is surely the figure of a measure needs one.
                if not folders and (not figure.names or not figure.is_value or words_not_read(figure)):
                    continue
                if row and folders and not own:
                    # The folder is that of the table: by its label, the row may be of another thing.
                    figure.between = f"{MEASURE.sub(' ', row)} {figure.between}"
                figure.folders = list({folder.path or folder.text: folder for folder in folders}.values())
                figure.line = line + text.count("\n", 0, sentence.start() + figure.start)
                figure.row = row or ""
                yield figure

    def _folders_in(self, text: str) -> list[NamedFolder]:
        """Return the result folders that a text names, also those that are not there."""
        words = [NamedFolder(word, self._locate(word)) for word in _PATH.findall(text)]
        return [folder for folder in words if folder.path is not None or _CLAIMED_PATH.fullmatch(folder.text)]

    def _without_folders(self, text: str) -> str:
        """Return the text with spaces in the place of folders."""
        return _PATH.sub(lambda match: " " * len(match[0]) if self._folders_in(match[0]) else match[0], text)

    def _named_by(self, kind: str, blocks: Sequence[SyntaxTreeNode]) -> _Folders:
        return [folder for block in blocks if block.type == kind for folder in self._folders_in(_text_of(block))]

    def _read_blocks(self, blocks: Sequence[SyntaxTreeNode], around: _Folders) -> Iterator[CitedFigure]:
        for i, block in enumerate(blocks):
            before = self._named_by("paragraph", blocks[max(0, i - 1) : i])
            outer = before or around or self._named_by("paragraph", blocks[i + 1 : i + 2])
            if block.type in ("paragraph", "heading"):
                yield from self._figures(_line(block), _text_of(block), around)
            elif block.type == "table":
                yield from self._read_rows([row for part in block.children for row in part.children], outer)
            elif block.type == "blockquote":
                yield from self._read_blocks(block.children, around)
            elif block.type in ("bullet_list", "ordered_list"):
                beside = self._beside([_text_of(item) for item in block.children], outer)
                for item in block.children:
                    yield from self._read_blocks(item.children, beside)

    def _read_rows(self, rows: Sequence[SyntaxTreeNode], outer: _Folders) -> Iterator[CitedFigure]:
        table = [[_text_of(cell).strip() for cell in row.children] for row in rows]
        texts = ["\n".join(cells) for cells in table]
        # Chance and ceiling belong to the systems beside whose rows they stand.
        inside, beside = self._folders_in("\n".join(texts)), self._beside(texts, outer)
        for row, cells in list(zip(rows, table, strict=True))[1:]:
            label = next(filter(None, cells), "")
            around = inside if inside and is_control(label) else beside
            yield from self._figures(_line(row), _sentence_of_row(table[0], cells, label), around, label)

    def _beside(self, texts: Sequence[str], outer: _Folders) -> _Folders:
        """Return the folders for items or rows without any: of those that hold no figure, else the outer ones."""
        bare = [text for text in texts if not SHARE.search(self._without_folders(text))]
        return self._folders_in("\n".join(bare)) if self._folders_in("\n".join(texts)) else outer


def _sentence_of_row(header: Sequence[str], cells: Sequence[str], label: str) -> str:
    """Return the row as a sentence would say it: each cell behind the name of its column, and of its row's measure."""
    sentence = ""
    for head, cell in zip(header, cells, strict=True):
        # An interval or n is of the figure in the column before.
        is_beside = _BESIDE.search(head) is not None and not MEASURE.search(head)
        if cell != label and MEASURE.search(label) and not is_beside:
            head = f"{label} {head}"
        elif cell != label and MEASURE.search(head) and is_control(label):
            head = f"{head} {label}"
        percent = "%" if "%" in head and PLAIN_NUMBER.fullmatch(cell) else ""
        sentence += f"{',' if is_beside else ' |'} {head}: {cell}{percent}"
    return sentence


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
