"""One set of rankings under every definition, way of matching and denominator that a published number may follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.bare_sessions import judge_by_session
from recallbench.scoring.judgement import Bools, Floats, Ints, Judged
from recallbench.scoring.measures.measure import share
from recallbench.scoring.measures.mrr import reciprocal_rank

DEFINITIONS = ("recall_any", "recall_frac", "recall_all", "mrr", "ndcg", "precision")
"""The measures that can be taken of rankings cut off at any depth, at least by their bounds."""
DEPTHS = (1, 3, 5, 10, 20, 25, 30, 50)
PUBLISHED = 100
"""No published figure is of a larger depth."""
LONGMEMEVAL = "longmemeval"
"""nDCG as LongMemEval's own program takes it: the second place counts as much as the first."""
VARIANTS = {"ndcg_any": ("ndcg", LONGMEMEVAL)}
"""By name: counts of others that no measure here is."""


@dataclass(frozen=True, slots=True, order=True)
class Definition:
    """What is counted of a question; its text is that of the measure where there is one here."""

    kind: str
    k: int
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.kind}@{self.k}" + (f"({self.variant})" if self.variant else "")


@dataclass(frozen=True, eq=False, slots=True)
class Denominator:
    """Which questions are counted, and the value of those without gold, or that were not asked."""

    name: str
    mask: Bools
    absent: int = 0
    """Questions of the dataset that were not asked and are counted all the same."""
    empty: float | None = None
    """None leaves a question without gold out."""
    protocol: bool = False
    """It is what the protocol counts."""

    def __str__(self) -> str:
        if self.empty is None:
            return self.name
        return f"{self.name}, {self.empty:.0f} for those without gold"


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """The rankings under one way of matching ids with gold."""

    name: str
    judged: Judged
    lengths: Ints
    """(Q,): places that were kept."""
    cut: Bools
    """(Q,): more may have come back than was kept."""
    first: Ints | None = None
    """(Q,): the stated rank of the first gold id, 0 for none, -1 where a row states nothing; None where no row does."""
    call: View | None = None
    """The shallower of two calls to the store, which every measure that it reaches is taken from (clarification 15)."""
    reach: int = 0
    """The depth of that call."""

    @property
    def seen(self) -> int:
        """How deep the stated ranks are known to look."""
        return int(self.first.max(initial=0)) if self.first is not None else 0


@dataclass(frozen=True, slots=True)
class Cell:
    """The figure in one universe; low and high differ where the kept rows don't fix it."""

    definition: Definition
    scope: str
    denominator: str
    n: int
    low: float
    high: float
    kept_low: float
    """What the kept ids alone bound it to, without a stated rank."""
    kept_high: float
    protocol: bool
    """Its denominator is the protocol's."""

    @property
    def exact(self) -> bool:
        return self.high - self.low < 1e-9

    @property
    def stated(self) -> bool:
        """It rests on stated ranks: the kept ids alone leave it open."""
        return self.exact and self.kept_high - self.kept_low >= 1e-9

    @property
    def narrowed(self) -> bool:
        """Stated ranks tell more of it than the kept ids alone, if not all."""
        return (self.kept_high - self.kept_low) - (self.high - self.low) >= 1e-9

    @property
    def universe(self) -> str:
        return f"{self.definition}, {self.scope}, over {self.denominator} ({self.n})"


def view(
    name: str,
    ranked: Sequence[Sequence[str]],
    gold: Sequence[Sequence[str]],
    kept: int = 0,
    first: Sequence[int | None] | None = None,
    cut: Sequence[bool] | None = None,
) -> View:
    """Rankings matched by name alone; `kept` is how many places were kept, 0 when all were.

    A ranking of `kept` places was cut off, a shorter one ended by itself, unless `cut` says which were.
    """
    lengths = np.fromiter(map(len, ranked), dtype=np.int64, count=len(ranked))
    depth = max(PUBLISHED, int(lengths.max(initial=0)))
    ranks = None
    if first is not None and any(rank is not None for rank in first):
        ranks = np.array([-1 if rank is None else rank for rank in first], dtype=np.int64)
    off = (lengths >= kept) & (kept > 0) if cut is None else np.array(cut, dtype=np.bool_)
    return View(name, judge_by_session(ranked, gold, depth), lengths, off, ranks)


def definitions(depths: Iterable[int] = DEPTHS) -> tuple[Definition, ...]:
    """Every definition at these depths."""
    ks = sorted({*depths})
    return tuple(
        Definition(kind, k, variant)
        for kind in DEFINITIONS
        for variant in ("", *(other for measure, other in VARIANTS.values() if measure == kind))
        for k in ks
        if (kind, k) != ("mrr", 1)
    )


def bounds(definition: Definition, view: View, *, believe: bool = True) -> tuple[Floats, Floats]:
    """(Q,) twice: the least and the most each question can get, given what was kept; equal where that fixes it.

    `believe` takes stated first ranks for true.
    """
    if view.call is not None and definition.k <= view.reach:
        view = view.call
    judged, k = view.judged, definition.k
    gold, gold_found = judged.gold, judged.gold_within(k)
    unseen = np.where(view.cut, np.maximum(k - view.lengths, 0), 0)
    start = np.minimum(view.lengths, k)
    """Places behind which an unseen gold id may stand."""
    sure = np.zeros_like(gold_found)
    """Gold ids that stand, as stated, at the first unseen place considered."""
    if believe and view.first is not None:
        unlisted = (unseen > 0) & (gold_found == 0)
        somewhere = unlisted & (view.first > 0)
        nowhere = unlisted & (view.first == 0)
        start = np.where(somewhere, np.maximum(view.first - 1, start), np.where(nowhere, max(view.seen, 0), start))
        start = np.where(nowhere, np.maximum(start, view.lengths), start)
        unseen = np.where(unlisted, np.maximum(k - start, 0), unseen)
        sure = np.where(somewhere & (view.first <= k) & (gold > 0), 1, 0)
    more = np.minimum(gold - gold_found, unseen)
    low, high = gold_found + sure, gold_found + more
    if definition.kind == "recall_any":
        return (low > 0).astype(float), (high > 0).astype(float)
    if definition.kind == "recall_frac":
        return share(low, gold), share(high, gold)
    if definition.kind == "recall_all":
        return ((low == gold) & (gold > 0)).astype(float), ((high == gold) & (gold > 0)).astype(float)
    if definition.kind == "precision":
        return low / k, high / k
    if definition.kind == "mrr":
        listed = np.where(gold_found > 0, reciprocal_rank(judged), 0.0)
        best = np.where((gold_found == 0) & (more > 0), 1.0 / (start + 1.0), 0.0)
        return listed + best * (sure > 0), listed + best
    return _ndcg(definition, judged, start, sure, more)


def _ndcg(definition: Definition, judged: Judged, start: Ints, sure: Ints, more: Ints) -> tuple[Floats, Floats]:
    k = definition.k
    discounts = 1.0 / np.log2(np.arange(2.0, k + 2.0))
    if definition.variant == LONGMEMEVAL:
        discounts = np.concatenate(([1.0], 1.0 / np.log2(np.arange(2.0, k + 1.0))))
    reached = np.concatenate(([0.0], np.cumsum(discounts)))
    gain = judged.relevant.sum(discounts, len(judged))
    ideal = reached[np.minimum(judged.gold, k)]

    def behind(count: Ints) -> Floats:
        begin = np.minimum(start, k)
        added: Floats = reached[np.minimum(begin + count, k)] - reached[begin]
        return added

    return np.minimum(share(gain + behind(sure), ideal), 1.0), np.minimum(share(gain + behind(more), ideal), 1.0)


def cells(views: Sequence[View], wanted: Iterable[Definition], denominators: Sequence[Denominator]) -> list[Cell]:
    """The figure in every universe; denominators that count nobody are passed over."""
    scored = []
    for definition in wanted:
        for view in views:
            low, high = bounds(definition, view)
            kept_low, kept_high = (low, high) if view.first is None else bounds(definition, view, believe=False)
            has_gold = view.judged.gold > 0
            for denominator in denominators:
                counted = denominator.mask & has_gold
                without = int((denominator.mask & ~has_gold).sum()) + denominator.absent
                n = int(counted.sum()) + (without if denominator.empty is not None else 0)
                if not n:
                    continue
                extra = without * (denominator.empty or 0.0)
                least, most, kept_least, kept_most = (
                    (float(each[counted].sum()) + extra) / n for each in (low, high, kept_low, kept_high)
                )
                scored.append(
                    Cell(
                        definition,
                        view.name,
                        str(denominator),
                        n,
                        least,
                        most,
                        kept_least,
                        kept_most,
                        denominator.protocol,
                    )
                )
    return scored


def agrees(value: float, published: float, decimals: int) -> bool:
    """Whether a figure, printed with so many decimals, is the published one."""
    return abs(value - published) <= 0.5 * 10.0**-decimals + 1e-9


def printed_decimals(value: float) -> int:
    """How many decimals a published figure shows, as far as its shortest form tells."""
    text = repr(value)
    return len(text.partition(".")[2]) if "e" not in text and "." in text else 12
