"""Figures in the tables of a report, by the measure that their row or column names. Prose is not read."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import Text, plain
from recallbench.reading import document, regular

_MENTION = re.compile(
    r"(?<![\w.])(?:(?:recall|hit[ _-]rate|hits?|success|precision|ndcg|mrr|recip_rank|map|f1)"
    r"(?:_(?:any|all|frac|cut|rate))?(?:(?:\s*@\s*|_at_|\s+at\s+|_?)[0-9]+(?![.\w]))?(?![\w(])"
    r"|[rp]\s?@\s?[0-9]+(?![.\w]))",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.@])(?P<sign>[+\-\u2212]?)(?P<value>(?:[0-9]+\.[0-9]+|[01],[0-9]{2,}|\.[0-9]+|[0-9]+)(?:e[+-]?[0-9]{1,3})?)"
    r"(?P<percent>\s*(?:%|percent\b))?(?![\w@]|\.[0-9])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[\[(]\s*([0-9.]+)\s*(?:,|to|\u2013|-)\s*([0-9.]+)\s*[\])]")
_LINK = re.compile(r"(?:[\s:=\u2248~\u2192`_|(]|is|was|of|reaches|reached|equals|scores?|scored)*", re.IGNORECASE)
_OTHER = re.compile(r"baseline|previous|delta|\u0394|target|compar|change|diff", re.IGNORECASE)
_INTERVAL = re.compile(r"\bci\b|ci95|\bcis\b|interval|confidence", re.IGNORECASE)
_LEVEL = re.compile(r"\s*(?:cis?\b|confidence|interval)", re.IGNORECASE)
_LEVELS = (0.9, 0.95, 0.99)
_COUNTED = re.compile(r"n|#|count|questions|queries|items|rows", re.IGNORECASE)
_SIZE = re.compile(r"\bn\s*=\s*[0-9][0-9,_]*", re.IGNORECASE)
"""How many questions a figure is over, beside the figure."""
_QUALIFIED = re.compile(r"\s+(?!(?:overall|all|total|mean|average|value|is|was|of|reaches|reached|equals)\b)[A-Za-z]")
"""Words behind a measure's name that make it another thing, such as `F1 token overlap`."""
_WHOLE = re.compile(r"|overall|all|total|mean|average|value", re.IGNORECASE)
_RULE = frozenset(" \t|:-")
_MARKS = re.compile(r"\*\*|__|`|\*")
_TELLING = 3
"""Decimals that make a number a figure although no measure is named near it."""
_LARGEST = 1 << 22
_FINEST = 12
_DOCUMENTS = (".json", ".csv", ".tsv", ".html", ".htm", ".xml", ".yaml", ".yml")
NO_REPORT = ("blocked.md", "deprecated.md")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that stands by the name of a measure."""

    name: str
    value: float
    decimals: int
    where: str
    label: str = ""
    """The part of the questions its row names; empty where it names none."""
    low: float | None = None
    high: float | None = None
    plain: bool = True
    """Neither a difference nor the end of an interval."""
    other: bool = False
    """Its column or row is that of another run, or of a difference."""
    group: int = 0
    """Alike for figures of one row."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the tables of a text say in numbers."""

    figures: tuple[Figure, ...] = ()
    loose: tuple[Text, ...] = ()
    """Numbers that look like figures but stand by no measure."""


def reports(folder: Path, plain_texts: bool) -> tuple[Text, ...]:
    """The folder's texts in Markdown, and its plain ones if asked; raises InputError for what is no text."""
    ends = (".md", ".markdown", ".rst", *((".txt",) if plain_texts else ()))
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.lower().endswith(ends) and path.name.lower() not in NO_REPORT:
            raw = document(regular(path))
            if len(raw) > _LARGEST:
                raise _refusal(path, f"at most {_LARGEST:,} bytes", f"{len(raw):,}")
            try:
                found.append(Text(path.name, raw.decode("utf-8")))
            except UnicodeDecodeError as error:
                raise _refusal(path, "UTF-8", f"byte {raw[error.start]:#04x} at {error.start}") from None
    return tuple(found)


def overlooked(folder: Path, read: Sequence[str]) -> tuple[Text, ...]:
    """Other files that may hold claims, by name: tables, pages and documents that nobody reads here."""
    return tuple(
        Text(path.name, "a file of no known form")
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in _DOCUMENTS and path.name not in read
    )


def _refusal(path: Path, expected: str, found: str) -> InputError:
    return InputError(f"{path}: can't be read", expected=expected, found=found)


def told(texts: Sequence[Text]) -> Told:
    """The figures of the tables in these texts, by line."""
    figures: list[Figure] = []
    loose: list[Text] = []
    for number, text in enumerate(texts):
        for found in _tables(text.text, number << 24):
            place = f"{text.where} line {found.where}"
            if isinstance(found, Figure):
                figures.append(replace(found, where=place))
            else:
                loose.append(Text(place, found.text))
    return Told(tuple(figures), tuple(loose))


def _tables(text: str, group: int) -> Iterator[Figure | Text]:
    """Every figure of every run of lines with cells."""
    header: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = _MARKS.sub("", unicodedata.normalize("NFKC", line))
        if line.count("|") < 2:
            header = []
        elif not (_RULE.issuperset(line) and "-" in line):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if header:
                yield from _row(header, cells, group + number, str(number))
            else:
                header = cells
                for cell in cells:
                    yield from _cell(cell, group + number, str(number))


@dataclass(frozen=True, slots=True)
class _Number:
    value: float
    decimals: int
    begin: int
    end: int
    text: str
    signed: bool
    marked: bool
    """A fraction or a percentage, not a whole number."""


def _numbers(text: str) -> list[_Number]:
    found = []
    for match in _NUMBER.finditer(text):
        digits = match["value"].replace(",", ".")
        mantissa, _, power = digits.lower().partition("e")
        decimals = min(max(0, len(mantissa.partition(".")[2]) - int(power or 0)), _FINEST)
        value, percent = float(digits), bool(match["percent"])
        if percent and value / 100 in _LEVELS and _LEVEL.match(text, match.end()):
            continue
        if percent:
            value, decimals = value / 100, decimals + 2
        marked = percent or "." in digits
        found.append(
            _Number(value, decimals, match.start(), match.end(), match[0].strip(), bool(match["sign"]), marked)
        )
    return found


def _cell(cell: str, group: int, where: str) -> Iterator[Figure]:
    """The figures of a cell that names their measure itself, such as `recall@10: 0.97`."""
    mentions = [one for one in _MENTION.finditer(cell) if not _QUALIFIED.match(cell, one.end())]
    ends = [one.end() for one in mentions]
    for number in _numbers(cell):
        before = bisect_right(ends, number.begin) - 1
        if before >= 0:
            named = mentions[before]
            alone = not number.signed and _LINK.fullmatch(cell, named.end(), number.begin) is not None
            if number.marked or alone:
                yield Figure(plain(named[0]), number.value, number.decimals, where, plain=alone, group=group)


def _measure(cell: str) -> re.Match[str] | None:
    """The measure that a heading or the name of a row stands for; none where other words make it another thing."""
    found = _MENTION.search(cell)
    return None if found is None or _QUALIFIED.match(cell, found.end()) else found


def _row(header: Sequence[str], cells: Sequence[str], group: int, where: str) -> Iterator[Figure | Text]:
    of_row = _measure(cells[0])
    label = "" if of_row or _WHOLE.fullmatch(cells[0]) else cells[0]
    bounds = next((_RANGE.search(cell) for j, cell in enumerate(cells) if _INTERVAL.search(_at(header, j))), None)
    for j, cell in enumerate(cells):
        head = _at(header, j)
        of_column = _measure(head) if j else None
        inside = _measure(cell) if j else None
        if j == 0 or inside:
            yield from _cell(cell, group, where)
            continue
        named = of_column or of_row
        known = _RANGE.search(cell) or (bounds if of_row and not of_column else None)
        interval = _INTERVAL.search(head) is not None and of_column is None
        if interval and bounds is not None:
            continue
        counts = _COUNTED.fullmatch(head) is not None
        for number in _numbers(_SIZE.sub("", _RANGE.sub("", cell))):
            if named is None:
                if number.marked and number.value <= 1.0 and number.decimals >= _TELLING:
                    yield Text(where, f"{head}: {number.text}")
            elif number.marked or not counts:
                other = _OTHER.search(head) is not None or (not of_row and _OTHER.search(cells[0]) is not None)
                low, high = (
                    (float(known[1]), float(known[2])) if known and not other and _is_pair(known) else (None, None)
                )
                yield Figure(
                    plain(named[0]),
                    number.value,
                    number.decimals,
                    where,
                    label,
                    low,
                    high,
                    plain=not number.signed and not interval,
                    other=other,
                    group=group,
                )


def _at(header: Sequence[str], place: int) -> str:
    return header[place] if place < len(header) else ""


def _is_pair(found: re.Match[str]) -> bool:
    return all(text.count(".") < 2 and text.strip(".") for text in (found[1], found[2]))
