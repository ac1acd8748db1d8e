"""The rows of a result: what it is, its figures, its times, what it used, its gates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recallbench.compare.frame import series_facts
from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.exports.forms import COSTS, FIGURES, GATES, LATENCIES, RESULTS
from recallbench.exports.table_form import Row, Value
from recallbench.reports.cells import system
from recallbench.reports.costs import CostDocument, cost_document
from recallbench.results.answers_part import AnswerSharePart
from recallbench.results.costs.ledgers import ledgers
from recallbench.results.costs.quantities import FIELD
from recallbench.results.dated import start_of
from recallbench.results.environment import recorded_load
from recallbench.results.latency import NAME as TIMINGS
from recallbench.results.latency import StageLatency, folder_latencies
from recallbench.results.metrics import OVERALL, EstimatePart, Metrics
from recallbench.results.result import ENVIRONMENT, Result
from recallbench.scoring.costs import Prices

WARM = "warm"


def result_tables(result: Result, prices: Prices) -> dict[str, list[Row]]:
    """Return the rows of a result by table; raises InputError where a part of it can't be read."""
    id = result.manifest_sha256
    latencies = list(_latencies(id, result))
    costs = _costs(result, prices)
    return {
        RESULTS.name: [_result(result, _whole_query(latencies), costs)],
        FIGURES.name: list(_figures(id, result.metrics)),
        LATENCIES.name: latencies,
        COSTS.name: list(_cost_rows(id, costs)),
        GATES.name: [
            {
                "result": id,
                "gate": gate.name,
                "status": gate.status,
                "required": gate.required,
                "observed": gate.observed,
            }
            for gate in result.metrics.gates
        ],
    }


def line_of(metrics: Metrics) -> dict[str, str]:
    """Return what a line over time goes by: the questions, the system, and the hash that tells every line apart.

    The version is what such a line is about, and no part of it.
    """
    retrieval, pipeline, embedder = metrics.retrieval, metrics.pipeline, metrics.embedder
    return {
        "corpus": metrics.corpus.name,
        "dataset": metrics.dataset_sha256[:12],
        "protocol": metrics.protocol.version,
        "store": metrics.store.name,
        "variant": metrics.store.variant,
        "pipeline": "" if pipeline is None else pipeline.words,
        "embedder": "" if embedder is None else embedder.name,
        "scope": retrieval.scope,
        "depth": str(retrieval.depth),
        "limit": "" if retrieval.limit is None else str(retrieval.limit),
        "series": series_hash(metrics),
    }


def series_hash(metrics: Metrics) -> str:
    """Return one word for all that makes results one series."""
    return hashlib.sha256(json.dumps(series_facts(metrics), sort_keys=True).encode()).hexdigest()[:16]


def line_words(metrics: Metrics) -> str:
    """Return a line in words for people, with what is not usual; `series_hash` tells apart those that share them."""
    retrieval, corpus = metrics.retrieval, metrics.corpus
    words = [system(metrics), *([metrics.embedder.name] if metrics.embedder is not None else [])]
    name = short_names(corpus.name)
    if corpus.registered_sha256 and corpus.registered_sha256 != metrics.dataset_sha256:
        name += f" (another file, {metrics.dataset_sha256[:12]})"
    departures = {deviation.kind for deviation in metrics.deviations}
    unusual = [
        *([f"depth {retrieval.depth}"] if "depth" in departures else []),
        *(["pooled"] if retrieval.scope != "own" else []),
        *([f"first {retrieval.limit} questions"] if retrieval.limit is not None else []),
    ]
    return f"{', '.join(words)} on {'; '.join([name, *unusual])}"


def _result(result: Result, query: Row, costs: CostDocument | None) -> Row:
    metrics, environment = result.metrics, _environment(result)
    retrieval, pipeline, embedder = metrics.retrieval, metrics.pipeline, metrics.embedder
    load, git = recorded_load(environment), environment.get("git")
    machine = environment.get("machine")
    thousand = next((unit for unit in costs.per if unit.what == "1,000 queries"), None) if costs is not None else None
    return {
        "result": result.manifest_sha256,
        "content_sha256": result.content_sha256,
        "folder": result.folder.resolve().name,
        "made": start_of(result.folder),
        "series": series_hash(metrics),
        "line": line_words(metrics),
        "system": system(metrics),
        "corpus": metrics.corpus.name,
        "dataset_sha256": metrics.dataset_sha256,
        "protocol": metrics.protocol.version,
        "store": metrics.store.name,
        "variant": metrics.store.variant,
        "version": result.version,
        "pipeline": "" if pipeline is None else pipeline.words,
        "pipeline_sha256": "" if pipeline is None else pipeline.sha256,
        "embedder": "" if embedder is None else embedder.name,
        "embedder_sha256": "" if embedder is None else embedder.fingerprint_sha256,
        "scope": retrieval.scope,
        "depth": retrieval.depth,
        "question_limit": retrieval.limit,
        "asked": retrieval.asked,
        "failed_questions": len(retrieval.failed),
        "missing_hits": retrieval.missing_hits,
        "verdict": metrics.verdict.label,
        "verdict_text": metrics.verdict.text,
        "canonical": metrics.verdict.canonical,
        "deviations": [f"{deviation.kind}: {deviation.detail}" for deviation in metrics.deviations],
        "recallbench_version": metrics.recallbench_version,
        "commit_sha": str(git.get("commit", "")) if isinstance(git, Mapping) else "",
        "cpu": str(machine.get("cpu", "")) if isinstance(machine, Mapping) else "",
        "quiet": None if load is None else load.quiet,
        "timed": query.get("n", 0),
        **{name: query.get(name) for name in ("p50_ms", "p95_ms", "p95_low", "p95_high", "p99_ms")},
        "cost_per_1000": None if thousand is None else thousand.running,
        "currency": "" if costs is None else costs.currency,
        "prices_of": "" if costs is None else costs.date,
        "cost_lacks": [] if thousand is None else list(thousand.running_unpriced),
    }


def _environment(result: Result) -> Mapping[str, Any]:
    return result.environment if (result.folder / ENVIRONMENT).is_file() else {}


def _figures(id: str, metrics: Metrics) -> Iterator[Row]:
    slices: list[tuple[str, str, Sequence[EstimatePart]]] = [
        (OVERALL if name == OVERALL else "kind", name, estimates) for name, estimates in metrics.estimates.items()
    ]
    for kind, by_name in (("tenant", metrics.tenants), ("ability", metrics.abilities)):
        slices += [(kind, name, estimates) for name, estimates in (by_name or {}).items()]
    for kind, name, estimates in slices:
        control = metrics.control_bm25.get(name, []) if kind in (OVERALL, "kind") else []
        bm25 = {estimate.measure: estimate.value for estimate in control}
        for estimate in estimates:
            yield {
                **_place(id, kind, name, estimate.measure),
                **{
                    field: getattr(estimate, field)
                    for field in (
                        "n",
                        "value",
                        "low",
                        "high",
                        "chance",
                        "ceiling",
                        "saturated",
                        "design_effect",
                        "method",
                    )
                },
                "bm25": bm25.get(estimate.measure),
            }
    yield from _abstention(id, metrics)
    for judge in metrics.answers.judges if metrics.answers is not None else ():
        for what, shares in (("correct", judge.correct), ("faithful", judge.faithful)):
            for name, share in shares.items():
                place = _place(id, OVERALL if name == OVERALL else "kind", name, f"{what}({judge.name})")
                yield {**place, **_share(share)}


def _place(id: str, kind: str, name: str, measure: str) -> dict[str, Value]:
    return {"result": id, "slice_kind": kind, "slice": name, "measure": measure}


def _share(share: AnswerSharePart) -> dict[str, Value]:
    return {name: getattr(share, name) for name in ("n", "value", "low", "high", "method", "design_effect")}


def _abstention(id: str, metrics: Metrics) -> Iterator[Row]:
    part = metrics.abstention
    if part is None:
        return
    for measure, value, interval in (
        ("false_retrieval", part.false_retrieval, part.false_retrieval_interval),
        ("auroc", part.auroc, part.auroc_interval),
    ):
        yield {
            **_place(id, OVERALL, OVERALL, measure),
            "n": part.questions,
            "value": value,
            **{name: getattr(interval, name) for name in ("low", "high", "method", "design_effect")},
        }


def _latencies(id: str, result: Result) -> Iterator[Row]:
    if not (result.folder / TIMINGS).is_file():
        return
    for state, latencies in folder_latencies(result.folder).items():
        for latency in latencies:
            yield {
                "result": id,
                "state": state,
                "stage": latency.stage,
                "part": latency.part,
                "n": latency.n,
                "kept": latency.kept,
                **_percentiles(latency),
            }


def _percentiles(latency: StageLatency) -> dict[str, Value]:
    row: dict[str, Value] = {}
    for percentile in latency.percentiles():
        name = f"p{percentile.share:.0%}".removesuffix("%")
        row |= {f"{name}_ms": percentile.value, f"{name}_low": percentile.low, f"{name}_high": percentile.high}
    return row


def _whole_query(latencies: Sequence[Row]) -> Row:
    """Return the times of warm queries, end to end; an empty row without any."""
    whole = (row for row in latencies if (row["state"], row["stage"], row["part"]) == (WARM, "", ""))
    return next(whole, {})


def _costs(result: Result, prices: Prices) -> CostDocument | None:
    """Return what a result used; None where it does not say, as of earlier releases."""
    stated = _environment(result).get(FIELD) is not None
    return cost_document(result.folder.name, ledgers(result), prices) if stated else None


def _cost_rows(id: str, costs: CostDocument | None) -> Iterator[Row]:
    for position, line in enumerate(costs.lines if costs is not None else (), 1):
        assert costs is not None
        yield {
            "result": id,
            "position": position,
            "currency": costs.currency,
            "prices_of": costs.date,
            **{
                name: getattr(line, name)
                for name in ("ledger", "what", "model", "unit", "quantity", "at_least", "amount")
            },
        }
