"""The mix of production: how much of it each kind and tenant has, by a log or by the set itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recallbench.corpora.labelled_sets.canary_record import CanaryLog
from recallbench.corpora.labelled_sets.labelled_records import KIND
from recallbench.corpora.recall_log import RecallLog
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.studies.logs.canary.candidates import Candidate

Stratum = tuple[str, str]
"""A kind and a tenant."""
BOTH = ("kind", "tenant")


@dataclass(frozen=True, slots=True)
class Mix:
    """Recalls by kind and tenant."""

    counts: Mapping[Stratum, int]
    logs: tuple[CanaryLog, ...] = ()
    """The files of the log; none where the set's own mix counts."""
    since: Mapping[Stratum, int] = field(default_factory=dict)
    """Those logged after a day, where recalls say when they were."""
    dated: int = 0


@dataclass(frozen=True, slots=True)
class Production:
    """The share that each kind and tenant of the set has of production."""

    shares: Mapping[Stratum, float]
    """Adding up to 1; without those that production does not ask for."""
    uncovered: float
    """The share of production that the set has no question for."""
    missing: tuple[Stratum, ...]
    """The kinds and tenants of production that the set has no question for."""
    idle: tuple[Stratum, ...]
    """Those of the set that production does not ask for."""
    notes: tuple[str, ...] = ()


def log_mix(files: Sequence[Path], day: str = "", *, by: Sequence[str] = BOTH, skip_bad: bool = False) -> Mix:
    """Return the mix of a log by kind, tenant or both; `since` counts what was logged after this day."""
    log = RecallLog(files, skip_bad=skip_bad)
    counts: Counter[Stratum] = Counter()
    since: Counter[Stratum] = Counter()
    dated = 0
    for recall in log.recalls():
        named = recall.slices
        tenant = named.get("tenant") or named.get("scope") or ""
        stratum = ((named.get("kind") or KIND) if "kind" in by else "", tenant if "tenant" in by else "")
        counts[stratum] += 1
        dated += bool(recall.at)
        since[stratum] += recall.at[:10] > day
    logs = tuple(CanaryLog(name=path.name, sha256=sha256_of(path)) for path in files)
    return Mix(counts, logs, {name: count for name, count in since.items() if count}, dated)


def set_mix(candidates: Sequence[Candidate]) -> Mix:
    """Return the mix of the set's own questions."""
    return Mix(Counter((candidate.kind, candidate.tenant) for candidate in candidates))


def production(mix: Mix, candidates: Sequence[Candidate]) -> Production:
    """Return the share of each kind and tenant; raises InputError where the set has no question for any recall.

    Where the log does not tell kinds or tenants apart, or the set does not, the set's own questions give the shares
    within the rest.
    """
    own = Counter((candidate.kind, candidate.tenant) for candidate in candidates)
    told = [_tells(mix.counts, i) and _tells(own, i) for i in range(len(BOTH))]

    def seen(stratum: Stratum) -> Stratum:
        return (stratum[0] if told[0] else "", stratum[1] if told[1] else "")

    asked = _summed(mix.counts, seen)
    held = _summed(own, seen)
    covered = sum(count for name, count in asked.items() if name in held)
    if not covered:
        raise InputError(
            "the set has no question of a kind and tenant that the log has",
            expected=f"some of {_named(sorted(held))}",
            found=_named(sorted(asked)),
            remedy="name kinds and tenants in the log as in the set, or label a sample of this log",
        )
    shares = {
        stratum: asked[seen(stratum)] / covered * count / held[seen(stratum)]
        for stratum, count in sorted(own.items())
        if asked.get(seen(stratum))
    }
    notes = [
        f"the log and the set do not both tell {name}s apart: their shares are those of the set"
        for name, tells, there in zip(BOTH, told, (_tells(own, 0), _tells(own, 1)), strict=True)
        if mix.logs and there and not tells
    ]
    return Production(
        shares,
        1 - covered / sum(asked.values()),
        tuple(sorted(name for name in asked if name not in held)),
        tuple(sorted(name for name in own if name not in shares)),
        tuple(notes),
    )


def stratum_name(stratum: Stratum) -> str:
    """Return a kind and tenant in words."""
    return " of ".join(part for part in stratum if part) or "(none)"


def _tells(counts: Mapping[Stratum, int], place: int) -> bool:
    """Whether the kinds, or the tenants, are named at all."""
    return bool({name[place] for name in counts} - {(KIND, "")[place], ""})


def _summed(counts: Mapping[Stratum, int], seen: Callable[[Stratum], Stratum]) -> Counter[Stratum]:
    total: Counter[Stratum] = Counter()
    for name, count in counts.items():
        total[seen(name)] += count
    return total


def _named(strata: Sequence[Stratum]) -> str:
    return ", ".join(map(stratum_name, strata[:8])) + (" …" if len(strata) > 8 else "")
