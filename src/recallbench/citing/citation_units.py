"""A Markdown or plain text, cut into paragraphs, list items, headings and rows of tables, as a reader sees it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

PROGRAMS = re.compile(r"sh|bash|shell|zsh|console|powershell|bat|toml|ya?ml|jsonl?|python|py|sql|diff|ini|make|c")
"""Languages of code blocks that hold commands and files; any other block is read like the text around it."""

_RULER = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^#{1,6}\s")
_NOTE = re.compile(r"^ {0,3}\[(\^?[^\]\s]+)\]:\s*(.*)$")
_BADGE = re.compile(r"https?://img\.shields\.io/badge/([^\s)\"'?]+)")
"""Its address is what a reader sees."""
_NOTED = re.compile(r"\[(\^[^\]\s]+)\]|(?<=\])\[([^\]\s^]+)\]")

_ONES = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)
_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS = {word: i for i, word in enumerate(_ONES)} | {word: 10 * i for i, word in enumerate(_TENS, 2)}
_WORD = rf"(?:{'|'.join(_NUMBERS)})"
_PERCENT = re.compile(
    rf"\b(?:(?P<all>(?:one |a )?hundred)|(?P<whole>{_WORD}(?:[- ]{_WORD})?))(?: point (?P<rest>{_WORD}(?: {_WORD})*))?"
    r"(?=\s?(?:%|per ?cent\b))",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Unit:
    """One of them, and where it stands."""

    line: int
    text: str
    kind: Literal["prose", "row", "heading"] = "prose"
    cells: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    group: int = 0
    """Of what no blank line parts."""
    section: int = 0
    above: str = ""
    """The list item that this one is indented under."""


def units(text: str) -> Iterator[Unit]:
    """The units in their order; what footnotes and link definitions hold stands where they are referred to, too."""
    lines = [line.rstrip() for line in text.splitlines()]
    notes = {match[1].lower(): match[2] for line in lines if (match := _NOTE.match(line))}
    group = section = 0
    open_fence, skipping = "", False
    pending: Unit | None = None
    header: list[str] = []
    items: list[tuple[int, Unit]] = []
    for number, line in enumerate(lines, 1):
        fence = re.match(r"^\s*(```+|~~~+)\s*(\S*)", line)
        if fence and (not open_fence or (line.strip().startswith(open_fence) and not fence[2])):
            if pending:
                yield pending
                pending = None
            language = fence[2].strip("{}.").lower()
            open_fence, skipping = ("", False) if open_fence else (fence[1], bool(PROGRAMS.fullmatch(language)))
            group += 1
            continue
        if skipping:
            continue
        # A bullet is no minus.
        plain = _plain(_with_notes(_ITEM.sub(r"\1", line), notes))
        row = plain.lstrip().startswith("|") or (bool(header) and "|" in plain)
        if not row and "|" in plain and number < len(lines):
            # Bars at the ends are optional; the ruler below tells that it is a table.
            row = "|" in lines[number] and bool(_RULER.match(lines[number]))
        item = _ITEM.match(line)
        starts = not line.strip() or row or bool(item) or bool(_HEADING.match(line))
        if pending and starts:
            yield pending
            pending = None
        if not line.strip():
            group, header = group + 1, []
        elif _HEADING.match(line):
            section, group, header, items = section + 1, group + 1, [], []
            yield Unit(number, plain, "heading", group=group, section=section)
        elif row and _RULER.match(line):
            continue
        elif row:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", plain.strip().strip("|"))]
            if not header:
                header = cells
                yield Unit(number, plain, "heading", group=group, section=section)
            else:
                yield Unit(number, plain, "row", cells, header, group, section)
        elif pending:
            pending.text += "\n" + plain
        else:
            header = []
            pending = Unit(number, plain, group=group, section=section)
            indent = len(item[1].expandtabs()) if item else 0
            items = [(depth, unit) for depth, unit in items if depth < indent]
            if item:
                pending.above = items[-1][1].text if items else ""
                items.append((indent, pending))
    if pending:
        yield pending


def _with_notes(line: str, notes: dict[str, str]) -> str:
    if _NOTE.match(line):
        return line
    return _NOTED.sub(lambda found: f"{found[0]} {notes.get((found[1] or found[2]).lower(), '')} ", line)


def _plain(line: str) -> str:
    """Without emphasis and code marks, and without what hides: hidden figures are figures all the same."""
    line = html.unescape(line).replace("\n", " ").replace("\r", " ")
    line = "".join(
        unicodedata.normalize("NFKC", one) if "\uff00" <= one <= "\uffef" else one
        for one in line
        if unicodedata.category(one) != "Cf"
    )
    if re.search(r"<t[dh]\b", line, re.IGNORECASE) and re.search(r"</tr>", line, re.IGNORECASE):
        line = "|" + re.sub(r"</?t[dh]\b[^>]*>\s*(?:<t[dh]\b[^>]*>)?", " | ", line, flags=re.IGNORECASE)
        line = re.sub(r"\|\s*\|", "|", re.sub(r"</?(?:table|thead|tbody|tr)\b[^>]*>", " ", line, flags=re.IGNORECASE))
    line = re.sub(r"</?(?:b|i|em|strong|code|td|tr|th|br|p|li|span)\b[^>]*>", " ", line, flags=re.IGNORECASE)
    line = re.sub(r"(?<![\w/])_{1,2}(?=[\d.(])|(?<=[\d%)])_{1,2}(?![\w/])", " ", line)
    line = _BADGE.sub(lambda found: re.sub(r"[-_]+", " ", unquote(found[1])), line)
    line = _PERCENT.sub(_digits, line)
    return re.sub(r"\*+|`+", "", line).replace("\u00a0", " ")


def _digits(found: re.Match[str]) -> str:
    """The number that these words say."""
    whole = 100 if found["all"] else sum(_NUMBERS[word] for word in re.split(r"[- ]", found["whole"].lower()))
    rest = "".join(str(_NUMBERS[word]) for word in (found["rest"] or "").lower().split())
    return f"{whole}.{rest}" if rest else str(whole)
