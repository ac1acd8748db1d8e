"""The words that make a rule of a number: a threshold or a target claims nothing of a result."""

from __future__ import annotations

import re

_RULE = r"targets?|goals?|thresholds?|gates?|requires?|required|minimum|bounds?|bands?|tolerance|floor|fail-if"
_REACHED = r"reach\w*|has|had|gets?|got|achiev\w*|scor\w*|shows?|finds?|found"
_KEPT = r"holds?|held|pass\w*|met|meets?|kept|keeps?|cleared?"
"""What is said of a rule to give a result behind a colon."""
IS_A_RULE = re.compile(_RULE, re.IGNORECASE)
"""What heads a table of thresholds or targets."""
_RULE_BEFORE = re.compile(
    rf"\b(?:{_RULE}|at (?:least|most)|no (?:less|more|worse) than|must|aim(?:s|ing)? (?:at|for)|drops)\b"
    rf"(?:(?!\b(?:{_REACHED})\b)(?:[^,:;.]|\.(?=\d)))*$"
    rf"|(?:^\W*(?:(?:our|the)\s+)?(?:{_RULE})|\b(?:targets|goals|thresholds))\b(?:(?!\b(?:{_KEPT})\b)[^.;])*:",
    re.IGNORECASE,
)
_RULE_BETWEEN = re.compile(
    r"(?<![-=])[<>]|[≥≤]|\b(?:must|should|shall|has to|have to|(?:drops?|falls?)(?!\s+to\b))\b"
    rf"|\b(?:{_RULE})\b\W*(?:is|are|was|of|at|for|to be)?\W*$"
    rf"|^(?!.*\b(?:is|was|are|{_REACHED})\b).*\b(?:at (?:least|most)"
    r"|no (?:less|more|worse) than|not (?:below|above|under|over))\b",
    re.IGNORECASE | re.DOTALL,
)
"""What makes a rule of a number; `is at least` is said of a result."""
_RULE_BEHIND = re.compile(
    rf"\s*(?:or (?:more|better|higher|above)\b|(?:is|are|was) (?:assumed|required|wanted|asked for|the (?:{_RULE})))",
    re.IGNORECASE,
)


def is_rule(before: str, between: str, behind: str) -> bool:
    """Return whether a number is one by the words before its measure, between the two, or behind the number."""
    return (
        _RULE_BEFORE.search(before) is not None
        or _RULE_BETWEEN.search(between) is not None
        or _RULE_BEHIND.match(behind) is not None
    )
