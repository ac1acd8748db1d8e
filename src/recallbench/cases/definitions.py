"""The definitions behind a report's short names, where schools count differently; every output names those chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from recallbench.errors import UsageError
from recallbench.scoring.measures.f1 import F1
from recallbench.scoring.measures.f1_of_means import F1OfMeans
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_frac import RecallFrac
from recallbench.scoring.quantiles import NEAREST_RANK, RULES, Rule

PrecisionOver = Literal["k", "retrieved"]
NdcgOver = Literal["all", "graded"]


@dataclass(frozen=True, slots=True)
class Definitions:
    """A choice for each definition; raises UsageError for a word that is none."""

    precision: PrecisionOver = "k"
    """The divisor of precision, and with it of f1 and f1_of_means: k, or as many as came back."""
    ndcg: NdcgOver = "all"
    """The cases that nDCG is the mean over: all with something to find, or those of them that have grades."""
    percentiles: Rule = NEAREST_RANK
    """The definition of the p95: the smallest latency that enough do not exceed, sorted[int(.95 * n)], or linear."""

    def __post_init__(self) -> None:
        for name, known in KNOWN.items():
            if (word := getattr(self, name)) not in known:
                expected = " or ".join(repr(word) for word in known)
                raise UsageError(f"no such definition of {name}", expected=expected, found=repr(word))

    def measure(self, name: str, k: int) -> Measure:
        """Return the measure of a short name at that k; raises KeyError for any other name."""
        return SHORT[name](self, k)

    def named(self) -> dict[str, str]:
        """Return each choice, for machines."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the choices that are not the usual ones; empty where all are."""
        usual = Definitions().named()
        return ", ".join(f"{name} {word}" for name, word in self.named().items() if word != usual[name])

    @property
    def _over(self) -> str:
        return "" if self.precision == "k" else self.precision


KNOWN: Mapping[str, tuple[str, ...]] = {
    "precision": get_args(PrecisionOver),
    "ndcg": get_args(NdcgOver),
    "percentiles": RULES,
}
SHORT: Mapping[str, Callable[[Definitions, int], Measure]] = {
    "recall": lambda _, k: RecallFrac(k),
    "precision": lambda by, k: Precision(k, by._over),
    "mrr": lambda _, k: Mrr(k),
    "ndcg": lambda by, k: Ndcg(k, "" if by.ndcg == "all" else by.ndcg),
    "f1": lambda by, k: F1(k, by._over),
    "f1_of_means": lambda by, k: F1OfMeans(k, by._over),
}
"""The short names, the four of the table first."""
USUAL = Definitions()
PERCENTILES: Mapping[Rule, str] = {
    "nearest-rank": "nearest rank",
    "index": "sorted[int(share * n)]",
    "linear": "linear interpolation",
}
"""The sentence that describes each rule."""
