"""The grammar of a figure: a measure, words that only join, a value, then its interval and n."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast

from recallbench.protocol.frozen import load
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.registry import OTHERS, measure_names, measures_called, name_pattern

Role = Literal["value", "chance", "ceiling", "bm25"]

_SHARE = r"(?:\d{1,3}(?:\.\d+)?\s?(?:%|per\s?cent\b)|0?\.\d+|0,\d{2,}|1\.0+)"
_PAIR = rf"{_SHARE}\s*(?:to|–|—|-|,)\s*{_SHARE}"
_MEASURE = rf"""(?P<measure>(?<![\w/-])(?:
    (?P<name>{name_pattern((*measure_names(), *OTHERS))})\s?(?:@|\bat\b)\s?(?P<k>\d+)(?P<option>\(retrieved\))?
    |(?P<bare>recall|mrr|ndcg|accuracy|hit[ _-]rate|mean[ ]reciprocal[ ]rank))(?![\w@]|[.,]\d))"""
MEASURE = re.compile(_MEASURE, re.IGNORECASE | re.VERBOSE)
SHARE = re.compile(rf"(?<![\w.,/@]){_SHARE}(?![\w%/]|[.,]\d)", re.IGNORECASE)
PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CONTROL = re.compile(
    r"[\s(,:]*(?:and )?(?:(?P<chance>chance|random(?: order)?)|(?P<ceiling>ceiling|oracle)|(?P<bm25>bm25))"
    r"(?: level| control)?(?: is| of| at)?[\s:=]*",
    re.IGNORECASE,
)
"""The words that open a number which belongs to a result's figure."""
_TOKEN = re.compile(
    rf"""{_MEASURE}
    |\bn\s*[=:]\s*(?P<count>\d{{1,3}}(?:[,\ ]\d{{3}})+|\d+)(?!\s+(?:conversations|clusters|runs|seeds)|\d)
    |(?P<interval>(?:95\s?%\s*)?(?:confidence\s*)?(?:interval|\bCI\b)[^\d.\[(;-]{{0,14}}[\[(]?\s*{_PAIR}
        |(?P<bracketed>[\[(]\s*(?:95\s?%\s*(?:CI)?:?\s*)?{_PAIR}\s*[\])]))
    |(?P<level>\d\d\s?%\s*(?:confidence|interval|CI)\b)
    |(?<![\w.,/@])(?:(?P<value>{_SHARE})(?![\w%/]|[.,]\d)|(?P<other>\d+(?:[.,/]\d+)*)(?!\w))""",
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE = re.compile(r"[^;|]+")
_JOINT = re.compile(r"[\s(=:,/&)]*(?:and\s+)?")
"""The signs between two names of a measure, or between measures that share what follows."""
_DIRECT = re.compile(r"[\s:=(]*(?:is\s+)?")
_READS_BACKWARDS = re.compile(r"(?:^|\b(?:reach|ha|achiev|get|show|scor|measur)\w*)\W*$", re.IGNORECASE)
"""The words before a value whose measure is named right behind it."""
_JOINING = re.compile(
    r"[\s\d.,:=()*'\"%]+|[–—-](?=\s)|\b(?:is|was|are|of|at|on|for|in|the|our|now|reache[sd]|has|value|score|result|estimate|mean"
    r"|average|overall|all|total|pooled|questions)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\s*(?:(?:m?s|seconds?|[MG]B|x|times|points?|pp)\b|(?:higher|lower|better|worse|more|less|above|below)\b"
    r"|(?:before|earlier|previously|without)\b)",
    re.IGNORECASE,
)
"""The words behind a number of another thing, or of another time."""


class CitedMeasure(NamedTuple):
    """A measure as the text calls it, and as results do; they have none where it is empty."""

    text: str
    measure: str


class NamedFolder(NamedTuple):
    """A result folder as the text names it; no path where there is no such folder."""

    text: str
    path: Path | None


@dataclass(slots=True)
class CitedFigure:
    """One figure, and what its sentence says of it."""

    value: str
    role: Role
    start: int
    names: tuple[CitedMeasure, ...]
    """Two where the text gives a second name in brackets; none where it names no measure."""
    between: str
    """The words between its measure and itself."""
    alike: list[CitedFigure]
    """All values of the same mention of a measure, its own among them."""
    is_amount: bool
    """It is no share, or the share of another thing than a measure."""
    interval: tuple[str, ...]
    count: str = ""
    near: str = ""
    """The words since the figure before it; all of its clause, where no other figure stands in it."""
    clause: str = ""
    sentence: str = ""
    line: int = 0
    folders: Sequence[NamedFolder] = ()
    row: str = ""
    """The label of its row in a table."""
    section: str = ""
    """All that stands under the same heading."""


def figures_in(sentence: str) -> list[CitedFigure]:
    """Return the figures of a sentence, each with its measure, interval and n."""
    figures: list[CitedFigure] = []
    counts: list[tuple[int, str]] = []
    for clause in _CLAUSE.finditer(sentence):
        first, end, last, between = len(figures), clause.start(), clause.start(), ""
        names: tuple[CitedMeasure, ...] = ()
        alike: list[CitedFigure] = []
        interval: tuple[str, ...] = ()
        for token in _TOKEN.finditer(sentence, clause.start(), clause.end()):
            between += sentence[end : token.start()]
            end = token.end()
            not_share = token["other"] and names and not alike and _DIRECT.fullmatch(between)
            if token["measure"]:
                name = _measure_named(token)
                before = figures[-1] if len(figures) > first else None
                if (
                    before
                    and not (names or before.names or between.strip(" ("))
                    and _READS_BACKWARDS.search(before.near)
                ):
                    before.names, before.between = (name,), ""
                elif names and not alike and _JOINT.fullmatch(between):
                    names += (name,)
                else:
                    names, alike = (name,), []
                between = ""
            elif token["count"]:
                counts.append((token.start(), token["count"]))
            elif token["interval"]:
                values = [figure for figure in figures if figure.role not in ("chance", "ceiling")]
                interval = tuple(re.findall(_SHARE, token[0], re.IGNORECASE)[-2:])
                if token["bracketed"] and re.search(r"[^\W\d]", between):
                    # The brackets of another thing, such as weights.
                    interval = ()
                elif values and (alike or not names):
                    values[-1].interval, interval = values[-1].interval or interval, ()
            elif token["value"] or not_share:
                control = _CONTROL.fullmatch(between)
                role = cast(Role, control.lastgroup if control else "value")
                other = bool(not_share or _OTHERWISE.match(sentence, end))
                start = token.start()
                figure = CitedFigure(token[0].strip(), role, start, names, between, alike, other, interval)
                figure.near, figure.clause, figure.sentence = sentence[last:start], clause[0], sentence
                if role == "value":
                    alike.append(figure)
                figures.append(figure)
                last, between, interval = end, "", ()
        if len(figures) == first + 1:
            figures[-1].near = clause[0]
    for figure in figures:
        figure.count = next((n for start, n in counts if start > figure.start), counts[-1][1] if counts else "")
    return figures


def is_control(label: str) -> bool:
    """Return whether a row with that label belongs to the results beside it; `bm25` alone is another system."""
    return _CONTROL.fullmatch(label) is not None and label.lower() != "bm25"


def words_not_read(figure: CitedFigure, names: Iterable[str] = ()) -> str:
    """Return what stands between a measure and its figure beside these names and words that only join the two."""
    text = figure.between
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
    return " ".join(_JOINING.sub(" ", text).split()) if figure.role == "value" else ""


def _measure_named(match: re.Match[str]) -> CitedMeasure:
    """Return the measure of a token; the protocol's recall is recall_any, its MRR 50 deep."""
    kinds = measures_called(match["name"] or match["bare"])
    if not kinds:
        return CitedMeasure(match[0].strip(), "")
    depth = match["k"] or (load().mrr_depth if kinds[0] is Mrr else load().default_k)
    return CitedMeasure(match[0].strip(), f"{kinds[0].name}@{depth}{match['option'] or ''}")
