"""The draw: n questions in the proportions of production, hard ones in theirs, the same for the same seed.

A stratum is a kind and tenant, its hard questions apart from the others. Within a stratum a hash decides, so that a
question's chance depends on nothing but its stratum. A plain mean is then one of production's mix up to the rounding of
the strata, and can miss it by no more than the total variation between the two (`bias`): each stratum's mean lies
between 0 and 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recallbench.corpora.labelled_sets.canary_record import CanaryStratum
from recallbench.errors import UsageError
from recallbench.scoring.planning.mix_drift import total_variation
from recallbench.scoring.strata import allocate
from recallbench.studies.logs.canary.candidates import Candidate
from recallbench.studies.logs.canary.mix import Stratum
from recallbench.studies.logs.sampling import draw_place

Cell = tuple[str, str, bool]
"""A kind, a tenant, and whether its questions are the hard ones."""
DIGITS = 6
"""Shares and weights are written down to this many places."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The questions drawn, and the strata they are from."""

    questions: tuple[Candidate, ...]
    strata: tuple[CanaryStratum, ...]
    bias: float
    """The most by which a plain mean over the questions may miss that of production's mix."""
    kept: tuple[str, ...]
    """Those of an earlier canary that are here again."""

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
    earlier: frozenset[str] = frozenset(),
    keep: float = 0.0,
) -> Draw:
    """Draw n questions, of each kind and tenant with a share at least one, and never more than there are.

    `hard` is the least share of hard ones, None for their own. Of each stratum up to the share `keep` is of the
    `earlier` questions. Raises UsageError where n can't hold one of each kind and tenant.
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
    counts = _with_hard(cells, sizes, hard)
    production = {
        cell: shares[cell[:2]] * len(members) / available[cell[:2]] for cell, members in sorted(cells.items())
    }
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
            weight=round(share * total / counts[cell], DIGITS) if counts[cell] else None,
        )
        for cell, share in production.items()
    )
    return Draw(
        tuple(candidate for candidate in candidates if candidate.id in chosen),
        strata,
        round(total_variation(production, counts), DIGITS),
        tuple(candidate.id for candidate in candidates if candidate.id in kept),
    )


def _with_hard(
    cells: Mapping[Cell, Sequence[Candidate]], sizes: Mapping[Stratum, int], hard: float | None
) -> dict[Cell, int]:
    """Return how many are drawn of each cell: the hard ones in proportion over all strata, or as many as are asked."""
    quotas: dict[str, float] = {}
    forced: dict[str, int] = {}
    most: dict[str, int] = {}
    for stratum, size in sizes.items():
        there, others = _size(cells, stratum, hard=True), _size(cells, stratum, hard=False)
        name = _key(stratum)
        # Where too few others are there, hard ones fill the stratum.
        forced[name] = max(0, size - others)
        most[name] = min(there, size) - forced[name]
        quotas[name] = max(0.0, size * there / (there + others) - forced[name])
    expected = sum(quotas.values())
    wanted = round(expected)
    if hard is not None:
        wanted = max(wanted, math.ceil(hard * sum(sizes.values()) - 1e-9) - sum(forced.values()))
    elif expected:
        wanted = max(wanted, 1 - sum(forced.values()))
    wanted = min(wanted, sum(most.values()))
    extra = allocate(wanted, quotas, most, least=0) if expected and wanted > 0 else dict.fromkeys(quotas, 0)
    counts: dict[Cell, int] = {}
    for stratum, size in sizes.items():
        name = _key(stratum)
        for cell, count in (
            ((*stratum, True), forced[name] + extra[name]),
            ((*stratum, False), size - forced[name] - extra[name]),
        ):
            if cell in cells:
                counts[cell] = count
    return counts


def _chosen(
    cell: Cell, members: Sequence[Candidate], count: int, seed: int, earlier: frozenset[str], keep: float
) -> tuple[set[str], set[str]]:
    """Return the questions of one cell, and which of them an earlier canary had."""
    order = sorted((draw_place(seed, _key(cell[:2]), member.id), member.id) for member in members)
    old = [id for _, id in order if id in earlier]
    new = [id for _, id in order if id not in earlier]
    again = old[: math.floor(keep * count + 0.5)]
    taken = [*again, *new, *old[len(again) :]][:count]
    return set(taken), set(taken) & earlier


def _size(cells: Mapping[Cell, Sequence[Candidate]], stratum: Stratum, *, hard: bool) -> int:
    return len(cells.get((*stratum, hard), ()))


def _key(stratum: Stratum) -> str:
    return "\0".join(stratum)
