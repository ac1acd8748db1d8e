"""Rankings under every definition, way of matching and denominator that a published number may follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from recallbench.scoring.bare_sessions import judge_by_session
from recallbench.scoring.judgement import Bools, Floats, Ints, Judged
from recallbench.scoring.measures.measure import share
from recallbench.scoring.measures.mrr import reciprocal_rank

DEFINITIONS = ("recall_any", "recall_frac", "recall_all", "mrr", "ndcg", "precision")
"""The measures of which rankings of any depth give the value, or its bounds."""
DEPTHS = (1, 3, 5, 10, 20, 25, 30, 50)
PUBLISHED = 100
"""The largest depth of published figures."""
LONGMEMEVAL = "longmemeval"
"""nDCG as in LongMemEval's own program: the second place counts as much as the first."""
FOUND = "found"
"""nDCG over the best order of what came back, as in MemPalace's program: what was not found costs nothing."""
VARIANTS = {"ndcg_any": ("ndcg", LONGMEMEVAL)}
"""Definitions of others that are no measures here, by name."""
_FURTHER = {"ndcg": (LONGMEMEVAL, FOUND)}
"""All variants of a measure."""


@dataclass(frozen=True, slots=True, order=True)
class Definition:
    """A measure or variant at a depth; its text is that of the measure where it is one."""

    kind: str
    k: int
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.kind}@{self.k}" + (f"({self.variant})" if self.variant else "")


@dataclass(frozen=True, eq=False, slots=True)
class Denominator:
    """The questions that are counted, and the value of those without gold, or that were not asked."""

    name: str
    mask: Bools
    absent: int = 0
    """Questions of the dataset that were not asked, and count all the same."""
    empty: float | None = None
    """The value of a question without gold; None leaves it out."""
    protocol: bool = False
    """Whether it is the protocol's."""

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
    """(Q,): the ids in each row."""
    cut: Bools
    """(Q,): whether more ids may have come back than the row has."""
    first: Ints | None = None
    """(Q,): the stated rank of the first gold id, 0 for none, -1 where a row states nothing; None where no row does."""
    call: View | None = None
    """The shallower of two calls to the store; measures that it reaches are taken from it (clarification 15)."""
    reach: int = 0
    """The depth of that call."""

    @property
    def deepest_first(self) -> int:
        """The largest stated first rank: rows state them at least to this depth."""
        return int(self.first.max(initial=0)) if self.first is not None else 0


@dataclass(frozen=True, slots=True)
class Cell:
    """The figure in one universe; low and high differ where the rows only bound it."""

    definition: Definition
    scope: str
    denominator: str
    n: int
    low: float
    high: float
    listed_low: float
    """The bounds by the listed ids alone, without stated ranks."""
    listed_high: float
    protocol: bool
    """Whether its denominator is the protocol's."""

    @property
    def exact(self) -> bool:
        return self.high - self.low < 1e-9

    @property
    def stated(self) -> bool:
        """Whether it rests on stated ranks, since the listed ids alone only bound it."""
        return self.exact and self.listed_high - self.listed_low >= 1e-9

    @property
    def narrowed(self) -> bool:
        """Whether stated ranks narrow its bounds."""
        return (self.listed_high - self.listed_low) - (self.high - self.low) >= 1e-9

    def distance(self, value: float) -> float:
        """Return how far a figure lies from the bounds; 0 within them."""
        return max(self.low - value, value - self.high, 0.0)

    def may_be(self, value: float) -> bool:
        """Return whether a figure lies within the bounds, but for rounding."""
        return self.distance(value) <= 1e-4

    @property
    def universe(self) -> str:
        return f"{self.definition}, {self.scope}, over {self.denominator} ({self.n})"


def view(
    name: str,
    ranked: Sequence[Sequence[str]],
    gold: Sequence[Sequence[str]],
    row_depth: int = 0,
    first: Sequence[int | None] | None = None,
    cut: Sequence[bool] | None = None,
) -> View:
    """Return rankings judged by name alone. `row_depth` is how many ids rows have at most, 0 for whole rankings.

    A ranking of `row_depth` ids was cut off, a shorter one was not, unless `cut` says which were.
    """
    lengths = np.fromiter(map(len, ranked), dtype=np.int64, count=len(ranked))
    depth = max(PUBLISHED, int(lengths.max(initial=0)))
    ranks = None
    if first is not None and any(rank is not None for rank in first):
        ranks = np.array([-1 if rank is None else rank for rank in first], dtype=np.int64)
    was_cut = (lengths >= row_depth) & (row_depth > 0) if cut is None else np.array(cut, dtype=np.bool_)
    return View(name, judge_by_session(ranked, gold, depth), lengths, was_cut, ranks)


def definitions(depths: Iterable[int] = DEPTHS) -> tuple[Definition, ...]:
    """Return every definition at these depths."""
    ks = sorted({*depths})
    return tuple(
        Definition(kind, k, variant)
        for kind in DEFINITIONS
        for variant in ("", *_FURTHER.get(kind, ()))
        for k in ks
        if (kind, k) != ("mrr", 1)
    )


def bounds(definition: Definition, view: View, *, believe: bool = True) -> tuple[Floats, Floats]:
    """Return (Q,) twice: the least and the most that each question can get; equal where its row determines it.

    `believe` takes stated first ranks for true.
    """
    if view.call is not None and definition.k <= view.reach:
        view = view.call
    judged, k = view.judged, definition.k
    gold, gold_hits = judged.gold, judged.gold_within(k)
    unseen = np.where(view.cut, np.maximum(k - view.lengths, 0), 0)
    start = np.minimum(view.lengths, k)
    """Places behind which unseen gold ids may be."""
    sure = np.zeros_like(gold_hits)
    """Gold ids that are, as stated, at the first of these places."""
    if believe and view.first is not None:
        unlisted = (unseen > 0) & (gold_hits == 0)
        somewhere = unlisted & (view.first > 0)
        nowhere = unlisted & (view.first == 0)
        start = np.where(
            somewhere, np.maximum(view.first - 1, start), np.where(nowhere, max(view.deepest_first, 0), start)
        )
        start = np.where(nowhere, np.maximum(start, view.lengths), start)
        unseen = np.where(unlisted, np.maximum(k - start, 0), unseen)
        sure = np.where(somewhere & (view.first <= k) & (gold > 0), 1, 0)
    more = np.minimum(gold - gold_hits, unseen)
    low, high = gold_hits + sure, gold_hits + more
    if definition.kind == "recall_any":
        return (low > 0).astype(float), (high > 0).astype(float)
    if definition.kind == "recall_frac":
        return share(low, gold), share(high, gold)
    if definition.kind == "recall_all":
        return ((low == gold) & (gold > 0)).astype(float), ((high == gold) & (gold > 0)).astype(float)
    if definition.kind == "precision":
        return low / k, high / k
    if definition.kind == "mrr":
        listed = np.where(gold_hits > 0, reciprocal_rank(judged), 0.0)
        best = np.where((gold_hits == 0) & (more > 0), 1.0 / (start + 1.0), 0.0)
        return listed + best * (sure > 0), listed + best
    return _ndcg(definition, judged, start, sure, more)


def _ndcg(definition: Definition, judged: Judged, start: Ints, sure: Ints, more: Ints) -> tuple[Floats, Floats]:
    k = definition.k
    discounts = 1.0 / np.log2(np.arange(2.0, k + 2.0))
    if definition.variant == LONGMEMEVAL:
        discounts = np.concatenate(([1.0], 1.0 / np.log2(np.arange(2.0, k + 1.0))))
    reached = np.concatenate(([0.0], np.cumsum(discounts)))
    gain = judged.relevant.sum(discounts, len(judged))
    if definition.variant == FOUND:
        value = share(gain, reached[np.minimum(judged.gold_within(k), k)])
        # Gold that was not kept may come first or last of what came back, as far as anybody knows.
        return np.where(more > 0, 0.0, value), np.where(more > 0, 1.0, value)
    ideal = reached[np.minimum(judged.gold, k)]

    def behind(count: Ints) -> Floats:
        begin = np.minimum(start, k)
        added: Floats = reached[np.minimum(begin + count, k)] - reached[begin]
        return added

    return np.minimum(share(gain + behind(sure), ideal), 1.0), np.minimum(share(gain + behind(more), ideal), 1.0)


def cells(views: Sequence[View], chosen: Iterable[Definition], denominators: Sequence[Denominator]) -> list[Cell]:
    """Return the figure in every universe; denominators without questions are left out."""
    scored = []
    for definition in chosen:
        for view in views:
            low, high = bounds(definition, view)
            listed_low, listed_high = (low, high) if view.first is None else bounds(definition, view, believe=False)
            has_gold = view.judged.gold > 0
            for denominator in denominators:
                counted = denominator.mask & has_gold
                without = int((denominator.mask & ~has_gold).sum()) + denominator.absent
                n = int(counted.sum()) + (without if denominator.empty is not None else 0)
                if not n:
                    continue
                extra = without * (denominator.empty or 0.0)
                least, most, listed_least, listed_most = (
                    (float(each[counted].sum()) + extra) / n for each in (low, high, listed_low, listed_high)
                )
                scored.append(
                    Cell(
                        definition,
                        view.name,
                        str(denominator),
                        n,
                        least,
                        most,
                        listed_least,
                        listed_most,
                        denominator.protocol,
                    )
                )
    return scored


def agrees(value: float, published: float, decimals: int) -> bool:
    """Return whether a figure, printed with so many decimals, is the published one."""
    return abs(value - published) <= 0.5 * 10.0**-decimals + 1e-9


def printed_decimals(value: float) -> int:
    """Return the decimals of a published figure in its shortest form."""
    text = repr(value)
    return len(text.partition(".")[2]) if "e" not in text and "." in text else 12
