"""The words that make a rule or a bound of a number: a threshold or a target claims nothing of a result."""

from __future__ import annotations

import re
from typing import Literal

Bound = Literal["", ">=", ">", "<=", "<", "about", "up to"]
"""How a value has to stand to a number; empty where it has to be that number.

`about` is within a point of it, `up to` the best of the values that are stated.
"""

_RULE = r"targets?|goals?|thresholds?|gates?|requires?|required|minimum|bounds?|bands?|tolerance|floor|fail-if"
_REACHED = r"reach\w*|has|had|gets?|got|achiev\w*|scor\w*|shows?|finds?|found"
_KEPT = r"holds?|held|pass\w*|met|meets?|kept|keeps?|cleared?"
"""What is said of a rule to give a result behind a colon."""
IS_A_RULE = re.compile(_RULE, re.IGNORECASE)
"""What heads a table of thresholds or targets."""
_RULE_BEFORE = re.compile(
    rf"\b(?:{_RULE}|must|aim(?:s|ing)? (?:at|for)|drops)\b(?:(?!\b(?:{_REACHED})\b)(?:[^,:;.]|\.(?=\d)))*$"
    rf"|(?:^\W*(?:(?:our|the)\s+)?(?:{_RULE})|\b(?:targets|goals|thresholds))\b(?:(?!\b(?:{_KEPT})\b)[^.;])*:"
    r"|\b(?:if|when|whenever|unless|until)\s+(?:(?:an?|any|its|our|the|your)\s+)?$",
    re.IGNORECASE,
)
_RULE_BETWEEN = re.compile(
    rf"\b(?:must|should|shall|has to|have to)\b(?!.*\b(?:is|was|are|were|{_REACHED})\b)"
    r"|\b(?<!never )(?<!not )(?<!n't )(?:drops?|falls?)(?!\s+to\b)\b"
    rf"|\b(?:{_RULE})\b\W*(?:is|are|was|of|at|for|to be)?\W*$",
    re.IGNORECASE | re.DOTALL,
)
_RULE_BEHIND = re.compile(
    rf"\s*(?:or \w+ )?(?:is|are|was) (?:assumed|required|wanted|asked for|the (?:{_RULE}))", re.IGNORECASE
)
_MET = re.compile(
    rf"\b(?:reach\w*|achiev\w*|exceed\w*|hits?|beats?|{_KEPT})\s+(?:(?!(?:{_RULE})\b)[\w'’-]+\s+){{0,3}}(?:{_RULE})"
    r"(?:\s+(?:of|at|for|is))?(?:\s+(?:an?|the|our|its))?\W*$",
    re.IGNORECASE,
)
"""A rule that is said to be met, which makes a bound of its number."""
_BELOW = r"(?:below|under|beneath)"
_ABOVE = r"(?:above|over|beyond)"
_NEVER = r"(?:never|not|n't) (?:falls?|drops?|go(?:es)?|gets?|sinks?|rises?)"
_ROUGHLY = (
    r"about|around|roughly|approximately|circa|nearly|almost|virtually|practically|near|approach(?:es|ed|ing)"
    r"|(?:(?:comes?|came|gets?|got) )?close to|(?:just|slightly|a little) (?:under|below|short of)|[~≈]"
)
_AT_BEST = r"at (?:(?:its|the|their) )?best"
_BEST = (
    rf"(?:reach(?:es|ed|ing)? )?up to|as (?:high|much|good|great) as|{_AT_BEST}|(?:peak(?:s|ed|ing)?|tops? out) at"
    r"|(?:a |the )?(?:high|maximum|peak) of|(?:can|could|may|might) (?:reach|achieve|be)"
)
_SIGNS: dict[str, tuple[Bound, str]] = {
    "about": ("about", _ROUGHLY),
    "best": ("up to", _BEST),
    "ge": (
        ">=",
        rf"at (?:the (?:very )?)?least|not? (?:less|worse|lower|smaller) than|(?:not|{_NEVER}) {_BELOW}|>=|≥",
    ),
    "le": (
        "<=",
        rf"at (?:the (?:very )?)?most|not? (?:more|better|higher|greater) than|(?:not|{_NEVER}) {_ABOVE}|not exceed|<=|"
        r"≤",
    ),
    "gt": (
        ">",
        rf"(?:more|better|higher|greater|larger) than|{_ABOVE}|(?:in excess|north) of|exceed\w*|surpass\w*"
        r"|outperform\w*|beats?|beating|tops|(?<![-=])>",
    ),
    "lt": ("<", rf"(?:less|worse|lower|smaller) than|{_BELOW}|(?<![-=])<"),
}
_COMPARED = re.compile(
    r"(?<!\w)(?:(?:well|far|even|just|slightly|clearly|always|consistently)\s+)??(?:"
    + "|".join(f"(?P<{name}>{words})" for name, (_, words) in _SIGNS.items()).replace(" ", r"\s+")
    + r")(?:\s+(?:an?|the))?\W*$",
    re.IGNORECASE,
)
"""What compares, right before a number or a measure with its number."""
_COMPARED_BEHIND = re.compile(
    r"\s*(?:(?P<ge>(?:or|and) (?:more|better|higher|above|over|up)\b|at (?:the (?:very )?)?least\b)"
    r"|(?P<le>(?:or|and) (?:less|worse|lower|below|under|down)\b|at (?:the (?:very )?)?most\b)"
    rf"|(?P<about>or so\b)|(?P<best>{_AT_BEST}\b))",
    re.IGNORECASE,
)
_LOOSE = ("about", "best")
"""These say it of the number that they stand before, and not of a measure: `a page about recall@10: .83`."""
_ACHIEVED = re.compile(
    rf"\b(?<!should )(?<!must )(?<!shall )(?<!to )(?:stays?|stayed|remains?|lies|lay|{_REACHED}|{_KEPT}"
    r"|gives?|gave|yields?|delivers?|provides?|returns?|recalls?|retrieves?"
    r"|exceed\w*|surpass\w*|outperform\w*|beats?|tops|hits?|(?:never|not|n't) \w+)\b",
    re.IGNORECASE,
)

_IS = re.compile(r"\b(?:is|was|are|were)\b", re.IGNORECASE)
"""It tells so between a measure and its number; `the rule is recall >= 0.9` tells nothing."""


def is_rule(before: str, between: str, behind: str) -> bool:
    """Return whether a number is one by the words before its measure, between the two, or behind the number."""
    if _MET.search(before) or _MET.search(between):
        return False
    return (
        _RULE_BEFORE.search(before) is not None
        or _RULE_BETWEEN.search(between) is not None
        or _RULE_BEHIND.match(behind) is not None
    )


def bound(before: str, between: str, behind: str) -> Bound:
    """Return how a value is said to stand to the number by the words right before its measure or around the number."""
    compared = _COMPARED.search(between) or _COMPARED_BEHIND.match(behind)
    if not compared and (ahead := _COMPARED.search(before)) and not (between and ahead.lastgroup in _LOOSE):
        compared = ahead
    if compared:
        return _SIGNS[str(compared.lastgroup)][0]
    return ">=" if _MET.search(between) or _MET.search(before) else ""


def without_comparison(words: str) -> str:
    """Return the words without what compares at their end."""
    return _MET.sub(" ", _COMPARED.sub(" ", words))


def is_achieved(before: str, between: str) -> bool:
    """Return whether words with a comparison tell of something that was reached, rather than wanted."""
    return _IS.search(between) is not None or _ACHIEVED.search(f"{before} {between}") is not None
