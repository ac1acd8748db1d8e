"""The words of a text that a citation is made of: measures, figures, intervals, counts, hashes and folders."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_NUMBER = r"(?:0?\.\d+|0,\d{2,}|[01]\.\d+|\d{1,3}(?:[.,]\d+)?\s?(?:%|per ?cent\b))"
_ENDS = r"(?![\w%]|[.,]\d)"
_VALUE = re.compile(rf"(?<![\w.,/@-])({_NUMBER}){_ENDS}")
HUNDREDS = re.compile(rf"(?<![\w.,/@-])([1-9]\d\.\d+){_ENDS}")
"""A percentage without its sign; only right behind a measure."""
_WHOLE = re.compile(
    r"(?<![\w.,/@+−-])(\d{1,6}\s?(?:/|out of)\s?[1-9]\d{0,5}|[2-9]\d|100|\d(?:\.\d+)?[eE]-\d)(?![\w%/]|[.,]\d)"
)
"""Forms that are figures only right behind a measure: `recall@10: 97`, `97/100`, `9.7e-1`."""
_POINTS = re.compile(r"(?<![\w.])([+−-]?\s?\d+(?:\.\d+)?\s?(?:percentage points|points|pp))\b")
_SIGNED = re.compile(rf"(?<![\w.])([+−-]\s?{_NUMBER}){_ENDS}")
BETWEEN = r"\s*(?:to|–|—|-|,|;|\.\.+|…|and)\s*"
BOUND = rf"[+−-]?{_NUMBER}"
_INTERVALS = (
    re.compile(rf"(?:interval|\bCI\b)[^\d+−.\[(-]{{0,14}}[\[(]?\s*({BOUND}){BETWEEN}({BOUND})", re.IGNORECASE),
    re.compile(rf"[\[(]\s*(?:95\s?%\s*(?:CI)?:?\s*)?({BOUND}){BETWEEN}({BOUND})\s*[\])]"),
    re.compile(rf"(?<![\w.,/@-])({_NUMBER})\s*(?:–|—|to)\s*({_NUMBER}){_ENDS}(?=\s*[,;)\]|]|\s*$)"),
)
_HALF = re.compile(rf"(?:±|\+/-|\+-)\s*({_NUMBER}){_ENDS}")
_COUNT = re.compile(r"\bn\s*[=:]\s*(\d[\d,  ]*\d|\d)", re.IGNORECASE)
_HASH = re.compile(r"(?<![0-9a-f/_-])(?=[0-9a-f]*\d)([0-9a-f]{12,64})(?![0-9a-z_-])")
_PATH = re.compile(r"[\w.+~:/%-]+")
_MEASURE = re.compile(
    r"(?<![\w/-])(?:(?P<name>recall_any|recall_frac|recall_all|f1_of_means|recall|precision|success|hit[ _-]?rate|hits?"
    r"|accuracy|f1|ndcg|mrr|rr|map|r|p)\s?@\s?(?P<k>\d+)(?:\((?P<option>retrieved)\))?"
    r"|(?P<at>recall|precision|ndcg|f1)\s+at\s+(?P<atk>\d+)"
    r"|(?P<bare>recall|mrr|ndcg|accuracy|hit[ _-]?rate|mean reciprocal rank))(?![\w@])",
    re.IGNORECASE,
)

Locate = Callable[[str], object | None]
"""The result folder that a word of the text names, or None; what it gives is handed on as it is."""


@dataclass(frozen=True, slots=True)
class Name:
    """A measure as the text calls it."""

    text: str
    measure: str
    """The measure it stands for; empty for a name that no result has."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A result folder as the text names it."""

    text: str
    found: object | None
    """What was found there; None where there is no such folder."""


@dataclass(frozen=True, slots=True)
class Token:
    """One thing of a unit that matters, and where it stands."""

    start: int
    end: int
    what: Literal["measure", "value", "signed", "interval", "half", "count", "hash", "folder", "whole"]
    text: tuple[str, ...]
    name: Name | None = None
    folder: Folder | None = None


def folders_in(text: str, locate: Locate) -> list[Token]:
    """The result folders that a text names, also those that are not there."""
    found = []
    for match in _PATH.finditer(text):
        word = match[0].rstrip(".,:%")
        if not re.search(r"[A-Za-z]", word) or (place := _located(word, locate)) is None:
            continue
        found.append(Token(match.start(), match.start() + len(word), "folder", (word,), folder=place))
    return found


def _located(word: str, locate: Locate) -> Folder | None:
    if (place := locate(word)) is not None:
        return Folder(word, place)
    claimed = re.search(r"(?:^|/)results/([\w.+-]+)", word) or re.fullmatch(r"(?:[\w.+-]+/)*[\w.+-]+_\d{8}\w*", word)
    return Folder(word, None) if claimed else None


def name_of(match: re.Match[str]) -> Name:
    """The measure that a name in a text stands for; the protocol's recall is recall_any, its MRR 50 deep."""
    word = re.sub(r"[ _-]", "", (match["name"] or match["at"] or match["bare"] or "").lower())
    k = match["k"] or match["atk"]
    known = {
        "recallany": "recall_any",
        "recallfrac": "recall_frac",
        "recallall": "recall_all",
        "f1ofmeans": "f1_of_means",
        **dict.fromkeys(("recall", "success", "hitrate", "hit", "hits", "r"), "recall_any"),
        **dict.fromkeys(("mrr", "rr", "meanreciprocalrank"), "mrr"),
        **dict.fromkeys(("precision", "p"), "precision"),
        "f1": "f1",
        "ndcg": "ndcg",
    }
    measure = known.get(word, "")
    depth = k or ("50" if measure == "mrr" else "10")
    option = f"({match['option']})" if match["option"] else ""
    return Name(match[0].strip(), f"{measure}@{depth}{option}" if measure else "")


def tokens_in(text: str, locate: Locate) -> list[Token]:
    """Everything that matters in a unit, in order; nothing is taken twice."""
    taken = folders_in(text, locate)

    def free(start: int, end: int) -> bool:
        return all(end <= one.start or one.end <= start for one in taken)

    def add(
        what: Literal["interval", "half", "count", "hash", "signed", "value", "whole"], pattern: re.Pattern[str]
    ) -> None:
        for match in pattern.finditer(text):
            if free(match.start(1), match.end(match.lastindex or 1)):
                taken.append(Token(match.start(1), match.end(match.lastindex or 1), what, match.groups()))

    add("hash", _HASH)
    for match in _MEASURE.finditer(text):
        if free(match.start(), match.end()):
            taken.append(Token(match.start(), match.end(), "measure", (match[0],), name=name_of(match)))
    add("count", _COUNT)
    for pattern in _INTERVALS:
        if pattern is _INTERVALS[2]:
            for match in pattern.finditer(text):
                before = text[max(0, match.start() - 40) : match.start()]
                # `from 0.91 to 0.93` are two values, `0.93 0.91 to 0.95` a value and its interval.
                earlier = any(one.what == "value" for one in taken) or _VALUE.search(before)
                if earlier and not re.search(r"\bfrom\s*$", before) and free(match.start(1), match.end(2)):
                    taken.append(Token(match.start(1), match.end(2), "interval", match.groups()))
        else:
            add("interval", pattern)
    add("half", _HALF)
    add("signed", _POINTS)
    add("signed", _SIGNED)
    add("value", _VALUE)
    add("value", HUNDREDS)
    add("whole", _WHOLE)
    return sorted(taken, key=lambda one: one.start)
