"""Abstention held to thresholds: does the score tell the queries that nothing answers?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recallbench.compare.thresholds_file import Abstaining
from recallbench.errors import InputError
from recallbench.reports.thresholds import REACHES, TOO_SHORT, GateThreshold
from recallbench.results.metrics import Metrics
from recallbench.results.rows import NAME, read_rows
from recallbench.scoring.abstention import Abstention, abstention, top_score
from recallbench.scoring.intervals import Interval, is_too_short

PART = "abstention"
_ROUNDING = 1e-9


def decided(name: str, folder: Path, metrics: Metrics, asked: Abstaining) -> Iterator[GateThreshold]:
    """Each threshold beside what the rows give; raises InputError where there is nothing to abstain from."""
    found = _measured(name, folder, metrics)
    n = found.n + found.answerable
    if asked.auroc is not None:
        if found.auroc is None:
            raise _nothing(name, folder, "no answerable query to tell them from")
        by = asked.auroc - found.auroc
        yield _part(name, "auroc", asked.auroc, found.auroc, found.auroc_interval, 1.0, n, by)
    if asked.false_retrieval is not None:
        if found.false_retrieval is None:
            raise _nothing(name, folder, "no answerable query to take the threshold of the score from")
        rate, interval = found.false_retrieval, found.false_retrieval_interval
        by = rate - asked.false_retrieval
        yield _part(name, "false_retrieval", asked.false_retrieval, rate, interval, 0.0, found.n, by)


def _part(
    name: str,
    what: str,
    required: float,
    observed: float,
    interval: Interval,
    ceiling: float,
    n: int,
    by: float,
) -> GateThreshold:
    short = by > _ROUNDING
    low, high = interval.low, interval.high
    within = short and low is not None and high is not None and low <= required <= high
    return GateThreshold.model_validate(
        {
            "result": name,
            "part": PART,
            "what": what,
            "measure": what,
            "required": required,
            "observed": observed,
            "low": interval.low,
            "high": interval.high,
            "ceiling": ceiling,
            "n": n,
            "outcome": "falls short" if short else "holds",
            "by": by if short else None,
            "note": "; ".join([REACHES] * within + [TOO_SHORT] * is_too_short(observed, interval.design_effect)),
        }
    )


def _measured(name: str, folder: Path, metrics: Metrics) -> Abstention:
    """From the rows, as the run made it; raises InputError where `metrics.json` says otherwise."""
    stated = metrics.abstention
    if stated is None:
        raise _nothing(name, folder, "no query that should find nothing")
    failed = frozenset(metrics.retrieval.failed)
    rows = [row for row in read_rows(folder) if row.gold or row.abstention]
    clusters = [row.cluster for row in rows]
    found = abstention(
        [
            top_score([hit.score for hit in row.hits[:1]], failed=row.question_id in failed, abstain=row.abstention)
            for row in rows
        ],
        [row.abstention for row in rows],
        clusters if any(clusters) else None,
    )
    for key in ("auroc", "false_retrieval"):
        one, other = getattr(stated, key), getattr(found, key)
        if (one is None) != (other is None) or (one is not None and abs(one - other) > _ROUNDING):
            raise InputError(
                f"{folder.name}: the rankings do not give the figures",
                expected=f"{key} {one}",
                found=f"{other} from {NAME}",
                remedy="make the result again with `recallbench run`",
            )
    return found


def _nothing(name: str, folder: Path, found: str) -> InputError:
    return InputError(
        f"{name}: nothing is known of abstention in {folder}",
        expected="queries of kind abstention, and others that something answers",
        found=found,
        remedy=f"take [result.{name}.abstention] out, or measure with a set that has both",
    )
