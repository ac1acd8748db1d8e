"""The words of a text that a figure is made of: measures, values, intervals, counts and what they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recallbench.protocol.frozen import load
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.registry import measure_names, measures_called

Role = Literal["value", "chance", "ceiling", "bm25", "difference"]

_NUMBER = r"(?:\d{1,3}(?:[.,]\d+)?\s?(?:%|per\s?cent\b)|0?\.\d+|0,\d{2,}|[01]\.\d+)"
_ENDS = r"(?![\w%]|[.,]\d)"
PAIR = rf"([+−-]?{_NUMBER})\s*(?:to|–|—|-|,|\.\.+|…|and)\s*([+−-]?{_NUMBER})"
"""The two ends of an interval."""

_NAMES = "|".join(
    name.replace("_", "[ _-]") for name in sorted({*measure_names(), "accuracy", "map"}, key=len, reverse=True)
)
TOKEN = re.compile(
    rf"""(?P<measure>(?<![\w/-])(?:(?P<name>{_NAMES})\s?(?:@|\bat\b)\s?(?P<k>\d+)(?P<option>\(retrieved\))?
        |(?P<bare>recall|mrr|ndcg|accuracy|hit[ _-]rate|mean\ reciprocal\ rank))(?![\w@]|[.,]\d))
    |\bn\s*[=:]\s*(?P<count>\d{{1,3}}(?:[,\ ]\d{{3}})+|\d+)
    |(?P<interval>(?:95\s?%\s*)?(?:confidence\s*)?(?:interval|\bCI\b)[^\d+−.\[(;-]{{0,14}}[\[(]?\s*{PAIR}
        |[\[(]\s*(?:95\s?%\s*(?:CI)?:?\s*)?{PAIR}\s*[\])])
    |(?:±|\+/-|\+-)\s*(?P<half>{_NUMBER}){_ENDS}
    |(?<![\w.])(?P<difference>[+−-]{_NUMBER}|[+−-]?\d+(?:\.\d+)?\s?(?:percentage\ points|points|pp)\b){_ENDS}
    |(?<![\w.,/@+−-])(?P<value>{_NUMBER}){_ENDS}
    |(?<![\w.,/@+−-])(?P<bare_percent>[1-9]\d(?:\.\d+)?|100|\d{{1,6}}\s?/\s?[1-9]\d{{0,5}})(?![\w%/]|[.,]\d)
    |(?P<stop>;)""",
    re.IGNORECASE | re.VERBOSE,
)

ROLE = re.compile(
    r"(?:(?P<chance>chance|random(?: order)?)|(?P<ceiling>ceiling|oracle)|(?P<bm25>bm25)"
    r"|\b(?P<difference>by|difference(?: of)?|delta|gain(?:s|ed)?(?: of)?|drops?|dropped|rises?|rose|fell|up|down|Δ)"
    r"|\b(?P<other>p(?: \(holm\))?\s*[<>≤≥=:]+|alpha|bands?\b[^.]{0,12}|tolerance|threshold)"
    r"|(?P<more>(?<!-)>=?|≥|\b(?:over|above|more than|at least|exceed\w*))"
    r"|(?P<less><=?|≤|\b(?:under|below|less than|at most)))"
    r"(?: level| control)?\W{0,4}(?:is |of |at |reaches )?$",
    re.IGNORECASE,
)
"""What a figure right behind these words is: a control, a difference, a bound, or of no measure at all."""
OTHER_BEHIND = re.compile(r"\s*(?:s|ms|us|seconds?|minutes?|times|x|MB|GB|confidence|interval|CI)\b", re.IGNORECASE)
OTHER_COLUMN = re.compile(r"^p\b|design|saturat|\bband|detect|left out|range|\bsd\b|smallest|win/", re.IGNORECASE)
CONTROL = re.compile(r"\W*(?:chance|random(?: order)?|ceiling|oracle|bm25 control)\W*", re.IGNORECASE)
SIDES = re.compile(r"\b(?:(before|previous|old)|after|new|now)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CitedMeasure:
    """A measure as the text calls it."""

    text: str
    measure: str
    """The measure that it stands for; empty for a name that no result has."""


def measure_name(match: re.Match[str]) -> CitedMeasure:
    """Return the measure that a token names; the protocol's recall is recall_any, its MRR 50 deep."""
    word = re.sub(r"[ -]", "_", (match["name"] or match["bare"]).lower())
    kinds = measures_called(word)
    if not kinds:
        return CitedMeasure(match[0].strip(), "")
    depth = match["k"] or (load().mrr_depth if kinds[0] is Mrr else load().default_k)
    return CitedMeasure(match[0].strip(), f"{kinds[0].name}@{depth}{match['option'] or ''}")
