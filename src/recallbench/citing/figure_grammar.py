"""The grammar of a figure: a measure, words that only join, a value, then its interval and n."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast

from recallbench.citing.declaration import Declaration
from recallbench.citing.rule_words import Bound, bound, is_achieved, is_rule, without_comparison
from recallbench.protocol.frozen import load
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.registry import OTHERS, measure_names, measures_called, name_pattern

Role = Literal["value", "chance", "ceiling", "bm25"]

_SHARE = r"(?:\d{1,3}(?:\.\d+)?\s?(?:%|per\s?cent\b)|0?\.\d+|0,\d{2,}|1\.0+)"
_PAIR = r"(?:A\s*(?:to|–|—|-|,)\s*A|B\s*(?:to|–|—|-|,)\s*B\s?%)".replace("A", _SHARE).replace("B", r"\d{1,3}(?:\.\d+)?")
PAIR = re.compile(rf"[\[(]?\s*{_PAIR}\s*[\])]?", re.IGNORECASE)
"""The two ends of an interval, and nothing else."""
SHARE = re.compile(rf"(?<![\w.,/@]){_SHARE}(?![\w%/]|[.,]\d)", re.IGNORECASE)
PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
MEASURE = re.compile(
    rf"(?<![\w/-])(?:(?P<name>{name_pattern((*measure_names(), *OTHERS))})\s?(?:@|\bat\b)\s?(?P<k>\d+)"
    r"(?P<option>\(retrieved\))?|(?P<bare>recall(?:s|ed)?|mrr|ndcg|accuracy|hit[ _-]rate|mean reciprocal rank))"
    r"(?![\w@]|[.,]\d)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\bn\s*[=:]\s*(?P<count>\d{1,3}(?:[, ]\d{3})+|\d+)(?!\s+(?:conversations|clusters|runs|seeds)|\d)", re.IGNORECASE
)
_INTERVAL = re.compile(
    rf"(?:95\s?%\s*)?(?:confidence\s*)?(?:interval|\bCI\b)[^\d.\[(]{{0,14}}[\[(]?\s*{_PAIR}"
    rf"|(?P<bracketed>[\[(]\s*(?:95\s?%\s*(?:CI)?:?\s*)?{_PAIR}\s*[\])])",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\d\d\s?%\s*(?:confidence|interval|CI)\b", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"(?:[^;|]|;(?=\s*(?:{_INTERVAL.pattern}|{_COUNT.pattern})))+".replace("?P<bracketed>", "?:"), re.IGNORECASE
)
_CONTROL = re.compile(
    r"[\s(,:;)\]]*(?:and )?(?:(?P<chance>chance|random(?: order)?)|(?P<ceiling>ceiling|oracle)|(?P<bm25>bm25))"
    r"(?: level| control)?(?: is| of| at)?[\s:=]*",
    re.IGNORECASE,
)
"""The words that open a number which belongs to a result's figure."""
_UNNAMED = re.sub(r"\?P<\w+>", "?:", MEASURE.pattern)
_MENTION = re.compile(rf"{_UNNAMED}(?:[\s(=:,/&)]*(?:and\s+)?{_UNNAMED})*", re.IGNORECASE)
"""A measure, and others behind it that share what follows."""
_NO_SHARE = re.compile(r"[\s:=(]*(?:is\s+)?(?P<number>\d+(?:[.,/]\d+)*)(?!\w)")
_READS_BACKWARDS = re.compile(r"(?:^|\b(?:reach|ha|achiev|get|show|scor|measur)\w*)\W*$", re.IGNORECASE)
"""The words before a value whose measure is named right behind it."""
_JOINING = re.compile(
    r"[\s\d.,:=()*'\"%]+|[–—-](?=\s)|\b(?:is|was|are|of|at|on|for|in|the|our|that|now|reache[sd]|has|value|score|result"
    r"|estimate|mean|average|overall|all|total|pooled|questions)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\s*(?:m?s|seconds?|[MG]B|x|times|points?|pp|higher|lower|better|worse|more|less|above|below|before|earlier"
    r"|previously|without)\b",
    re.IGNORECASE,
)
"""The words behind a number of another thing, or of another time."""
_OF_ANOTHER_THING = re.compile(
    r"\b(?:before|earlier|previously|until|last (?:week|month|release|version)|(?:in|with) v?\d+\.\d+\.\d+|without"
    r"|noise|error|worst|(?:changes?|differences?|gains?|drop|loss|rise|regression|improvement|increase|decrease)"
    r" (?:of|in|on|for))\b|Δ",
    re.IGNORECASE,
)
"""The words before a measure whose figure is no result's: of another time or setting, or a difference."""
_DEPTH = re.compile(r"(?:\btop[- ]?|\bk\s*[=:]\s*|(?<!\w)@\s?)\d+", re.IGNORECASE)


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
    is_value: bool
    """It is a share, and not one of another thing than a measure."""
    before: str = ""
    """The words of its clause before its measure."""
    is_single: bool = True
    """No other value is given for this mention of the measure."""
    clause: str = ""
    is_alone: bool = True
    """No other figure stands in its clause."""
    sentence: str = ""
    interval: tuple[str, ...] = ()
    count: str = ""
    bound: Bound = ""
    """How the value is said to stand to the number, where it is not said to be that number."""
    is_rule: bool = False
    """It is a threshold or a target, which claims nothing of a result."""
    is_threshold: bool = False
    """It is a bound of which nobody says that it was reached: a rule too, unless it is one of a folder."""
    line: int = 0
    folders: Sequence[NamedFolder] = ()
    row: str = ""
    """The label of its row in a table."""
    in_table: bool = False
    section: str = ""
    """All that stands under the same heading."""
    around: str = ""
    """What stands under the same heading and right under those above it."""
    headings: Sequence[str] = ()
    """The headings that it stands under, the nearest first."""
    nearby: Sequence[NamedFolder] = ()
    """The folders that are named somewhere under those headings, where none is named for it."""
    declared: Declaration | None = None
    """What the text says of where figures here are from."""


def figures_in(sentence: str) -> list[CitedFigure]:
    """Return the figures of a sentence, each with its measure, interval and n."""
    figures = []
    for clause in _CLAUSE.finditer(sentence):
        inside = _figures_of_clause(sentence, *clause.span())
        for figure in inside:
            _read_rule(figure, sentence, clause.start())
            figure.clause, figure.sentence, figure.is_alone = clause[0], sentence, len(inside) == 1
            count = _COUNT.search(sentence, figure.start, clause.end()) or _COUNT.search(sentence, 0, figure.start)
            figure.count = count["count"] if count else ""
        figures += inside
    return figures


def _read_rule(figure: CitedFigure, sentence: str, start: int) -> None:
    """Note whether a figure is a threshold, a target or a bound by the words before, between or behind."""
    before = figure.before if figure.names and figure.between else sentence[start : figure.start]
    behind = sentence[figure.start + len(figure.value) :]
    figure.is_rule = is_rule(before, figure.between, behind)
    figure.bound = bound(before, figure.between, behind)
    if figure.bound:
        figure.is_threshold = not is_achieved(before, figure.between)
        figure.before, figure.between = without_comparison(figure.before), without_comparison(figure.between)


def _figures_of_clause(sentence: str, start: int, end: int) -> list[CitedFigure]:
    mentions = list(_MENTION.finditer(sentence, start, end))
    ends = [mention.start() for mention in mentions] + [end]
    figures = ahead = _figures_behind((), sentence, start, ends[0])
    for mention, end in zip(mentions, ends[1:], strict=True):
        names = tuple(map(_measure_named, MEASURE.finditer(mention[0])))
        behind = _figures_behind(names, sentence, mention.end(), end)
        for figure in behind:
            figure.before = sentence[start : mention.start()]
        if ahead and not sentence[ahead[-1].start + len(ahead[-1].value) : mention.start()].strip(" ("):
            # A value right before its measure; one behind the measure could as well be meant.
            for figure in behind:
                figure.is_single = False
            before = sentence[start : ahead[-1].start]
            if not behind and (_READS_BACKWARDS.search(before) or bound(before, "", "")):
                ahead[-1].names, ahead[-1].between, ahead[-1].before = names, "", before
                if interval := _INTERVAL.search(sentence, mention.end(), end):
                    ahead[-1].interval = _ends(interval[0])
        figures, ahead = figures + behind, []
    return figures


def _figures_behind(names: tuple[CitedMeasure, ...], sentence: str, start: int, end: int) -> list[CitedFigure]:
    """Return the figures of a stretch of the sentence, which follows these names."""
    text = shares_alone = sentence[start:end]
    for form in (_INTERVAL, _COUNT, _LEVEL):
        shares_alone = form.sub(lambda match: " " * len(match[0]), shares_alone)
    figures = []
    last = 0
    for share in SHARE.finditer(shares_alone):
        between, last = shares_alone[last : share.start()], share.end()
        control = _CONTROL.fullmatch(between)
        role = cast(Role, control.lastgroup if control else "value")
        is_value = not _OTHERWISE.match(shares_alone, last)
        figures.append(CitedFigure(share[0], role, start + share.start(), names, between, is_value))
    values = [figure for figure in figures if figure.role == "value" and figure.is_value]
    intervals = list(_INTERVAL.finditer(text))
    if values and intervals:
        # Brackets behind other words are those of another thing, such as weights.
        gap = shares_alone[values[0].start + len(values[0].value) - start : intervals[0].start()]
        if not (intervals[0]["bracketed"] and re.search(r"[^\W\d]", gap)):
            values[0].interval = _ends(intervals[0][0])
    for figure in values:
        figure.is_single = len(values) == 1 and len(intervals) < 2
    if names and not figures and (number := _NO_SHARE.match(shares_alone)):
        figures = [CitedFigure(number["number"], "value", start + number.start("number"), names, "", is_value=False)]
    return figures


def _ends(interval: str) -> tuple[str, ...]:
    """Return the two ends of an interval; a percent sign may stand behind the second alone."""
    low, high = re.findall(r"(?:\d*[.,])?\d+(?:\s?%)?", interval)[-2:]
    return (low if "%" in low or "%" not in high else f"{low}%", high)


def is_control(label: str) -> bool:
    """Return whether a row with that label belongs to the results beside it; `bm25` alone is another system."""
    return _CONTROL.fullmatch(label) is not None and label.lower() != "bm25"


def words_not_read(figure: CitedFigure, names: Iterable[str] = ()) -> str:
    """Return what makes another thing of a figure.

    It is a word before its measure, or what stands between the two beside these names and words that only join them.
    """
    if figure.role != "value":
        return ""
    text = without_names(figure.between, names)
    other = _OF_ANOTHER_THING.search(without_names(figure.before, names))
    return other[0] if other else " ".join(_JOINING.sub(" ", text).split())


def without_names(text: str, names: Iterable[str]) -> str:
    """Return the text with a space in the place of each of these names."""
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
    return text


def names_in(text: str, names: Iterable[str]) -> list[str]:
    """Return those of the names that a text has."""
    return [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text, re.IGNORECASE)]


def has_depth_apart(figure: CitedFigure) -> bool:
    """Return whether the measure is named without a depth, and the sentence tells one in other words."""
    return not re.search(r"\d", figure.names[0].text) and _DEPTH.search(MEASURE.sub(" ", figure.sentence)) is not None


def _measure_named(match: re.Match[str]) -> CitedMeasure:
    """Return the measure of a token; the protocol's recall is recall_any, its MRR 50 deep."""
    kinds = measures_called(match["name"] or re.sub("(?i)recall.+", "recall", match["bare"]))
    if not kinds:
        return CitedMeasure(match[0].strip(), "")
    depth = match["k"] or (load().mrr_depth if kinds[0] is Mrr else load().default_k)
    return CitedMeasure(match[0].strip(), f"{kinds[0].name}@{depth}{match['option'] or ''}")
