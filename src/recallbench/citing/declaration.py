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
_COMMENTED = re.compile(r"(?:^|\s+)#.*")
_VARIABLE = re.compile(r"\$[{\w]")
_OTHER_COMMAND = re.compile(r"\s*(?:\$\s+)?(?:\w+=\S*\s+)*(?:\S*/)?recallbench\s|\s*$")
_MAKES_FIGURES = re.compile(
    r"\s*(?:\$\s+)?(?:\w+=\S*\s+)*(?:\S*/)?(?:recallbench\s+(?:run|evaluate|score|repeat|versions|grow|latency|sweep"
    r"|matrix|table|compare|multiverse)\b|python3?\s+\S*\.py\b|scripts/\S+)"
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One such comment: it holds for what follows under its heading, and under the deeper ones."""

    line: int
    origin: Origin
    files: tuple[str, ...] = ()
    """The data files as the text names them, where the figures are from files."""
    commands: str = ""
    """The commands that make figures where it holds, and under the headings above."""


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


def measuring(code: str) -> str:
    """Return the commands of a block of code that measure something, without comments, a line for each.

    Where one takes what it measures from a variable, so that the lines around it tell, those are returned too.
    """
    lines = [_COMMENTED.sub("", line) for line in re.sub(r"\\\n\s*", " ", code).splitlines()]
    found = [line for line in lines if _MAKES_FIGURES.match(line)]
    if any(_VARIABLE.search(line) for line in found):
        found = [line for line in lines if line in found or not _OTHER_COMMAND.match(line)]
    return "\n".join(found)
