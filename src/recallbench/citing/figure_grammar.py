"""The grammar of a figure: measure, value, interval and n, as a sentence or the row of a table says them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from recallbench.protocol.frozen import load
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.registry import measure_names, measures_called

Role = Literal["value", "chance", "ceiling", "bm25", "difference", "bound"]

_NUMBER = r"(?:\d{1,3}(?:[.,]\d+)?\s?(?:%|per\s?cent\b)|0?\.\d+|0,\d{2,}|[01]\.\d+)"
_PAIR = rf"([+−-]?{_NUMBER})\s*(?:to|–|—|-|,|\.\.+|…|and)\s*([+−-]?{_NUMBER})"
_NAMES = "|".join(
    name.replace("_", "[ _-]") for name in sorted({*measure_names(), "accuracy", "map"}, key=len, reverse=True)
)
TOKEN = re.compile(
    rf"""(?P<measure>(?<![\w/-])(?:(?P<name>{_NAMES})\s?(?:@|\bat\b)\s?(?P<k>\d+)(?P<option>\(retrieved\))?
        |(?P<bare>recall|mrr|ndcg|accuracy|hit[ _-]rate|mean\ reciprocal\ rank))(?![\w@]|[.,]\d))
    |\bn\s*[=:]\s*(?P<count>\d{{1,3}}(?:[,\ ]\d{{3}})+|\d+)
    |(?P<interval>(?:95\s?%\s*)?(?:confidence\s*)?(?:interval|\bCI\b)[^\d+−.\[(;-]{{0,14}}[\[(]?\s*{_PAIR}
        |[\[(]\s*(?:95\s?%\s*(?:CI)?:?\s*)?{_PAIR}\s*[\])])
    |(?:±|\+/-|\+-)\s*(?P<half>{_NUMBER})
    |(?<![\w.])(?P<difference>[+−-]{_NUMBER}|[+−-]?\d+(?:\.\d+)?\s?(?:percentage\ points|points|pp)\b)(?![\w%]|[.,]\d)
    |(?<![\w.,/@+−-])(?P<value>{_NUMBER})(?![\w%]|[.,]\d)
    |(?<![\w.,/@+−-])(?P<whole>[1-9]\d(?:\.\d+)?|100|\d{{1,6}}\s?/\s?[1-9]\d{{0,5}})(?=\s*(?:$|[(\[,;|)\]]|\.(?!\d)))
    |(?P<stop>;)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Every token of a sentence; `whole` is a percentage without its sign, or a fraction."""

_BEFORE = re.compile(
    r"(?:(?P<chance>chance|random(?: order)?)|(?P<ceiling>ceiling|oracle)|(?P<bm25>bm25)"
    r"|\b(?P<difference>by|difference(?: of)?|delta|gain(?:s|ed)?(?: of)?|drops?|dropped|rises?|rose|fell|up|down|Δ)"
    r"|\b(?P<other>p(?: \(holm\))?\s*[<>≤≥=:]+|alpha|bands?\b[^.]{0,12}|tolerance|threshold)|\b(?P<from>from)"
    r"|(?P<bound>(?<!-)[<>]=?|[≤≥]|\b(?:over|above|under|below|(?:more|less) than|at (?:least|most)|exceed\w*)))"
    r"(?: level| control)?\W{0,4}(?:is |of |at |reaches )?$",
    re.IGNORECASE,
)
"""What a number right behind these words is: a control, a difference, a bound, the first of two, or no figure."""
_BEHIND = re.compile(r"\s*(?:s|ms|us|seconds?|minutes?|times|x|MB|GB|confidence|interval|CI)\b|(?<=%)\s+of\b", re.I)
"""A number right before these words is no figure, unless its measure stands right before it."""

_DIRECT = re.compile(r"\W{0,9}(?:(?:is|was|of|at|now|reaches)\s+)*")
"""What may stand between a measure and a figure right behind it."""
_BACKWARDS = re.compile(r"\s*(?:(?:of|for|in|as)\s+)?(?:the\s+)?")
"""What may stand between a figure and the measure right behind it."""
_ALIAS = re.compile(r"\s*[(=:]\s*")
"""What stands between two names of one measure."""
_JOINED = re.compile(r"\)?\s*(?:,|/|&|,?\s*and)\s*")
"""What stands between two measures that share what follows."""

_REACH, _REACH_BARE = 100, 25
"""How far a figure may stand behind its measure, and behind a measure without its depth."""


@dataclass(frozen=True, slots=True)
class CitedMeasure:
    """A measure as the text calls it."""

    text: str
    measure: str
    """The measure that it stands for; empty for a name that no result has."""


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A result folder as the text names it."""

    start: int
    text: str
    path: Path | None
    """None where there is no such folder."""


@dataclass(frozen=True, slots=True)
class CitedFigure:
    """One figure and all that the text says of it."""

    value: str
    role: Role
    start: int
    """Where it stands in its sentence."""
    sentence: str
    near: str
    """The words of the sentence since the figure before it."""
    names: tuple[CitedMeasure, ...]
    """Two where the text gives a second one in brackets; none where it names no measure."""
    repeated: bool
    """Whether its measure has another figure in the sentence."""
    unplaced: str = ""
    """Why the figure can't be checked; empty where it can."""
    interval: tuple[str, str] | None = None
    half: str = ""
    """Half the width of its interval."""
    count: str = ""
    folders: tuple[NamedFolder, ...] = ()
    """One, or for a difference the two; empty where none is named."""
    line: int = 0
    row: str = ""
    """The label of its row in a table."""
    section: str = ""
    """All that stands under the same heading."""


def figures_in(sentence: str) -> list[CitedFigure]:
    """Return the figures of a sentence, each with its measure, interval and n."""
    figures: list[CitedFigure] = []
    measures: list[tuple[CitedMeasure, ...]] = []
    counts: list[tuple[int, str]] = []
    reach, repeated, end, last = _REACH, False, 0, 0
    for token in TOKEN.finditer(sentence):
        gap = sentence[end : token.start()]
        if token["stop"]:
            measures = []
        elif token["count"]:
            counts.append((token.start(), token["count"]))
        elif token["interval"] and figures:
            low, high = re.findall(rf"[+−-]?{_NUMBER}", token[0])[-2:]
            figures[-1] = replace(figures[-1], interval=figures[-1].interval or (low, high))
        elif token["half"] and figures:
            figures[-1] = replace(figures[-1], half=token["half"])
        elif token["measure"]:
            name = (_measure_named(token),)
            if figures and not figures[-1].names and _BACKWARDS.fullmatch(gap):
                figures[-1] = replace(figures[-1], names=name, unplaced="")
                measures = []
            elif measures and not repeated and _ALIAS.fullmatch(gap):
                measures[-1] += name
            elif measures and not repeated and _JOINED.fullmatch(gap):
                measures.append(name)
            else:
                measures, repeated = [name], False
            reach, end = _REACH_BARE if token["bare"] else _REACH, token.end()
        elif token["value"] or token["whole"] or token["difference"]:
            if not repeated and len(gap) > reach:
                measures = []
            direct = measures and not repeated and _DIRECT.fullmatch(gap)
            before = _BEFORE.search(sentence, max(0, token.start() - 30), token.start())
            role = (before and before.lastgroup) or ("difference" if token["difference"] else "value")
            if role == "other" or (not direct and (token["whole"] or _BEHIND.match(sentence, token.end()))):
                continue
            figure = CitedFigure(
                token[0].strip(),
                cast(Role, "value" if role == "from" else role),
                token.start(),
                sentence,
                sentence[last : token.start()],
                measures[0] if measures else (),
                role == "from" or (repeated and role == "value"),
                "" if len(measures) == 1 else f"{'several measures are' if measures else 'no measure is'} named for it",
            )
            figures.append(figure)
            repeated, end, last = repeated or figure.role == "value", token.end(), token.end()
    return [
        replace(figure, count=next((n for at, n in counts if at > figure.start), counts[-1][1] if counts else ""))
        for figure in figures
    ]


def _measure_named(match: re.Match[str]) -> CitedMeasure:
    """The measure of a token; the protocol's recall is recall_any, its MRR 50 deep."""
    word = re.sub(r"[ -]", "_", (match["name"] or match["bare"]).lower())
    kinds = measures_called(word)
    if not kinds:
        return CitedMeasure(match[0].strip(), "")
    depth = match["k"] or (load().mrr_depth if kinds[0] is Mrr else load().default_k)
    return CitedMeasure(match[0].strip(), f"{kinds[0].name}@{depth}{match['option'] or ''}")
