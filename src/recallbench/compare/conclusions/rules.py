"""What a last line says of the rules that were named with --fail-if."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.reports.comparison import ConditionPart


def rules_words(conditions: Sequence[ConditionPart], *, strict: bool) -> str:
    """Return which rules fail or are inconclusive, or that all pass; empty where none was named."""
    failed, open_ = ([rule for rule in conditions if rule.outcome == word] for word in ("fails", "inconclusive"))
    told = [f"the rule '{rule.condition}' fails ({rule.reason})" for rule in failed]
    forbidden = "which --strict forbids" if strict else "which fails only with --strict"
    told += [f"the rule '{rule.condition}' is inconclusive ({rule.reason}), {forbidden}" for rule in open_]
    if conditions and not told:
        told = ["the rule passes" if len(conditions) == 1 else f"all {len(conditions)} rules pass"]
    return "; ".join(told)
