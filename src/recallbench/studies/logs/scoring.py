"""A log scored against the labels of a sample, so that the estimate is of the whole log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from recallbench import __version__
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.recall_log import Recall, RecallLog, describe_skipped
from recallbench.errors import InputError
from recallbench.reports.log_scores import LogScores
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.quantiles import NEAREST_RANK, Rule
from recallbench.studies.logs.judging import RecallJudge, TextJudge, choose_judge, missing_texts
from recallbench.studies.logs.labels import QueryLabel, read_labels
from recallbench.studies.logs.sampling import sampled_id
from recallbench.studies.logs.strata import LabelledUnit, LogStratum, slice_part, weigh

BLOCK = 4096
"""Recalls judged at a time."""
NONE = "(none)"
"""The name of the stratum of recalls without one."""


def score(
    log: RecallLog,
    path: Path,
    measures: Sequence[Measure],
    matching: Matching,
    percentiles: Rule = NEAREST_RANK,
    *,
    allow_random_matches: bool = False,
) -> LogScores:
    """Every measure over the whole log and per stratum, estimated from the recalls of the labelled queries.

    Raises InputError for a recall that can't be judged as `matching` asks; a log that skips bad lines leaves it out.
    """
    labels, waiting = read_labels(path, by_text=matching.by_text)
    judge = choose_judge(measures, matching, allow_random_matches=allow_random_matches)
    reading = _LabelledLog(log, labels, judge)
    reading.read()
    if not reading.labels_met:
        raise InputError(
            f"{path}: the log has none of the judged queries",
            expected="labels of a sample of this log",
            found=f"{len(labels)} judged queries, such as {labels[0].query[:60]!r}",
            remedy="draw the sample from this log with `recallbench sample`",
        )
    strata, not_logged = reading.strata, len(labels) - len(reading.labels_met)
    whole = list(strata.values())
    matched = None
    if isinstance(judge, TextJudge):
        matched = judge.matched_part([weigh(whole, i)[0] for i in range(len(measures), judge.columns)])
    return LogScores(
        schema_version="1",
        recallbench_version=__version__,
        files=[str(file) for file in log.files],
        labels=str(path),
        by=log.by,
        bad_lines=log.bad.total(),
        unlabelled=waiting,
        not_logged=not_logged,
        matching=str(matching),
        matched=matched,
        without_texts=reading.without_texts,
        overall=slice_part("all", whole, measures, percentiles),
        strata=[slice_part(name or NONE, [stratum], measures, percentiles) for name, stratum in sorted(strata.items())],
        notes=list(_notes(log, strata, waiting, not_logged, reading.without_texts)),
    )


class _LabelledLog:
    """A log that is read beside the labels of its queries."""

    def __init__(self, log: RecallLog, labels: Sequence[QueryLabel], judge: RecallJudge) -> None:
        self._log = log
        self._judge = judge
        self._by_id = {label.id: label for label in labels if label.id}
        self._by_text = _by_text(labels)
        self._block: list[tuple[LabelledUnit, QueryLabel, Recall]] = []
        self.strata: dict[str, LogStratum] = {}
        self.labels_met: set[int] = set()
        """The identities of labels whose query was logged."""
        self.without_texts = 0
        """Recalls that were left out: they can't be judged by text."""

    def read(self) -> None:
        """Count every recall, and judge those of labelled queries, a block at a time."""
        for recall in self._log.recalls():
            stratum = self.strata.setdefault(recall.stratum, LogStratum())
            stratum.recalls += 1
            stratum.times.add(recall.ms)
            label = self._by_id.get(sampled_id(recall.stratum, recall.query)) or self._by_text.get(recall.query)
            if label is not None:
                self._add(stratum, label, recall)
            if len(self._block) == BLOCK:
                self._judge_block()
        self._judge_block()

    def _add(self, stratum: LogStratum, label: QueryLabel, recall: Recall) -> None:
        self.labels_met.add(id(label))
        if not label.expects_nothing and not self._judge.can_judge(label, recall):
            if not self._log.skip_bad:
                raise missing_texts(recall)
            self.without_texts += 1
            return
        unit = stratum.units.setdefault(recall.query, LabelledUnit(np.zeros(self._judge.columns)))
        unit.logged += 1
        if label.expects_nothing:
            stratum.nothing_to_find += 1
            stratum.found_anyway += bool(recall.ids)
        else:
            self._block.append((unit, label, recall))

    def _judge_block(self) -> None:
        if not self._block:
            return
        values = self._judge.values([(label, recall) for _, label, recall in self._block])
        for (unit, _, _), row in zip(self._block, values, strict=True):
            unit.values += row
            unit.counted += 1
        self._block = []


def _by_text(labels: Sequence[QueryLabel]) -> dict[str, QueryLabel]:
    """Return by query text the labels whose id is no sample's and whose text no other label has."""
    counts = Counter(label.query for label in labels)
    return {label.query: label for label in labels if counts[label.query] == 1 and not _is_sampled_id(label.id)}


def _is_sampled_id(id: str) -> bool:
    return len(id) == 13 and id[0] == "s" and not set(id[1:]) - set("0123456789abcdef")


def _notes(
    log: RecallLog, strata: Mapping[str, LogStratum], waiting: int, not_logged: int, without_texts: int
) -> Iterator[str]:
    if waiting:
        yield f"{waiting} sampled queries have no label yet: the estimate takes them to be like the others"
    if not_logged:
        yield f"{not_logged} judged queries are not in the log, and count for nothing"
    if without_texts:
        recalls = "recall has" if without_texts == 1 else "recalls have"
        yield f"{without_texts} {recalls} no texts: taken to be like the others"
    blind = {name or NONE: stratum.recalls for name, stratum in sorted(strata.items()) if not stratum.units}
    if blind:
        share = sum(blind.values()) / sum(stratum.recalls for stratum in strata.values())
        yield f"no label for {log.by} {', '.join(blind)}: {share:.1%} of the recalls are not in the estimate"
    if log.bad:
        yield describe_skipped(log.bad.total())
