"""How far two judges of the same answers agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

YES = 0.5
"""The least value that counts as yes."""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of two judges on yes and no."""

    n: int
    """Answers that both decided."""
    agreement: float | None
    """The share of these on which they agree; None without any."""
    kappa: float | None
    """Cohen's kappa: what they agree beyond chance; None where each always said the same, and chance explains all."""


def judge_agreement(first: Sequence[float | None], second: Sequence[float | None]) -> JudgeAgreement:
    """Compare two judges, by the value that each gave each answer."""
    both = [(a >= YES, b >= YES) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    n = len(both)
    if not n:
        return JudgeAgreement(0, None, None)
    agreed = sum(a == b for a, b in both) / n
    yes, other = sum(a for a, _ in both) / n, sum(b for _, b in both) / n
    chance = yes * other + (1 - yes) * (1 - other)
    return JudgeAgreement(n, agreed, None if chance == 1 else (agreed - chance) / (1 - chance))
