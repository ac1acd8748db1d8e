"""The draw: n questions in the proportions of production, hard ones in theirs, the same for the same seed.

A kind and tenant gets the largest remainder of its share, and at least one question. Of these, as many are hard as in
the set, on the average: where that is no whole number the seed decides between the two next to it, so that every
question of a kind and tenant has the same chance. Within both a hash decides. A plain mean is then one of production's
mix up to the rounding of kinds and tenants, and can miss it by no more than the total variation between the two
(`bias`), since each mean lies between 0 and 1. With a share of hard ones that was asked for, theirs is no longer the
chance of the others; each question's weight brings the mean back.

A canary that follows another one draws in an order of its own (the earlier record is part of the hash), and retires
first what has stayed longest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recallbench.corpora.labelled_sets.canary_record import CanaryStratum
from recallbench.errors import UsageError
from recallbench.scoring.planning.proportion import Cell, proportion
from recallbench.scoring.strata import allocate
from recallbench.studies.logs.canary.candidates import Candidate
from recallbench.studies.logs.canary.mix import Stratum
from recallbench.studies.logs.sampling import draw_place

ROUNDING = 1e-9
DIGITS = 6
"""Shares and weights are written down to this many places."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The canary that a draw follows."""

    record_sha256: str
    stayed: Mapping[str, int]
    """In how many canaries in a row each of its questions has been, of those that are unchanged in the set."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The questions drawn, and the strata they are from."""

    questions: tuple[Candidate, ...]
    strata: tuple[CanaryStratum, ...]
    bias: float
    """The most by which a plain mean over the questions may miss that of production's mix."""
    proportional: bool
    """Whether each kind and tenant is within a question of its share, and hard ones are as frequent as in the set."""
    kept: Mapping[str, int]
    """Those of an earlier canary that are here again, and in how many in a row each has been, this one included."""

    @property
    def hard_share(self) -> float:
        """The share of hard questions among those drawn."""
        return sum(bool(question.hard) for question in self.questions) / len(self.questions)

    @property
    def hard_in_production(self) -> float:
        """Their share in production's mix, as far as the set tells."""
        return sum(stratum.share for stratum in self.strata if stratum.hard)


def draw(
    candidates: Sequence[Candidate],
    shares: Mapping[Stratum, float],
    n: int,
    seed: int,
    hard: float | None = None,
    earlier: Earlier | None = None,
    keep: float = 0.0,
) -> Draw:
    """Draw n questions, of each kind and tenant with a share at least one, and never more than there are.

    `hard` is the least share of hard ones, None for their own. Of each stratum the share `keep` is of the `earlier`
    questions, and none of them stays for more canaries in a row than 1 / (1 - keep), rounded up, where the set has
    others. Raises UsageError where n can't hold one of each kind and tenant.
    """
    cells: dict[Cell, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if (candidate.kind, candidate.tenant) in shares:
            cells[candidate.kind, candidate.tenant, bool(candidate.hard)].append(candidate)
    available = {stratum: _size(cells, stratum, hard=False) + _size(cells, stratum, hard=True) for stratum in shares}
    total = min(n, sum(available.values()))
    if total < len(shares):
        raise UsageError(
            f"{total} questions can't hold one of each of {len(shares)} kinds and tenants",
            expected="at least as many questions as there are kinds with a tenant each",
            found=f"{len(shares)}, such as {' of '.join(filter(None, next(iter(shares))))!r}",
            remedy="--by kind, or --by tenant, draws by one of the two alone; a larger --n holds more",
        )
    names = {_key(stratum): stratum for stratum in shares}
    by_name = allocate(
        total,
        {name: shares[stratum] for name, stratum in names.items()},
        {name: available[stratum] for name, stratum in names.items()},
    )
    sizes = {stratum: by_name[name] for name, stratum in names.items()}
    expected = _expected_hard(cells, sizes, hard)
    counts = _counts(cells, sizes, expected, seed)
    production = {
        cell: shares[cell[:2]] * len(members) / available[cell[:2]] for cell, members in sorted(cells.items())
    }
    asked = {cell: expected[cell[:2]] if cell[2] else sizes[cell[:2]] - expected[cell[:2]] for cell in production}
    chosen: set[str] = set()
    kept: set[str] = set()
    for cell, members in cells.items():
        taken, old = _chosen(cell, members, counts[cell], seed, earlier, keep)
        chosen |= taken
        kept |= old
    strata = tuple(
        CanaryStratum(
            kind=cell[0],
            tenant=cell[1],
            hard=cell[2],
            share=round(share, DIGITS),
            available=len(cells[cell]),
            quota=round(share * total, DIGITS),
            drawn=counts[cell],
            weight=round(share * total / asked[cell], DIGITS) if asked[cell] > ROUNDING else None,
        )
        for cell, share in production.items()
    )
    found = proportion(production, asked, {cell: counts[cell] for cell in production})
    return Draw(
        tuple(candidate for candidate in candidates if candidate.id in chosen),
        strata,
        round(found.bias, DIGITS),
        found.proportional,
        {
            candidate.id: earlier.stayed[candidate.id] + 1
            for candidate in candidates
            if earlier is not None and candidate.id in kept
        },
    )


def _expected_hard(
    cells: Mapping[Cell, Sequence[Candidate]], sizes: Mapping[Stratum, int], hard: float | None
) -> dict[Stratum, float]:
    """Return how many of each kind and tenant are to be hard, on the average: as in the set, or as many as are asked.

    At least one in all, where there is one.
    """
    there = {stratum: _size(cells, stratum, hard=True) for stratum in sizes}
    own = {
        stratum: size * there[stratum] / (there[stratum] + _size(cells, stratum, hard=False))
        for stratum, size in sizes.items()
    }
    least = 1 if hard is None else max(1, math.ceil(hard * sum(sizes.values()) - ROUNDING))
    missing = least - sum(own.values())
    expected = dict(own)
    while missing > ROUNDING:
        # Each grows in proportion, as far as it has hard questions and room for them.
        open_ = [stratum for stratum in own if min(there[stratum], sizes[stratum]) - expected[stratum] > ROUNDING]
        if not open_:
            break
        factor = missing / sum(own[stratum] for stratum in open_)
        for stratum in open_:
            expected[stratum] = min(there[stratum], sizes[stratum], expected[stratum] + own[stratum] * factor)
        missing = least - sum(expected.values())
    return expected


def _counts(
    cells: Mapping[Cell, Sequence[Candidate]],
    sizes: Mapping[Stratum, int],
    expected: Mapping[Stratum, float],
    seed: int,
) -> dict[Cell, int]:
    """Return how many are drawn of each cell: those expected, rounded along one ruler with a random start."""
    reached = draw_place(seed, "hard", "start") / 2**128
    counts: dict[Cell, int] = {}
    for stratum, size in sorted(sizes.items()):
        before, reached = math.floor(reached + ROUNDING), reached + expected[stratum]
        hard = math.floor(reached + ROUNDING) - before
        counts |= {
            cell: count for cell, count in (((*stratum, True), hard), ((*stratum, False), size - hard)) if cell in cells
        }
    return counts


def _chosen(
    cell: Cell, members: Sequence[Candidate], count: int, seed: int, earlier: Earlier | None, keep: float
) -> tuple[set[str], set[str]]:
    """Return the questions of one cell, and which of them an earlier canary had."""
    stratum = _key(cell[:2])
    stayed: Mapping[str, int] = {} if earlier is None else earlier.stayed
    # By the seed alone, each canary would have the same questions first, and the third would be the first again.
    salted = stratum if earlier is None else f"{earlier.record_sha256}\0{stratum}"
    order = [id for _, id in sorted((draw_place(seed, salted, member.id), member.id) for member in members)]
    old = sorted((id for id in order if id in stayed), key=lambda id: stayed[id])
    new = [id for id in order if id not in stayed]
    # A stratum of one question keeps it as often as not, at half.
    rounding = draw_place(seed, salted, f"keep {cell[2]}") / 2**128
    able = [id for id in old if stayed[id] * (1 - keep) < 1 - ROUNDING]
    again = able[: math.floor(keep * count + rounding)]
    taken = [*again, *new, *[id for id in old if id not in set(again)]][:count]
    return set(taken), set(taken) & stayed.keys()


def _size(cells: Mapping[Cell, Sequence[Candidate]], stratum: Stratum, *, hard: bool) -> int:
    return len(cells.get((*stratum, hard), ()))


def _key(stratum: Stratum) -> str:
    return "\0".join(stratum)
