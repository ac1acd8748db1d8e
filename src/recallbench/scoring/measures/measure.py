"""The base class of measures."""

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
    """A name that others use for a measure."""

    form: str
    """The name, with `{k}` for the depth if it has one."""
    source: str = ""
    """Who uses the name; empty where many do."""


@dataclass(frozen=True, slots=True)
class Measure(ABC):
    """A measure at a depth. Its text is canonical and parses back; the docstring of each kind is its documentation."""

    k: int
    option: str = ""
    """The text in brackets behind the depth; most measures have none."""

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()
    elsewhere: ClassVar[tuple[Alias, ...]] = ()
    """The names that others use for the same count."""
    binary: ClassVar[bool] = False
    """Whether a question gets 0 or 1, nothing between."""
    ordered: ClassVar[bool] = False
    """Whether the order inside the top k counts, so that a saturated value still depends on the ranking."""
    separable: ClassVar[bool] = True
    """Whether a question's value is independent of which other questions are counted."""

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
        """(Q,): whether a question counts in the mean; without gold none does, and some measures leave out more."""
        return judged.gold > 0

    @abstractmethod
    def values(self, judged: Judged) -> Floats:
        """(Q,): the value of each question; the measure is the mean over those counted. 0 for any other."""

    @abstractmethod
    def chance(self, judged: Judged) -> Floats:
        """(Q,): the expected value when all candidates come back in random order."""

    @abstractmethod
    def ceiling(self, judged: Judged) -> Floats:
        """(Q,): the value of the best possible ranking."""

    def saturated(self, judged: Judged) -> Bools:
        """(Q,): whether the haystack has no more than k segments, so that k cuts nothing off (clarification 8)."""
        return judged.candidates <= self.k


def share(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    """Return part / whole by element, 0 where the whole is 0."""
    divisor: Floats = np.asarray(whole, dtype=np.float64)
    quotient: Floats = np.divide(part, divisor, out=np.zeros(len(divisor)), where=divisor > 0)
    return quotient
