"""What a last line says of the rules that were named with --fail-if."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.reports.comparison import ConditionPart


def first_not_passed(conditions: Sequence[ConditionPart]) -> ConditionPart | None:
    """Return the first rule that fails, else the first that is inconclusive; None where all pass."""
    return next((rule for word in ("fails", "inconclusive") for rule in conditions if rule.outcome == word), None)


def rules_words(conditions: Sequence[ConditionPart], *, strict: bool) -> str:
    """Return the first rule that fails or is inconclusive, or that all pass; empty where none was named."""
    if not conditions:
        return ""
    first = first_not_passed(conditions)
    if first is None:
        return "the rule passes" if len(conditions) == 1 else f"all {len(conditions)} rules pass"
    others = sum(rule.outcome != "passes" for rule in conditions) - 1
    if first.outcome == "fails":
        more = f", and {others} more {'does' if others == 1 else 'do'} not pass" if others else ""
        return f"the rule '{first.condition}' fails{more}"
    forbidden = "which --strict forbids" if strict else "which fails only with --strict"
    return f"the rule '{first.condition}' is inconclusive, {forbidden}"
