"""What a text says of where its figures are from: `<!-- recallbench: figures from ... -->`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recallbench.errors import InputError

Origin = Literal["commands", "others", "samples", "files"]
WORDS: dict[str, Origin] = {"commands": "commands", "others": "others", "samples": "samples"}
FORM = "<!-- recallbench: figures from commands|others|samples|FILE.csv -->"
_COMMENT = re.compile(r"<!--\s*recallbench:(?P<text>.*?)-->", re.DOTALL)
_FIGURES = re.compile(r"\s*figures from\s+(?P<origin>\S.*?)\s*", re.DOTALL)
_DATA = (".csv", ".json")
_MAKES_FIGURES = re.compile(
    r"(?m)^\s*(?:\$\s+)?(?:\w+=\S*\s+)*(?:\S*/)?(?:recallbench\s+(?:run|evaluate|score|repeat|versions|grow|latency|sweep"
    r"|matrix|table|compare|multiverse)\b|python3?\s+\S*\.py\b|scripts/\S+)"
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One such comment: it holds for what follows under its heading, and under the deeper ones."""

    line: int
    origin: Origin
    files: tuple[str, ...] = ()
    """The data files as the text names them, where the figures are from files."""
    has_command: bool = False
    """Whether a command that makes figures stands where it holds, or under the headings above."""


def declaration(text: str, line: int) -> Declaration | None:
    """Return what a block of HTML declares, None where it is another; raises InputError for one that can't be read."""
    comment = _COMMENT.search(text)
    if comment is None:
        return None
    said = _FIGURES.fullmatch(comment["text"])
    words = said["origin"].split() if said else []
    if len(words) == 1 and words[0] in WORDS:
        return Declaration(line, WORDS[words[0]])
    files = tuple(word.strip(",") for word in words)
    if files and all(file.endswith(_DATA) for file in files):
        return Declaration(line, "files", files)
    raise InputError(
        f"line {line}: this comment to recallbench can't be read",
        expected=FORM,
        found=" ".join(comment[0].split()),
        remedy="see `recallbench cite --help`",
    )


def makes_figures(code: str) -> bool:
    """Return whether a block of code holds a command that measures something."""
    return _MAKES_FIGURES.search(code) is not None
