"""Thresholds on abstention: whether the top score tells apart the queries that nothing answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recallbench.compare.rules import ROUNDING
from recallbench.compare.thresholds_file import AbstentionThresholds
from recallbench.errors import InputError
from recallbench.reports.thresholds import REACHES, TOO_SHORT, GateThreshold
from recallbench.results.rankings import check_figure
from recallbench.results.result import Result
from recallbench.scoring.abstention import Abstention, abstention, top_score
from recallbench.scoring.intervals import Interval, is_too_short

PART = "abstention"


def abstention_thresholds(name: str, result: Result, thresholds: AbstentionThresholds) -> Iterator[GateThreshold]:
    """Yield each threshold with the measured value; raises InputError where there is nothing to abstain from."""
    measured, folder = _measured(name, result), result.folder
    n = measured.n + measured.answerable
    if thresholds.auroc is not None:
        if measured.auroc is None:
            raise _unknown_abstention(name, folder, "no answerable query to tell them from")
        by = thresholds.auroc - measured.auroc
        yield _part(name, "auroc", thresholds.auroc, measured.auroc, measured.auroc_interval, 1.0, n, by)
    if thresholds.false_retrieval is not None:
        if measured.false_retrieval is None:
            raise _unknown_abstention(name, folder, "no answerable query to take the threshold of the score from")
        rate, interval = measured.false_retrieval, measured.false_retrieval_interval
        by = rate - thresholds.false_retrieval
        yield _part(name, "false_retrieval", thresholds.false_retrieval, rate, interval, 0.0, measured.n, by)


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
    short = by > ROUNDING
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


def _measured(name: str, result: Result) -> Abstention:
    """Return the abstention figures of the rows; raises InputError where metrics.json has others."""
    stated, rankings = result.metrics.abstention, result.rankings
    if stated is None:
        raise _unknown_abstention(name, result.folder, "no query that should find nothing")
    failed = frozenset(result.metrics.retrieval.failed)
    abstain = rankings.abstention
    # A question whose expected text matches nothing may be answerable or not.
    known = [i for i, gold in enumerate(rankings.gold) if gold or abstain[i]]
    clusters = [rankings.clusters[i] for i in known]
    measured = abstention(
        [
            top_score(
                [score for score in rankings.first_scores[i : i + 1] if score is not None],
                failed=rankings.questions[i] in failed,
                abstain=abstain[i],
            )
            for i in known
        ],
        [abstain[i] for i in known],
        clusters if any(clusters) else None,
    )
    for key in ("auroc", "false_retrieval"):
        check_figure(result.folder.name, key, getattr(stated, key), getattr(measured, key))
    return measured


def _unknown_abstention(name: str, folder: Path, found: str) -> InputError:
    return InputError(
        f"{name}: abstention can't be judged in {folder}",
        expected="queries of kind abstention, and answerable ones",
        found=found,
        remedy=f"take [result.{name}.abstention] out, or measure with a set that has both",
    )
