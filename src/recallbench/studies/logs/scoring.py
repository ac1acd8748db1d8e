"""A log scored against the labels of a sample, so that the estimate is of the whole log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recallbench import __version__
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.recall_log import Recall, RecallLog, describe_skipped
from recallbench.errors import InputError
from recallbench.reports.log_scores import LatencyPart, LogScores, MeanPart, SlicePart
from recallbench.scoring.intervals import Interval
from recallbench.scoring.judgement import Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.quantiles import NEAREST_RANK, Rule, place
from recallbench.scoring.strata import Sampled, weighted_mean
from recallbench.studies.logs.judging import ByText, Judge, judge_of, textless
from recallbench.studies.logs.labels import Label, read_labels
from recallbench.studies.logs.sampling import sampled_id

BLOCK = 4096
"""Recalls judged at a time."""
NONE = "(none)"
"""How recalls without a stratum are shown."""


@dataclass(slots=True)
class _Times:
    """Milliseconds at four digits: so few different values occur that any log fits."""

    counts: Counter[float] = field(default_factory=Counter)

    def add(self, ms: float | None) -> None:
        if ms is not None:
            self.counts[float(f"{ms:.4g}")] += 1

    def part(self, rule: Rule) -> LatencyPart:
        n = self.counts.total()
        p50, p95 = (self._at(place(n, share, rule)) if n else None for share in (0.5, 0.95))
        return LatencyPart(recalls=n, p50_ms=p50, p95_ms=p95, percentiles=rule)

    def _at(self, place: int) -> float | None:
        reached = 0
        for value in sorted(self.counts):
            reached += self.counts[value]
            if reached > place:
                return value
        return None


@dataclass(slots=True)
class _Stratum:
    recalls: int = 0
    times: _Times = field(default_factory=_Times)
    units: dict[str, _Unit] = field(default_factory=dict)
    nothing: int = 0
    anyway: int = 0


@dataclass(slots=True)
class _Unit:
    """A labelled query of a stratum."""

    values: Floats
    counted: int = 0
    logged: int = 0


def score(
    log: RecallLog, path: Path, measures: Sequence[Measure], matching: Matching, percentiles: Rule = NEAREST_RANK
) -> LogScores:
    """Every measure over the whole log and per stratum, estimated from the recalls of the labelled queries.

    Raises InputError for a recall that can't be judged as `matching` asks; a log that skips bad lines leaves it out.
    """
    labels, waiting = read_labels(path, by_text=matching.by_text)
    judge = judge_of(measures, matching)
    by_id = {one.id: one for one in labels if one.id}
    by_text = _by_text(labels)
    strata: dict[str, _Stratum] = {}
    block: list[tuple[_Unit, Label, Recall]] = []
    met: set[int] = set()
    without_texts = 0
    for recall in log.recalls():
        stratum = strata.setdefault(recall.stratum, _Stratum())
        stratum.recalls += 1
        stratum.times.add(recall.ms)
        label = by_id.get(sampled_id(recall.stratum, recall.query)) or by_text.get(recall.query)
        if label is None:
            continue
        met.add(id(label))
        if not label.nothing and not judge.fits(label, recall):
            if not log.skip_bad:
                raise textless(recall)
            without_texts += 1
            continue
        unit = stratum.units.setdefault(recall.query, _Unit(np.zeros(judge.columns)))
        unit.logged += 1
        if label.nothing:
            stratum.nothing += 1
            stratum.anyway += bool(recall.ids)
            continue
        block.append((unit, label, recall))
        if len(block) == BLOCK:
            _judge(block, judge)
            block = []
    _judge(block, judge)
    if not met:
        raise InputError(
            f"{path}: the log has none of the labelled queries",
            expected="labels of a sample of this log",
            found=f"{len(labels)} labelled queries, such as {labels[0].query[:60]!r}",
            remedy="draw the sample from this log with `recallbench sample`",
        )
    notes = _notes(log, strata, waiting, len(labels) - len(met), without_texts)
    whole = list(strata.values())
    matched = None
    if isinstance(judge, ByText):
        matched = judge.told([_mean(whole, i)[0] for i in range(len(measures), judge.columns)])
    return LogScores(
        schema_version="1",
        recallbench_version=__version__,
        files=[str(one) for one in log.files],
        labels=str(path),
        by=log.by,
        bad_lines=log.bad.total(),
        unlabelled=waiting,
        not_logged=len(labels) - len(met),
        matching=str(matching),
        matched=matched,
        without_texts=without_texts,
        overall=_slice("all", whole, measures, percentiles),
        strata=[_slice(name or NONE, [one], measures, percentiles) for name, one in sorted(strata.items())],
        notes=notes,
    )


def _by_text(labels: Sequence[Label]) -> dict[str, Label]:
    """By query, for labels whose ids no sample gave; one text with several labels is told apart by its id alone."""
    counts = Counter(one.query for one in labels)
    return {one.query: one for one in labels if counts[one.query] == 1 and not _drawn(one.id)}


def _drawn(id: str) -> bool:
    return len(id) == 13 and id[0] == "s" and not set(id[1:]) - set("0123456789abcdef")


def _judge(block: Sequence[tuple[_Unit, Label, Recall]], judge: Judge) -> None:
    if not block:
        return
    values = judge.values([(label, recall) for _, label, recall in block])
    for (unit, _, _), row in zip(block, values, strict=True):
        unit.values += row
        unit.counted += 1


def _slice(name: str, strata: Sequence[_Stratum], measures: Sequence[Measure], percentiles: Rule) -> SlicePart:
    labelled = [one for one in strata if one.units]
    times = _Times(sum((one.times.counts for one in strata), Counter()))
    means = []
    for i, measure in enumerate(measures):
        value, bounds = _mean(strata, i)
        low, high = (None if bound is None else round(bound, 10) for bound in (bounds.low, bounds.high))
        means.append(MeanPart(measure=str(measure), value=value, low=low, high=high, method=bounds.method))
    units = [unit for one in labelled for unit in one.units.values()]
    return SlicePart(
        name=name,
        recalls=sum(one.recalls for one in strata),
        labelled_recalls=sum(unit.logged for unit in units),
        labelled_queries=len(units),
        answerable_queries=sum(unit.counted > 0 for unit in units),
        nothing_to_find=sum(one.nothing for one in strata),
        found_anyway=sum(one.anyway for one in strata),
        measures=means,
        latency=times.part(percentiles),
    )


def _mean(strata: Sequence[_Stratum], column: int) -> tuple[float | None, Interval]:
    return weighted_mean(
        [
            Sampled(
                one.recalls,
                np.array([unit.values[column] for unit in one.units.values()]),
                np.array([float(unit.counted) for unit in one.units.values()]),
                np.array([float(unit.logged) for unit in one.units.values()]),
            )
            for one in strata
            if one.units
        ]
    )


def _notes(log: RecallLog, strata: Mapping[str, _Stratum], waiting: int, absent: int, without_texts: int) -> list[str]:
    total = sum(one.recalls for one in strata.values())
    blind = {name or NONE: one.recalls for name, one in sorted(strata.items()) if not one.units}
    notes = []
    if waiting:
        notes.append(f"{waiting} sampled queries have no label yet: the estimate takes them to be like the others")
    if absent:
        notes.append(f"{absent} labelled queries are not in the log, and count for nothing")
    if without_texts:
        one = without_texts == 1
        notes.append(f"{without_texts} {'recall has' if one else 'recalls have'} no texts: taken to be like the others")
    if blind:
        share = sum(blind.values()) / total
        notes.append(f"no label for {log.by} {', '.join(blind)}: {share:.1%} of the recalls are not in the estimate")
    if log.bad:
        notes.append(describe_skipped(log.bad.total()))
    return notes
