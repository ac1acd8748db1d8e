"""Figures in the tables of reports, by the measure in their row or column. Prose is not read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import InputError
from recallbench.foreign.layouts.layout import ReportText, Unread
from recallbench.foreign.names import MENTION, plain
from recallbench.reading import document, regular

_NUMBER = re.compile(
    r"(?<![\w.@])(?P<sign>[+\-\u2212]?)(?P<value>(?:[0-9]+\.[0-9]+|[01],[0-9]{2,}|\.[0-9]+|[0-9]+)(?:e[+-]?[0-9]{1,3})?)"
    r"(?P<percent>\s*(?:%|percent\b))?(?![\w@]|\.[0-9])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[\[(]\s*([0-9]*\.?[0-9]+)\s*(?:,|to|\u2013|-)\s*([0-9]*\.?[0-9]+)\s*[\])]")
_LINK = re.compile(r"[\s:=~`_|(]*(?:is|was|of)?\s*", re.IGNORECASE)
_OTHER = re.compile(r"baseline|previous|delta|\u0394|target|compar|change|diff", re.IGNORECASE)
_INTERVAL = re.compile(r"\bci\b|ci95|\bcis\b|interval|confidence", re.IGNORECASE)
_COUNTED = re.compile(r"n|#|count|questions|queries|items|rows", re.IGNORECASE)
_ASIDE = re.compile(r"\bn\s*=\s*[0-9][0-9,_]*|\b9[059]\s?%(?=\s*(?:cis?\b|confidence|interval))", re.IGNORECASE)
"""Numbers of questions and levels of intervals, which are no figures."""
_QUALIFIED = re.compile(r"\s+(?!(?:overall|all|total|mean|average|value|is|was|of)\b)[A-Za-z]")
"""Words behind a measure's name that make it another measure, such as `F1 token overlap`."""
_WHOLE = re.compile(r"|overall|all|total|mean|average|value", re.IGNORECASE)
_RULE = frozenset(" \t|:-")
_MARKS = re.compile(r"\*\*|__|`|\*")
_TELLING = 3
"""From so many decimals on, a number is a figure even without a measure's name."""
_FINEST = 12
_DOCUMENTS = (".json", ".csv", ".tsv", ".html", ".htm", ".xml", ".yaml", ".yml")
NO_REPORT = ("blocked.md", "deprecated.md")


@dataclass(frozen=True, slots=True)
class TableFigure:
    """A number with the name of its measure."""

    name: str
    value: float
    decimals: int
    where: str
    label: str = ""
    """The part of the questions that its row names; empty for all."""
    low: float | None = None
    high: float | None = None
    plain: bool = True
    """Whether it is neither a difference nor the end of an interval."""
    other: bool = False
    """Whether its column or row is of another run, or of a difference."""


@dataclass(frozen=True, slots=True)
class TableNumbers:
    """The numbers in the tables of reports."""

    figures: tuple[TableFigure, ...] = ()
    loose: tuple[Unread, ...] = ()
    """Numbers that look like figures, but have no measure."""
    prose: tuple[str, ...] = ()
    """Reports with text outside their tables, which is not read."""


@dataclass(frozen=True, slots=True)
class _Number:
    value: float
    decimals: int
    begin: int
    text: str
    signed: bool
    marked: bool
    """Whether it is a fraction or a percentage, not a whole number."""


def read_reports(folder: Path, plain_texts: bool) -> tuple[ReportText, ...]:
    """Return the folder's Markdown texts and, with `plain_texts`, its .txt; raises InputError for what is no text."""
    ends = (".md", ".markdown", ".rst", *((".txt",) if plain_texts else ()))
    reports = []
    for path in sorted(folder.iterdir()):
        if path.name.lower().endswith(ends) and path.name.lower() not in NO_REPORT:
            raw = document(regular(path))
            try:
                reports.append(ReportText(path.name, raw.decode("utf-8")))
            except UnicodeDecodeError as error:
                wrong = f"byte {raw[error.start]:#04x} at {error.start}"
                raise InputError(f"{path}: can't be read", expected="UTF-8", found=wrong) from None
    return tuple(reports)


def unread_files(folder: Path, read: Sequence[str]) -> tuple[Unread, ...]:
    """Return the other files that may hold claims, in forms that are not read."""
    return tuple(
        Unread(path.name, "a file of no known form")
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in _DOCUMENTS and path.name not in read
    )


def table_numbers(reports: Sequence[ReportText]) -> TableNumbers:
    """Return the figures of the tables in these reports, with file and line."""
    figures: list[TableFigure] = []
    loose: list[Unread] = []
    prose = []
    for report in reports:
        header: list[str] = []
        for number, line in enumerate(report.text.splitlines(), start=1):
            line = _ASIDE.sub("", _MARKS.sub("", unicodedata.normalize("NFKC", line)))
            if line.count("|") < 2:
                header = []
                if line.strip():
                    prose.append(report.where)
            elif not (_RULE.issuperset(line) and "-" in line):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                where = f"{report.where} line {number}"
                if header:
                    in_row = _row(header, cells, where)
                else:
                    header, in_row = cells, (match for cell in cells for match in _cell(cell, where))
                for match in in_row:
                    if isinstance(match, TableFigure):
                        figures.append(match)
                    else:
                        loose.append(match)
    return TableNumbers(tuple(figures), tuple(loose), tuple(dict.fromkeys(prose)))


def _numbers(text: str) -> Iterator[_Number]:
    for match in _NUMBER.finditer(text):
        digits = match["value"].replace(",", ".")
        mantissa, _, power = digits.lower().partition("e")
        decimals = min(max(0, len(mantissa.partition(".")[2]) - int(power or 0)), _FINEST)
        value, percent = float(digits), bool(match["percent"])
        if percent:
            value, decimals = value / 100, decimals + 2
        yield _Number(value, decimals, match.start(), match[0].strip(), bool(match["sign"]), percent or "." in digits)


def _cell(cell: str, where: str) -> Iterator[TableFigure]:
    """Yield the figures of a cell that names their measure itself, such as `recall@10: 0.97`."""
    mentions = [match for match in MENTION.finditer(cell) if not _QUALIFIED.match(cell, match.end())]
    ends = [match.start() for match in mentions[1:]] + [len(cell)]
    for mention, end in zip(mentions, ends, strict=False):
        behind = cell[mention.end() : end]
        for number in _numbers(behind):
            alone = not number.signed and _LINK.fullmatch(behind, 0, number.begin) is not None
            if number.marked or alone:
                yield TableFigure(plain(mention[0]), number.value, number.decimals, where, plain=alone)


def _measure(cell: str) -> re.Match[str] | None:
    """Return the measure in a heading or row name; None where further words make it another one."""
    match = MENTION.search(cell)
    return None if match is None or _QUALIFIED.match(cell, match.end()) else match


def _row(header: Sequence[str], cells: Sequence[str], where: str) -> Iterator[TableFigure | Unread]:
    of_row = _measure(cells[0])
    label = "" if of_row or _WHOLE.fullmatch(cells[0]) else cells[0]
    heads = [*header, *[""] * len(cells)]
    bounds = next(
        (_RANGE.search(cell) for head, cell in zip(heads, cells, strict=False) if _INTERVAL.search(head)), None
    )
    yield from _cell(cells[0], where)
    for head, cell in list(zip(heads, cells, strict=False))[1:]:
        of_column = _measure(head)
        named = of_column or of_row
        interval = _INTERVAL.search(head) is not None and of_column is None
        if _measure(cell):
            yield from _cell(cell, where)
            continue
        if interval and bounds is not None:
            continue
        other = _OTHER.search(head) is not None or (not of_row and _OTHER.search(cells[0]) is not None)
        known = None if other else _RANGE.search(cell) or (bounds if of_row and not of_column else None)
        low, high = (float(known[1]), float(known[2])) if known else (None, None)
        for number in _numbers(_RANGE.sub("", cell)):
            if named is None:
                if number.marked and number.value <= 1.0 and number.decimals >= _TELLING:
                    yield Unread(where, f"{head}: {number.text}")
            elif number.marked or not _COUNTED.fullmatch(head):
                yield TableFigure(
                    plain(named[0]),
                    number.value,
                    number.decimals,
                    where,
                    label,
                    low,
                    high,
                    plain=not number.signed and not interval,
                    other=other,
                )
