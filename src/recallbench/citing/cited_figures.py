"""The figures of a text, each with its line and the result folders that are named for it. No file is read here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from recallbench.citing.figure_grammar import MEASURE, CitedFigure, figures_in, words_not_read
from recallbench.citing.passages import PassageReader

_SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[A-Z\[*`(])|$)", re.DOTALL)
_ROW = re.compile(r".+", re.DOTALL)


def read_figures(text: str, locate: Callable[[str], Path | None]) -> Iterator[CitedFigure]:
    """Yield every figure of a Markdown or plain text; `locate` returns the result folder that a word means, or None.

    A figure belongs to the folder in its sentence or passage, else to the one around it: in the list item above, around
    the list or table, or in the heading.
    """
    reader = PassageReader(locate)
    for passage in reader.read(text):
        own = reader.folders_in(passage.text)
        for sentence in (_SENTENCE if passage.row is None else _ROW).finditer(passage.text):
            folders = reader.folders_in(sentence[0]) or own or passage.around
            for figure in figures_in(reader.without_folders(sentence[0])):
                # Without a folder, only what is surely the figure of a measure needs one.
                if not folders and (not figure.names or figure.is_amount or words_not_read(figure)):
                    continue
                if passage.row and folders and not own:
                    # The folder is that of the table: by its label, the row may be of another thing.
                    figure.between += MEASURE.sub(" ", f" {passage.row}")
                figure.folders = list({folder.path or folder.text: folder for folder in folders}.values())
                figure.line = passage.line + passage.text.count("\n", 0, sentence.start() + figure.start)
                figure.row, figure.section = passage.row or "", passage.section
                yield figure
