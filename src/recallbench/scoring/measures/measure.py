"""What every measure can tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from recallbench.errors import UsageError
from recallbench.scoring.depth import depth_of
from recallbench.scoring.judgement import Bools, Floats, Judged


class Alias(NamedTuple):
    """A name that others give to a measure."""

    form: str
    """With `{k}` in the place of the depth, if it has one."""
    source: str = ""
    """Who calls it so; empty where many do."""


@dataclass(frozen=True, slots=True)
class Measure(ABC):
    """A measure at a depth. Its text is canonical and parses back; the docstring of each kind is its documentation."""

    k: int
    option: str = ""
    """What stands in brackets behind the depth; most measures have none."""

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()
    elsewhere: ClassVar[tuple[Alias, ...]] = ()
    """What others call the same count."""
    binary: ClassVar[bool] = False
    """A question gets 0 or 1, nothing between."""
    ordered: ClassVar[bool] = False
    """The order inside the top k counts, so that a saturated value still tells of the ranking."""
    separable: ClassVar[bool] = True
    """A question's value does not depend on which other questions are counted."""

    def __post_init__(self) -> None:
        depth_of(self.k, f"{self.name} needs a depth")
        if self.option and self.option not in self.options:
            allowed = (f"{self.name}@{self.k}", *(f"{self.name}@{self.k}({option})" for option in self.options))
            raise UsageError(
                f"{self.name} has no option {self.option!r}", expected=" or ".join(allowed), found=str(self)
            )

    def __str__(self) -> str:
        return f"{self.name}@{self.k}" + (f"({self.option})" if self.option else "")

    def counted(self, judged: Judged) -> Bools:
        """(Q,): the questions that the mean is over: those with gold, or fewer."""
        return judged.gold > 0

    @abstractmethod
    def values(self, judged: Judged) -> Floats:
        """(Q,): what each question gets; the measure is the mean over those counted. 0 for any other."""

    @abstractmethod
    def chance(self, judged: Judged) -> Floats:
        """(Q,): the expected value when all candidates come back in random order."""

    @abstractmethod
    def ceiling(self, judged: Judged) -> Floats:
        """(Q,): the most that any ranking can get."""

    def saturated(self, judged: Judged) -> Bools:
        """(Q,): k cuts nothing off, because the haystack has no more than k segments (clarification 8)."""
        return judged.candidates <= self.k


def share(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    """part / whole by element, 0 where there is no whole."""
    divisor: Floats = np.asarray(whole, dtype=np.float64)
    quotient: Floats = np.divide(part, divisor, out=np.zeros(len(divisor)), where=divisor > 0)
    return quotient
