"""The figures of a text, each with its line and the result folder that is named for it.

A figure belongs to the folder in its sentence or passage, else to the one around it: in the list item above, around
the list or table, or in the heading. A figure that could belong to several is not placed, and says why. No file is
read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recallbench.citing.figure_grammar import TOKEN, CitedFigure, NamedFolder, figures_in
from recallbench.citing.passages import CONTROL, Passage, read_passages

Locate = Callable[[str], Path | None]
"""Returns the result folder that a word of the text names, or None."""

_PATH = re.compile(r"[\w.+~:/%-]*[A-Za-z][\w.+~:/%-]*")
_CLAIMED_PATH = re.compile(r"(?:.*/)?results/[\w.+-]+.*|(?:[\w.+-]+/)*[\w.+-]+_\d{8}\w*")
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[A-Z\[*`(])|$)", re.DOTALL)
_ROW = re.compile(r".+", re.DOTALL)


def read_figures(text: str, locate: Locate) -> tuple[CitedFigure, ...]:
    """Return every figure of a Markdown or plain text, in order."""
    passages = read_passages(text)
    named = [_folders_in(passage.text, locate) for passage in passages]
    figures = []
    for i, passage in enumerate(passages):
        section = "\n".join(other.text for other in passages if other.section == passage.section)
        around = named[i] or _folders_around(i, passages, named)
        for sentence in (_ROW if passage.kind == "row" else _SENTENCE).finditer(_without(passage.text, named[i])):
            start, end = sentence.span()
            inside = [folder for folder in named[i] if start <= folder.start < end]
            for figure in _with_folders(figures_in(sentence[0]), _distinct(inside or around)):
                if figure.names or around:
                    line = passage.line + passage.text.count("\n", 0, start + figure.start)
                    unplaced = "it stands in HTML" if passage.kind == "html" else figure.unplaced
                    figures.append(replace(figure, line=line, row=passage.label, section=section, unplaced=unplaced))
    return tuple(figures)


def _folders_in(text: str, locate: Locate) -> list[NamedFolder]:
    """The result folders that a text names, also those that are not there."""
    folders = []
    for match in _PATH.finditer(text):
        word = match[0].rstrip(".,:%")
        path = locate(word)
        if path is not None or _CLAIMED_PATH.fullmatch(word):
            folders.append(NamedFolder(match.start(), word, path))
    return folders


def _without(text: str, folders: Iterable[NamedFolder]) -> str:
    for folder in folders:
        text = text[: folder.start] + " " * len(folder.text) + text[folder.start + len(folder.text) :]
    return text


def _distinct(folders: Iterable[NamedFolder]) -> tuple[NamedFolder, ...]:
    distinct: dict[Path | str, NamedFolder] = {}
    for folder in folders:
        distinct.setdefault(folder.path or folder.text, folder)
    return tuple(distinct.values())


def _folders_around(
    i: int, passages: Sequence[Passage], named: Sequence[Sequence[NamedFolder]]
) -> Sequence[NamedFolder]:
    """The folders that a passage which names none belongs to."""
    passage = passages[i]
    if passage.above is not None:
        return named[passage.above] or _folders_around(passage.above, passages, named)
    section = [j for j, other in enumerate(passages) if other.section == passage.section]

    def within(block: int) -> list[NamedFolder]:
        return [folder for j in section if passages[j].block == block for folder in named[j]]

    heading = [folder for j in section if passages[j].kind == "heading" for folder in named[j]]
    if passage.kind not in ("item", "row"):
        return heading
    if beside := within(passage.block):
        # Beside rows with folders of their own a row without is another system; but a control belongs to them.
        if CONTROL.fullmatch(passage.label):
            return beside
        block = [j for j in section if passages[j].block == passage.block]
        labels = [j for j in block if not any(token["value"] for token in TOKEN.finditer(passages[j].text))]
        return [folder for j in labels for folder in named[j]]
    return within(passage.block - 1) or heading or within(passage.block + 1)


def _with_folders(figures: Sequence[CitedFigure], folders: tuple[NamedFolder, ...]) -> Iterator[CitedFigure]:
    """The figures of a sentence with their folders: the only one, or as many as its measure has values."""
    for figure in figures:
        alike = [other.start for other in figures if (other.role, other.names) == ("value", figure.names)]
        unplaced, own = "", folders
        if figure.role == "difference":
            unplaced = "" if len(folders) in (0, 2) else "a difference needs the folders of both results"
        elif len(folders) > 1 and figure.role == "value" and len(alike) == len(folders):
            own = (folders[alike.index(figure.start)],)
        elif len(folders) > 1:
            unplaced = "several folders are named for it"
        elif figure.repeated and figure.names:
            unplaced = f"several figures are given for {figure.names[0].text}"
        yield replace(figure, folders=own, unplaced=figure.unplaced or unplaced)
