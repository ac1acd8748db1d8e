"""A log scored against the labels of a sample, so that the estimate is of the whole log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recallbench import __version__
from recallbench.corpora.recall_log import Recall, RecallLog, passed_over
from recallbench.errors import InputError
from recallbench.experiment.sampling import sampled_id
from recallbench.reading import objects
from recallbench.results.log_scores import LatencyPart, LogScores, MeanPart, SlicePart
from recallbench.scoring.judgement import Floats, judge
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.strata import Sampled, weighted_mean

ABSTENTION = "abstention"
BLOCK = 4096
"""Recalls judged at a time."""
NONE = "(none)"
"""How recalls without a stratum are shown."""


@dataclass(frozen=True, slots=True)
class Label:
    """What is known of one query."""

    id: str
    query: str
    grades: Mapping[str, float]

    @property
    def relevant(self) -> frozenset[str]:
        """The ids that answer it; none where nothing should be found."""
        return frozenset(id for id, grade in self.grades.items() if grade > 0)


@dataclass(slots=True)
class _Times:
    """Milliseconds at four digits: so few different values occur that any log fits."""

    counts: Counter[float] = field(default_factory=Counter)

    def add(self, ms: float | None) -> None:
        if ms is not None:
            self.counts[float(f"{ms:.4g}")] += 1

    def part(self) -> LatencyPart:
        n = self.counts.total()
        return LatencyPart(recalls=n, p50_ms=self._at(0.5, n), p95_ms=self._at(0.95, n))

    def _at(self, share: float, n: int) -> float | None:
        reached = 0
        for value in sorted(self.counts):
            reached += self.counts[value]
            if reached >= share * n - 1e-9:
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


def read_labels(path: Path) -> tuple[list[Label], int]:
    """The labels, and how many queries have none yet; raises InputError, naming the line, for what is neither."""
    found: list[Label] = []
    waiting = 0
    seen: dict[str, int] = {}
    for number, record in objects(path):
        given, query = record.get("relevant"), record.get("query")
        if not isinstance(query, str) or not query.strip():
            raise _refusal(path, number, "query, a text", repr(query)[:60])
        text = " ".join(query.split())
        id = str(record.get("query_id") or "")
        if (id or text) in seen:
            raise _refusal(path, number, f"each query once, it is on line {seen[id or text]} too", id or text[:60])
        seen[id or text] = number
        if given is None:
            waiting += 1
            continue
        grades = _grades(given, path, number)
        nothing = not any(grade > 0 for grade in grades.values())
        if nothing != (record.get("kind") == ABSTENTION):
            expected = "no relevant id" if not nothing else f"relevant ids, or kind {ABSTENTION}"
            raise _refusal(path, number, expected, f"{len(grades)} with kind {record.get('kind')}")
        found.append(Label(id, text, grades))
    if not found:
        raise InputError(
            f"{path}: nothing is labelled",
            expected="lines whose `relevant` lists ids",
            found=f"{waiting} {'query that waits' if waiting == 1 else 'queries that wait'} for labels"
            if waiting
            else "an empty file",
            remedy="fill in `relevant`, by hand or with `recallbench label`",
        )
    return found, waiting


def score(log: RecallLog, path: Path, measures: Sequence[Measure]) -> LogScores:
    """Every measure over the whole log and per stratum, estimated from the recalls of the labelled queries."""
    labels, waiting = read_labels(path)
    by_id = {one.id: one for one in labels if one.id}
    by_text = _by_text(labels)
    strata: dict[str, _Stratum] = {}
    block: list[tuple[_Unit, Label, Recall]] = []
    met: set[int] = set()
    for recall in log.recalls():
        stratum = strata.setdefault(recall.stratum, _Stratum())
        stratum.recalls += 1
        stratum.times.add(recall.ms)
        label = by_id.get(sampled_id(recall.stratum, recall.query)) or by_text.get(recall.query)
        if label is None:
            continue
        met.add(id(label))
        unit = stratum.units.setdefault(recall.query, _Unit(np.zeros(len(measures))))
        unit.logged += 1
        if not label.relevant:
            stratum.nothing += 1
            stratum.anyway += bool(recall.ids)
            continue
        block.append((unit, label, recall))
        if len(block) == BLOCK:
            _judge(block, measures)
            block = []
    _judge(block, measures)
    if not met:
        raise InputError(
            f"{path}: the log has none of the labelled queries",
            expected="labels of a sample of this log",
            found=f"{len(labels)} labelled queries, such as {labels[0].query[:60]!r}",
            remedy="draw the sample from this log with `recallbench sample`",
        )
    notes = _notes(log, strata, waiting, len(labels) - len(met))
    return LogScores(
        schema_version="1",
        recallbench_version=__version__,
        files=[str(one) for one in log.files],
        labels=str(path),
        by=log.by,
        bad_lines=log.bad.total(),
        unlabelled=waiting,
        not_logged=len(labels) - len(met),
        overall=_slice("all", list(strata.values()), measures),
        strata=[_slice(name or NONE, [one], measures) for name, one in sorted(strata.items())],
        notes=notes,
    )


def _by_text(labels: Sequence[Label]) -> dict[str, Label]:
    """By query, for labels whose ids no sample gave; one text with several labels is told apart by its id alone."""
    counts = Counter(one.query for one in labels)
    return {one.query: one for one in labels if counts[one.query] == 1 and not _drawn(one.id)}


def _drawn(id: str) -> bool:
    return len(id) == 13 and id[0] == "s" and not set(id[1:]) - set("0123456789abcdef")


def _judge(block: Sequence[tuple[_Unit, Label, Recall]], measures: Sequence[Measure]) -> None:
    if not block:
        return
    rankings, gold, sizes, grades = [], [], [], []
    for _, label, recall in block:
        places = {id: place for place, id in enumerate(label.grades)}
        rankings.append([places.setdefault(id, len(places)) for id in recall.ids])
        gold.append(frozenset(places[id] for id in label.relevant))
        grades.append({places[id]: grade for id, grade in label.grades.items()})
        sizes.append(len(places))
    depth = max(measure.k for measure in measures)
    judged = judge(rankings, gold, sizes, depth, grades)
    values = np.column_stack([measure.values(judged) for measure in measures])
    for (unit, _, _), row in zip(block, values, strict=True):
        unit.values += row
        unit.counted += 1


def _slice(name: str, strata: Sequence[_Stratum], measures: Sequence[Measure]) -> SlicePart:
    labelled = [one for one in strata if one.units]
    times = _Times(sum((one.times.counts for one in strata), Counter()))
    means = []
    for i, measure in enumerate(measures):
        sampled = [
            Sampled(
                one.recalls,
                np.array([unit.values[i] for unit in one.units.values()]),
                np.array([float(unit.counted) for unit in one.units.values()]),
                np.array([float(unit.logged) for unit in one.units.values()]),
            )
            for one in labelled
        ]
        value, bounds = weighted_mean(sampled)
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
        latency=times.part(),
    )


def _notes(log: RecallLog, strata: Mapping[str, _Stratum], waiting: int, absent: int) -> list[str]:
    total = sum(one.recalls for one in strata.values())
    blind = {name or NONE: one.recalls for name, one in sorted(strata.items()) if not one.units}
    notes = []
    if waiting:
        notes.append(f"{waiting} sampled queries have no label yet: the estimate takes them to be like the others")
    if absent:
        notes.append(f"{absent} labelled queries are not in the log, and count for nothing")
    if blind:
        share = sum(blind.values()) / total
        notes.append(f"no label for {log.by} {', '.join(blind)}: {share:.1%} of the recalls are not in the estimate")
    if log.bad:
        notes.append(passed_over(log.bad.total()))
    return notes


def _grades(given: Any, path: Path, number: int) -> dict[str, float]:
    if isinstance(given, list) and all(isinstance(id, (str, int)) and not isinstance(id, bool) for id in given):
        return {str(id): 1.0 for id in given}
    if isinstance(given, dict) and all(
        isinstance(grade, (int, float)) and not isinstance(grade, bool) and grade >= 0 for grade in given.values()
    ):
        return {id: float(grade) for id, grade in given.items()}
    raise _refusal(path, number, "relevant, a list of ids, or ids with grades of 0 or more", repr(given)[:60])


def _refusal(path: Path, number: int, expected: str, found: str) -> InputError:
    return InputError(
        f"{path.parent.name}/{path.name}, line {number}: not a label",
        expected=expected,
        found=found,
        remedy="`recallbench sample` writes the lines; fill in `relevant`",
    )
