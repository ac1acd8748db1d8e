"""A measure over stored results: which of them can be compared, whether it moves, and whether the last is worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from recallbench import __version__
from recallbench.compare.folders import result_side
from recallbench.compare.frame import unlike
from recallbench.compare.pairs import measured_parts, pair
from recallbench.compare.rules import is_lower
from recallbench.compare.side import Side
from recallbench.errors import InputError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.reports import drift as parts
from recallbench.reports.cells import system
from recallbench.reports.comparison import LEVEL
from recallbench.results.dated import by_start
from recallbench.results.folder import BLOCKED
from recallbench.results.metrics import OVERALL, EstimatePart, Metrics
from recallbench.results.result import Result, open_with_manifest
from recallbench.scoring.estimate import estimates
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.trend import trend


@dataclass(frozen=True, slots=True)
class _Night:
    made: datetime
    result: Result

    @property
    def folder(self) -> Path:
        return self.result.folder

    @property
    def metrics(self) -> Metrics:
        return self.result.metrics


def drift(folders: Sequence[Path], measure: Measure) -> parts.Drift:
    """The measure over the largest set of results that are comparable; the others are named with the reason.

    Raises InputError for a folder that is no result, or whose rankings do not give its figures.
    """
    nights, out = _split(folders)
    kept = _largest(nights)
    out += [(night.folder, _reason(kept[-1], night)) for night in nights if night not in kept]
    deep = [one for one in kept if one.metrics.retrieval.depth < measure.k]
    if deep:
        raise UsageError(
            f"{measure} can't be taken from {deep[0].folder}",
            expected=f"a depth of {deep[0].metrics.retrieval.depth} or less",
            found=str(measure),
            remedy="--measure recall_any@10",
        )
    first = last = None
    found: list[parts.NightPart] = []
    notes: list[tuple[Path, str]] = []
    for one in kept:
        side = result_side(one.result)
        last = side.rankings
        first = first or last
        notes += [(one.folder, note) for note in side.notes]
        found.append(_night(one, side, measure))
    assert first is not None
    assert last is not None
    values = [one.estimate.value or 0.0 for one in found]
    moved = _trend([one.made for one in kept], values)
    moved_by = None
    if len(kept) > 1 and measure.separable:
        (moved_by,) = measured_parts([str(measure)], pair(first, last, [measure]))
    return parts.Drift(
        schema_version="1",
        recallbench_version=__version__,
        measure=str(measure),
        corpus=visible(kept[-1].metrics.corpus.name),
        system=visible(f"{system(kept[-1].metrics)} with {kept[-1].metrics.embedder_name}"),
        nights=found,
        left_out=[parts.LeftOutPart(folder=str(folder), reason=reason) for folder, reason in out],
        trend=moved,
        last_against_first=moved_by,
        notes=_together(notes),
        fell=(moved_by is not None and is_lower(moved_by)) or moved.direction == "falling",
    )


def _together(notes: Sequence[tuple[Path, str]]) -> list[str]:
    """Return each note once, with the folders that it is about."""
    folders: dict[str, list[str]] = {}
    for folder, note in notes:
        folders.setdefault(note.removeprefix(f"{folder}: "), []).append(str(folder))
    return [f"{', '.join(names)}: {note}" for note, names in folders.items()]


def _split(folders: Sequence[Path]) -> tuple[list[_Night], list[tuple[Path, str]]]:
    """Results, earliest first, and what came to nothing."""
    out: list[tuple[Path, str]] = []
    whole: dict[Path, Result] = {}
    for folder in dict.fromkeys(folders):
        if (folder / BLOCKED).is_file():
            out.append((folder, f"{BLOCKED}: the run could not be made"))
        else:
            whole[folder] = open_with_manifest(folder)
    nights = [_Night(made, whole[folder]) for made, folder in by_start(whole)]
    if not nights:
        raise InputError(
            "there is no result to look at",
            expected="results of several nights",
            found="; ".join(reason for _, reason in out) or "none",
            remedy="make some with `recallbench run`",
        )
    return nights, out


def _largest(nights: Sequence[_Night]) -> list[_Night]:
    """The largest set of comparable results; of equal ones, that of the latest result."""
    groups: list[list[_Night]] = []
    for night in nights:
        fitting = next((group for group in groups if not _reason(group[0], night)), None)
        if fitting is None:
            groups.append([night])
        else:
            fitting.append(night)
    return max(groups, key=lambda group: (len(group), group[-1].made, group[-1].folder.name))


def _reason(one: _Night, other: _Night) -> str:
    """Why the two can't be compared; empty where they can. A store may change its version and settings over time."""
    try:
        unlike(one.metrics, other.metrics, (one.folder.name, other.folder.name), ("store",))
    except UsageError as error:
        return f"{error.problem.rpartition(': ')[2]}: {error.found}"
    here, there = system(one.metrics), system(other.metrics)
    return "" if here == there else visible(f"another system: {here} against {there}")


def _night(one: _Night, side: Side, measure: Measure) -> parts.NightPart:
    rankings = side.rankings
    every = {OVERALL: np.ones(len(rankings.questions), dtype=np.bool_)}
    (found,) = estimates([measure], rankings.calls, rankings.clusters, every)[OVERALL]
    fields = {name: value for name, value in asdict(found).items() if name != "left_out"}
    return parts.NightPart(
        folder=str(one.folder),
        made=one.made.isoformat(),
        version=side.part.version.split(" (")[0],
        content_sha256=side.part.content_sha256,
        estimate=EstimatePart.model_validate(fields | {"measure": str(measure), "ordered": measure.ordered}),
    )


def _trend(times: Sequence[datetime], values: Sequence[float]) -> parts.TrendPart:
    days = [(time - times[0]).total_seconds() / 86400 for time in times]
    # A slope by the day of what lies minutes apart would be a thousandfold of what was seen.
    within = days[-1] < 1
    found = trend([float(i) for i in range(len(days))] if within else days, values)
    direction: parts.Direction = "none shown"
    if found.p is None:
        direction = "too few"
    elif found.p <= LEVEL:
        direction = "falling" if found.falls > found.rises else "rising"
    return parts.TrendPart(
        direction=direction,
        n=found.n,
        rises=found.rises,
        falls=found.falls,
        p=found.p,
        method="n/a (a single result shows no trend)" if found.n == 1 else found.method,
        slope_per_day=None if within else found.slope,
        slope_per_result=found.slope if within else None,
    )
