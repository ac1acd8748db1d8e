"""The words of a text that a figure is made of: measures, values, intervals, counts and what they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Role = Literal["value", "chance", "ceiling", "bm25", "difference"]

_NUMBER = r"(?:\d{1,3}(?:[.,]\d+)?\s?(?:%|per\s?cent\b)|0?\.\d+|0,\d{2,}|[01]\.\d+)"
_ENDS = r"(?![\w%]|[.,]\d)"
PAIR = rf"([+−-]?{_NUMBER})\s*(?:to|–|—|-|,|\.\.+|…|and)\s*([+−-]?{_NUMBER})"
"""The two ends of an interval."""

TOKEN = re.compile(
    rf"""(?P<measure>(?<![\w/-])(?:(?P<name>recall_any|recall_frac|recall_all|f1_of_means|recall|precision|success
        |hit[ _-]?rate|hits?|accuracy|f1|ndcg|mrr|rr|map|r|p)\s?(?:@|\bat\b)\s?(?P<k>\d+)(?P<option>\(retrieved\))?
        |(?P<bare>recall|mrr|ndcg|accuracy|hit[ _-]?rate|mean\ reciprocal\ rank))(?![\w@]))
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

_MEASURES = {
    **{name.replace("_", ""): name for name in ("recall_any", "recall_frac", "recall_all", "f1_of_means")},
    **dict.fromkeys(("recall", "success", "hitrate", "hit", "hits", "r"), "recall_any"),
    **dict.fromkeys(("mrr", "rr", "meanreciprocalrank"), "mrr"),
    **dict.fromkeys(("precision", "p"), "precision"),
    "f1": "f1",
    "ndcg": "ndcg",
}


@dataclass(frozen=True, slots=True)
class MeasureName:
    """A measure as the text calls it."""

    text: str
    measure: str
    """The measure that it stands for; empty for a name that no result has."""


def measure_name(match: re.Match[str]) -> MeasureName:
    """Return the measure that a token names; the protocol's recall is recall_any, its MRR 50 deep."""
    word = re.sub(r"[ _-]", "", (match["name"] or match["bare"]).lower())
    measure = _MEASURES.get(word, "")
    depth = match["k"] or ("50" if measure == "mrr" else "10")
    return MeasureName(match[0].strip(), f"{measure}@{depth}{match['option'] or ''}" if measure else "")
