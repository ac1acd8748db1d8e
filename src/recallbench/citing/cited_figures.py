"""The figures of a Markdown text, each with its line and the result folders that are named for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from recallbench.citing.figure_grammar import (
    MEASURE,
    PAIR,
    PLAIN_NUMBER,
    SHARE,
    CitedFigure,
    NamedFolder,
    figures_in,
    is_control,
    words_not_read,
)
from recallbench.citing.rule_words import IS_A_RULE
from recallbench.citing.section import Section, line_of, sections_of, text_of

_PATH = re.compile(r"[\w.+~:/%-]*[A-Za-z][\w.+~:/-]*(?<![.:])")
_CLAIMED_PATH = re.compile(r"(?:.*/)?results/[\w.+-]+.*|(?:[\w.+-]+/)*[\w.+-]+_\d{8}\w*")
_BESIDE = re.compile(r"\b(?:interval|CI|n)\b", re.IGNORECASE)
_INTERVAL_OF = re.compile(r"\W*(?:95\s?%\s*)?(?:confidence\s*)?(?:interval|CI)\s+(?:of|for)\b", re.IGNORECASE)
_OF_THE_MEASURE = re.compile(
    r"value|estimate|score|chance|random(?: order)?|ceiling|oracle|bm25(?: control)?", re.IGNORECASE
)
_SAMPLE = re.compile(r"\b(?:prints?|printed|sample|output|looks? like)\b[^.!?]*:$", re.IGNORECASE)
"""What ends a paragraph before a table that is shown as output."""
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[A-Z\[*`(])|$)", re.DOTALL)
_ROW = re.compile(r".+", re.DOTALL)


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
        for section in sections_of(SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text)).children):
            beside = self._named_near(section)
            for figure in self._read_blocks(section.blocks, self._named_by("heading", section.blocks[:1])):
                figure.section, figure.around = section.text, "\n".join(part.text for part in section.path)
                figure.headings = [part.heading for part in section.path if part.heading]
                figure.declared = section.declared_at(figure.line)
                figure.nearby = () if figure.folders else beside
                # Prose is no output: what it says is a claim, whatever is declared.
                is_sample = figure.in_table and figure.declared is not None and figure.declared.origin == "samples"
                if not is_sample or any(folder.path for folder in figure.folders):
                    yield figure

    def _figures(self, line: int, text: str, around: _Folders, row: str | None = None) -> Iterator[CitedFigure]:
        """Yield the figures of a passage; `row` is the first cell of a table's row."""
        own = self._folders_in(text)
        for sentence in (_SENTENCE if row is None else _ROW).finditer(text):
            named = self._folders_in(sentence[0])
            folders = named or own or around
            for figure in figures_in(self._without_folders(sentence[0])):
                # With a folder beside it, a rule may be read as what that folder has.
                if (figure.is_rule and not named) or (figure.is_threshold and not folders):
                    continue
                # Without a folder, only what is surely the figure of a measure needs one.
                if not folders and (not figure.names or not figure.is_value or words_not_read(figure)):
                    continue
                if row and folders and not own:
                    # The folder is that of the table: by its label, the row may be of another thing.
                    figure.between = f"{MEASURE.sub(' ', row)} {figure.between}"
                figure.folders = list({folder.path or folder.text: folder for folder in folders}.values())
                figure.line = line + text.count("\n", 0, sentence.start() + figure.start)
                figure.row, figure.in_table = row or "", row is not None
                yield figure

    def _folders_in(self, text: str) -> list[NamedFolder]:
        """Return the result folders that a text names, also those that are not there."""
        words = [NamedFolder(word, self._locate(word)) for word in _PATH.findall(text)]
        return [folder for folder in words if folder.path is not None or _CLAIMED_PATH.fullmatch(folder.text)]

    def _without_folders(self, text: str) -> str:
        """Return the text with spaces in the place of folders."""
        return _PATH.sub(lambda match: " " * len(match[0]) if self._folders_in(match[0]) else match[0], text)

    def _named_near(self, section: Section) -> _Folders:
        """Return the folders, which are there, in this section, else in the nearest above it that names any."""
        for part in section.path:
            if named := [folder for folder in self._folders_in("\n".join([part.text, *part.code])) if folder.path]:
                return named
        return ()

    def _named_by(self, kind: str, blocks: Sequence[SyntaxTreeNode]) -> _Folders:
        return [folder for block in blocks if block.type == kind for folder in self._folders_in(text_of(block))]

    def _read_blocks(self, blocks: Sequence[SyntaxTreeNode], around: _Folders) -> Iterator[CitedFigure]:
        for i, block in enumerate(blocks):
            before = self._named_by("paragraph", blocks[max(0, i - 1) : i])
            outer = before or around or self._named_by("paragraph", blocks[i + 1 : i + 2])
            if block.type in ("paragraph", "heading"):
                yield from self._figures(line_of(block), text_of(block), around)
            elif block.type == "table" and not self._is_sample(blocks[max(0, i - 1) : i], block):
                yield from self._read_rows([row for part in block.children for row in part.children], outer)
            elif block.type == "blockquote":
                yield from self._read_blocks(block.children, around)
            elif block.type in ("bullet_list", "ordered_list"):
                beside = self._beside([text_of(item) for item in block.children], outer)
                for item in block.children:
                    yield from self._read_blocks(item.children, beside)

    def _is_sample(self, before: Sequence[SyntaxTreeNode], table: SyntaxTreeNode) -> bool:
        """Return whether the paragraph right before a table that names no folder says that it is printed output."""
        said = [text_of(block).strip() for block in before if block.type == "paragraph"]
        return any(map(_SAMPLE.search, said)) and not self._folders_in("\n".join([*said, text_of(table)]))

    def _read_rows(self, rows: Sequence[SyntaxTreeNode], outer: _Folders) -> Iterator[CitedFigure]:
        table = [[text_of(cell).strip() for cell in row.children] for row in rows]
        texts = ["\n".join(cells) for cells in table]
        if table[0] and IS_A_RULE.fullmatch(table[0][0]) and not self._folders_in("\n".join(texts)):
            return
        # Chance and ceiling belong to the systems beside whose rows they stand.
        inside, beside = self._folders_in("\n".join(texts)), self._beside(texts, outer)
        for row, cells in list(zip(rows, table, strict=True))[1:]:
            label = next(filter(None, cells), "")
            around = inside if inside and is_control(label) else beside
            yield from self._figures(line_of(row), _sentence_of_row(table[0], cells, label), around, label)

    def _beside(self, texts: Sequence[str], outer: _Folders) -> _Folders:
        """Return the folders for items or rows without any: of those that hold no figure, else the outer ones."""
        bare = [text for text in texts if not SHARE.search(self._without_folders(text))]
        return self._folders_in("\n".join(bare)) if self._folders_in("\n".join(texts)) else outer


def _sentence_of_row(header: Sequence[str], cells: Sequence[str], label: str) -> str:
    """Return the row as a sentence would say it: each cell behind the name of its column, and of its row's measure."""
    sentence = ""
    named = MEASURE.search("\n".join(header)) is not None
    measure = next((cell for head, cell in zip(header, cells, strict=True) if _is_measure_column(head, cell)), "")
    alone = {name[0].lower(): name[0] for head in header for name in MEASURE.finditer(head)}
    if not measure and len(alone) == 1 and not MEASURE.search(label):
        (measure,) = alone.values()  # chance and BM25 beside it are of the one measure that the table has
    for head, cell in _in_order(header, cells):
        # An interval or n is of the figure in the column before.
        is_interval = _is_interval_of_a_measure(head, cell)
        is_beside = is_interval or (_BESIDE.search(head) is not None and not MEASURE.search(head))
        of_the_measure = _OF_THE_MEASURE.fullmatch(head) is not None
        if measure and cell not in (measure, label) and of_the_measure:
            head = f"{measure} {head}"
        elif cell != label and MEASURE.search(label) and not is_beside:
            head = f"{label} {head}"
        elif cell != label and MEASURE.search(head) and is_control(label):
            head = f"{head} {label}"
        elif named and cell != label and not (is_beside or of_the_measure or MEASURE.search(head)):
            cell = SHARE.sub(" ", cell)  # seconds, a share of something else
        percent = "%" if "%" in head and PLAIN_NUMBER.fullmatch(cell) else ""
        words = MEASURE.sub(" ", head) if is_interval else head
        sentence += f"{',' if is_beside else ' |'} {words}: {cell}{percent}"
    return sentence


def _in_order(header: Sequence[str], cells: Sequence[str]) -> list[tuple[str, str]]:
    """Return the columns, an interval that names its measure right behind that measure's."""
    ordered: list[tuple[str, str]] = []
    intervals: list[tuple[str, str]] = []
    for column in zip(header, cells, strict=True):
        (intervals if _is_interval_of_a_measure(*column) else ordered).append(column)
    for head, cell in intervals:
        name = MEASURE.findall(head)
        places = [i for i, (other, _) in enumerate(ordered) if MEASURE.findall(other) == name]
        ordered.insert(places[0] + 1 if places else len(ordered), (head, cell))
    return ordered


def _is_interval_of_a_measure(head: str, cell: str) -> bool:
    """Return whether the column has the intervals, and nothing but them, of the measure in its header."""
    if len(MEASURE.findall(head)) != 1:
        return False
    return _INTERVAL_OF.match(head) is not None or (
        _BESIDE.search(head) is not None and PAIR.fullmatch(cell) is not None
    )


def _is_measure_column(head: str, cell: str) -> bool:
    """Return whether the column says which measure a row is of."""
    return head.lower() in ("measure", "metric") and MEASURE.fullmatch(cell) is not None
