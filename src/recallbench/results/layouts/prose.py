"""Figures in words and tables: what a report says beside the names of measures."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recallbench.errors import InputError
from recallbench.reading import document, regular
from recallbench.results.layouts.layout import Text, plain, speaks_of_a_measure

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
_WHOLE = re.compile(r"|overall|all|total|mean|average|value", re.IGNORECASE)
_DEEP = re.compile(r"[0-9]|mrr")
_RULE = frozenset(" \t|:-")
_MARKS = re.compile(r"\*\*|__|`|\*")
_TELLING = 3
"""Decimals that make a number a figure although no measure is named near it."""
_LARGEST = 1 << 22
_NEAR = 60
"""Characters between a name and its number, at most, where nothing else can be meant."""
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
    """Nothing but the name stands before it, so that it can mean nothing else."""
    other: bool = False
    """Its column or row is that of another run, or of a difference."""
    group: int = 0
    """Alike for figures of one row or paragraph."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a text says in numbers."""

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


def told(texts: Sequence[Text], by_line: bool = True) -> Told:
    """The figures of these texts, by line; without `by_line`, of texts inside a file, where only spoken ones count."""
    figures: list[Figure] = []
    loose: list[Text] = []
    for number, text in enumerate(texts):
        for found in _blocks(text.text, number << 24):
            place = f"{text.where} line {found.where}" if by_line else text.where
            if isinstance(found, Figure):
                figures.append(replace(found, where=place))
            elif by_line:
                loose.append(Text(place, found.text))
    return Told(tuple(figures), tuple(loose))


def _blocks(text: str, group: int) -> Iterator[Figure | Text]:
    lines = [_MARKS.sub("", unicodedata.normalize("NFKC", line)) for line in text.splitlines()]
    start = 0
    while start < len(lines):
        table = lines[start].count("|") > 1
        end = start + 1
        if not lines[start].lstrip().startswith("#"):
            while end < len(lines) and lines[end].strip() and (lines[end].count("|") > 1) == table:
                if lines[end].lstrip().startswith(("#", "- ", "* ", "+ ")):
                    break
                end += 1
        yield from (_table if table else _paragraph)(lines[start:end], group + start, start + 1)
        start = end


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


def _paragraph(lines: Sequence[str], group: int, begin: int) -> Iterator[Figure | Text]:
    text = "\n".join(lines)
    mentions = [(match.start(), match.end(), plain(match[0])) for match in _MENTION.finditer(text)]
    starts = [start for start, _, _ in mentions]
    ranges = [(match.start(), match.end()) for match in _RANGE.finditer(text)]
    opened = [start for start, _ in ranges]
    ends = [match.start() for match in re.finditer("\n", text)]
    spoken = not mentions and speaks_of_a_measure(text)
    bare = "".join(filter(str.isalnum, text)) if not mentions else ""
    for number in _numbers(text):
        last = bisect_right(starts, number.begin) - 1
        if last >= 0 and number.begin < mentions[last][1]:
            continue
        where = str(begin + bisect_right(ends, number.begin))
        share = number.marked and number.value <= 1.0
        if not mentions:
            telling = number.decimals >= _TELLING or number.text.endswith(("%", "t")) or spoken
            if share and (telling or bare == "".join(filter(str.isalnum, number.text))):
                yield Text(where, _around(text, number))
            continue
        near = mentions[max(last, 0)]
        close = 0 <= number.begin - near[1] <= _NEAR
        adjacent = close and not number.signed and _LINK.fullmatch(text[near[1] : number.begin]) is not None
        if share or (adjacent and (number.marked or (number.value <= 1 and _DEEP.search(near[2])))):
            place = bisect_right(opened, number.begin) - 1
            inside = place >= 0 and number.begin < ranges[place][1]
            only = adjacent and not inside
            yield Figure(near[2], number.value, number.decimals, where, plain=only, group=group)


def _around(text: str, number: _Number) -> str:
    words = " ".join(text[max(0, number.begin - 40) : number.end + 20].split())
    return words or number.text


def _table(lines: Sequence[str], group: int, begin: int) -> Iterator[Figure | Text]:
    header: list[str] = []
    for at, line in enumerate(lines):
        if _RULE.issuperset(line) and "-" in line:
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = cells
            for cell in cells:
                yield from _paragraph([cell], group + at, begin + at)
            continue
        yield from _row(header, cells, group + at, str(begin + at))


def _row(header: Sequence[str], cells: Sequence[str], group: int, where: str) -> Iterator[Figure | Text]:
    of_row = _MENTION.search(cells[0])
    label = "" if of_row or _WHOLE.fullmatch(cells[0]) else cells[0]
    bounds = next((_RANGE.search(cell) for j, cell in enumerate(cells) if _INTERVAL.search(_at(header, j))), None)
    for j, cell in enumerate(cells):
        head = _at(header, j)
        of_column = _MENTION.search(head) if j else None
        inside = _MENTION.search(cell) if j else None
        if j == 0 or inside:
            yield from _paragraph([cell], group, int(where))
            continue
        named = of_column or of_row
        known = _RANGE.search(cell) or (bounds if of_row and not of_column else None)
        interval = _INTERVAL.search(head) is not None and of_column is None
        if interval and bounds is not None:
            continue
        counts = _COUNTED.fullmatch(head) is not None
        for number in _numbers(_RANGE.sub("", cell)):
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
