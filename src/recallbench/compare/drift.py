"""A measure over stored results: the comparable ones, its trend, and the last against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recallbench import __version__
from recallbench.compare.folders import result_side
from recallbench.compare.frame import comparable_groups, series_facts, unlike
from recallbench.compare.pairs import measured_parts, pair
from recallbench.compare.rules import Rule, decide, is_lower
from recallbench.compare.side import Side
from recallbench.errors import InputError, UsageError
from recallbench.escaping.terminal import visible
from recallbench.reports import drift as parts
from recallbench.reports.cells import system
from recallbench.reports.comparison import LEVEL
from recallbench.reports.own_encoder import encoder_words
from recallbench.results.dated import by_start
from recallbench.results.folder import BLOCKED
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result, open_with_manifest
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.trend import trend


@dataclass(frozen=True, slots=True)
class _Night:
    started: datetime
    result: Result

    @property
    def folder(self) -> Path:
        return self.result.folder

    @property
    def metrics(self) -> Metrics:
        return self.result.metrics


def drift(folders: Sequence[Path], measure: Measure, rules: Sequence[Rule] = ()) -> parts.Drift:
    """Return the measure over the largest set of comparable results; the others are listed with the reason.

    The last of them is held to the rules, beside the first. Raises InputError for a folder that is no result, or whose
    rankings do not give its figures.
    """
    nights, left_out = _split(folders)
    comparable = _largest(nights)
    left_out += [(night.folder, _reason(comparable[-1], night)) for night in nights if night not in comparable]
    for required in (measure, *(rule.measure for rule in rules)):
        if deep := [night for night in comparable if night.metrics.retrieval.depth < required.k]:
            raise UsageError(
                f"{required} can't be taken from {deep[0].folder}",
                expected=f"a depth of {deep[0].metrics.retrieval.depth} or less",
                found=str(required),
                remedy="choose a measure of that depth, such as recall_any@10",
            )
    first = last = None
    night_parts: list[parts.NightPart] = []
    notes: list[tuple[Path, str]] = []
    for night in comparable:
        side = result_side(night.result)
        last = side.rankings
        first = first or last
        notes += [(night.folder, note) for note in side.notes]
        night_parts.append(_night(night, side, measure))
    assert first is not None
    assert last is not None
    values = [part.estimate.value or 0.0 for part in night_parts]
    trend_part = _trend([night.started for night in comparable], values)
    compared = [measure] if len(comparable) > 1 and measure.separable else []
    compared = list(dict.fromkeys([*compared, *(rule.measure for rule in rules)]))
    paired = dict(zip(compared, measured_parts(list(map(str, compared)), pair(first, last, compared)), strict=True))
    last_against_first = paired.get(measure) if len(comparable) > 1 else None
    conditions = [decide(rule, paired[rule.measure]) for rule in rules]
    if len(comparable) == 1:
        no_drop = {"low": None, "high": None, "outcome": "inconclusive", "reason": "there is no earlier result"}
        conditions = [
            part.model_copy(update=no_drop) if rule.word == "drops" else part
            for rule, part in zip(rules, conditions, strict=True)
        ]
    return parts.Drift(
        schema_version="1",
        recallbench_version=__version__,
        measure=str(measure),
        corpus=visible(comparable[-1].metrics.corpus.name),
        system=visible(f"{system(comparable[-1].metrics)} with {encoder_words(comparable[-1].metrics)}"),
        nights=night_parts,
        left_out=[parts.LeftOutPart(folder=str(folder), reason=reason) for folder, reason in left_out],
        trend=trend_part,
        last_against_first=last_against_first,
        notes=_merged_notes(notes),
        fell=(last_against_first is not None and is_lower(last_against_first)) or trend_part.direction == "falling",
        conditions=conditions,
    )


def _merged_notes(notes: Sequence[tuple[Path, str]]) -> list[str]:
    """Return each note once, with all its folders."""
    folders: dict[str, list[str]] = {}
    for folder, note in notes:
        folders.setdefault(note.removeprefix(f"{folder}: "), []).append(str(folder))
    return [f"{', '.join(names)}: {note}" for note, names in folders.items()]


def _split(folders: Sequence[Path]) -> tuple[list[_Night], list[tuple[Path, str]]]:
    """Return the results, earliest first, and the BLOCKED folders with the reason."""
    left_out: list[tuple[Path, str]] = []
    results: dict[Path, Result] = {}
    for folder in dict.fromkeys(folders):
        if (folder / BLOCKED).is_file():
            left_out.append((folder, f"{BLOCKED}: the run could not be made"))
        else:
            results[folder] = open_with_manifest(folder)
    nights = [_Night(started, results[folder]) for started, folder in by_start(results)]
    if not nights:
        raise InputError(
            "there is no result to look at",
            expected="results of several nights",
            found="; ".join(reason for _, reason in left_out) or "none",
            remedy="make some with `recallbench run`",
        )
    return nights, left_out


def _largest(nights: Sequence[_Night]) -> list[_Night]:
    """Return the largest set of comparable results; of equal ones, that with the latest result."""
    groups = comparable_groups(nights, _reason)
    return max(groups, key=lambda group: (len(group), group[-1].started, group[-1].folder.name))


def _reason(night: _Night, other: _Night) -> str:
    return why_another_series(night.metrics, other.metrics, (night.folder.name, other.folder.name))


def why_another_series(first: Metrics, other: Metrics, names: tuple[str, str]) -> str:
    """Return why two results can't be compared, but for the store's version and settings; empty where they can."""
    if series_facts(first) == series_facts(other):
        return ""
    try:
        unlike(first, other, names, ("store",))
    except UsageError as error:
        return f"{error.problem.rpartition(': ')[2]}: {error.found}"
    return visible(f"another system: {system(first)} against {system(other)}")


def _night(night: _Night, side: Side, measure: Measure) -> parts.NightPart:
    (estimate,) = side.rankings.estimates([measure])
    return parts.NightPart(
        folder=str(night.folder),
        made=night.started.isoformat(),
        version=side.part.version.split(" (")[0],
        content_sha256=side.part.content_sha256,
        estimate=estimate,
    )


def _trend(times: Sequence[datetime], values: Sequence[float]) -> parts.TrendPart:
    days = [(time - times[0]).total_seconds() / 86400 for time in times]
    # For results minutes apart, a slope per day would be a thousand times the change that was seen.
    within = days[-1] < 1
    outcome = trend([float(i) for i in range(len(days))] if within else days, values)
    direction: parts.Direction = "none shown"
    if outcome.p is None:
        direction = "too few"
    elif outcome.p <= LEVEL:
        direction = "falling" if outcome.falls > outcome.rises else "rising"
    return parts.TrendPart(
        direction=direction,
        n=outcome.n,
        rises=outcome.rises,
        falls=outcome.falls,
        p=outcome.p,
        method="n/a (a single result shows no trend)" if outcome.n == 1 else outcome.method,
        slope_per_day=None if within else outcome.slope,
        slope_per_result=outcome.slope if within else None,
    )
