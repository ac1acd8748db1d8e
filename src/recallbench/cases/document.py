"""A report for machines: a JSON document, the figures under common names, CSV."""

from __future__ import annotations

import math
from typing import Any

from recallbench import __version__
from recallbench.cases.definitions import PERCENTILES
from recallbench.cases.scores import CaseScores
from recallbench.cases.table import MEAN, column, remarks
from recallbench.reports.cells import every_digit
from recallbench.reports.table import Table
from recallbench.scoring.intervals import is_too_short


def summary(scores: CaseScores) -> dict[str, Any]:
    """Return the figures under the names that harnesses commonly give them."""
    names = {f"{name}@k": scores.short(name) for name in ("precision", "recall", "f1", "ndcg")}
    figures = {name: _number(scores.value(measure)) for name, measure in names.items()}
    latencies = ("latency_p50_ms", "latency_p95_ms")
    return {
        "params": {
            "k": scores.k,
            "depth": scores.judged.depth,
            "cases": len(scores),
            "n": scores.n,
            "failed": len(scores.failures),
            "matching": str(scores.matching),
            **scores.definitions.named(),
            "timed": len(scores.latencies),
            **({"retriever": dict(scores.params)} if scores.params else {}),
            "recallbench_version": __version__,
        },
        **figures,
        **{name.replace("@k", f"@{scores.k}"): value for name, value in figures.items()},
        "mrr": _number(scores.mrr),
        **{name: getattr(scores, name) for name in latencies},
        "names": {
            **{name: str(measure) for name, measure in names.items()},
            "mrr": str(scores.short("mrr")),
            **dict.fromkeys(latencies, PERCENTILES[scores.definitions.percentiles]),
        },
    }


def document(scores: CaseScores, by: str | None = None) -> dict[str, Any]:
    """Return every figure under its exact name, and every case."""
    ways, matched_by = scores.ways or ("",) * len(scores), scores.matched_by or ("",) * len(scores)
    fields: dict[str, Any] = {
        "recallbench_version": __version__,
        "k": scores.k,
        "depth": scores.judged.depth,
        "matching": str(scores.matching),
        "definitions": scores.definitions.named(),
        **({"ties": scores.ties} if scores.ties else {}),
        **({"params": dict(scores.params)} if scores.params else {}),
        "cases": len(scores),
        "n": scores.n,
        "failed": len(scores.failures),
        "mean": {str(measure): _number(scores.value(measure)) for measure in scores.measures},
        "estimates": [
            {
                "measure": str(estimate.measure),
                "value": estimate.value,
                "n": estimate.n,
                "low": estimate.low,
                "high": estimate.high,
                "method": estimate.method,
                "ceiling": estimate.ceiling,
                "chance": estimate.chance,
                "too_short": is_too_short(estimate.value, estimate.design_effect),
            }
            for estimate in scores.estimates
        ],
        "rows": [
            {
                "query_id": row.case.name,
                "query": row.case.query,
                "kind": row.case.kind,
                "relevant": len(row.case.relevant),
                "ranked": len(row.ranked),
                **({"decided_by": way or None} if scores.apart else {}),
                **({"matched_by": by or None} if scores.steps is not None else {}),
                **row.values,
                **({} if answer.ms is None else {"ms": answer.ms}),
                "failure": None if answer.failure is None else answer.failure.brief,
            }
            for row, answer, way, by in zip(scores.rows, scores.answers, ways, matched_by, strict=True)
        ],
        "notes": remarks(scores),
    }
    if scores.latencies:
        fields["latency_ms"] = {
            "timed": len(scores.latencies),
            **({"retriever": dict(scores.params)} if scores.params else {}),
            "p50": scores.latency_p50_ms,
            "p95": scores.latency_p95_ms,
            "percentiles": scores.definitions.percentiles,
        }
    if by is not None:
        fields["by"] = {by: {name: _means(part) for name, part in scores.by(by).items()}}
    if scores.apart:
        fields["decided_by"] = {way: _means(part) for way, part in scores.apart.items()}
    if scores.shares:
        fields["shares"] = {
            share.step: {"cases": share.cases, "share": share.share, "hits": share.hits} for share in scores.shares
        }
    if (abstained := scores.abstention) is not None:
        fields["abstention"] = {
            "n": abstained.n,
            "answerable": abstained.answerable,
            # Without any hit for some answerable case no score lets enough of them through.
            "threshold": abstained.threshold
            if abstained.threshold is not None and math.isfinite(abstained.threshold)
            else None,
            "false_retrieval": abstained.false_retrieval,
            "auroc": abstained.auroc,
        }
    if scores.coverage is not None:
        fields["coverage"] = scores.coverage.model_dump()
    if scores.texts is not None:
        exact, fuzzy, none = scores.texts.count_first_matches(scores.k)
        fields["text_matches"] = {
            "exact": exact,
            "fuzzy": fuzzy,
            "none": none,
            "random_pairs": scores.texts.random.pairs,
            "sensitivity": [
                {
                    "threshold": "exact" if point.threshold is None else point.threshold,
                    f"recall_frac@{scores.k}": _number(point.recall),
                    f"mrr@{scores.k}": _number(point.mrr),
                    "random_match_rate": point.random,
                }
                for point in scores.texts.sensitivity(scores.k)
            ],
        }
    return fields


def _means(scores: CaseScores) -> dict[str, Any]:
    return {"n": scores.n, **{str(measure): _number(scores.value(measure)) for measure in scores.measures}}


def sheet(scores: CaseScores, by: str | None) -> Table:
    """Return a row for each case, then the means of each slice and of all."""
    columns, matching = scores.columns, str(scores.matching)
    ties, hybrid = (scores.ties,) if scores.ties else (), scores.steps is not None
    timed = bool(scores.latencies)
    further = (*(("ties",) if ties else ()), *(("matched_by",) if hybrid else ()), *(("ms",) if timed else ()))

    def means(name: str, part: CaseScores, matched: str) -> tuple[str, ...]:
        # What a mean is of was matched by several steps.
        steps = ("",) if hybrid else ()
        values = (every_digit(_number(part.value(measure))) for measure in columns)
        return name, "", *values, "", matched, *ties, *steps, *("",) * timed

    ways = scores.ways or ("",) * len(scores)
    matched_by: list[tuple[str, ...]] = [(step,) for step in scores.matched_by] or [()] * len(scores)
    rows: list[tuple[str, ...]] = []
    for row, answer, way, steps in zip(scores.rows, scores.answers, ways, matched_by, strict=True):
        values = [every_digit(row.values.get(str(column))) for column in columns]
        # What to do, and that nothing was written, is of a run that ended there.
        failure = " ".join(answer.failure.brief.split()) if answer.failure else ""
        matched, times = "id" if way == "id" else matching, (every_digit(row.ms),) * timed
        rows.append((row.case.name, row.case.kind or "", *values, failure, matched, *ties, *steps, *times))
    for name, part in scores.by(by).items() if by is not None else ():
        rows.append(means(f"{MEAN} {by}={name}", part, matching))
    for decided, part in scores.apart.items():
        rows.append(means(f"{MEAN} decided by={decided}", part, "id" if decided == "id" else matching))
    head = ("query", "kind", *map(column, columns), "failure", "matching", *further)
    return Table(head, [*rows, means(MEAN, scores, matching)])


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
