"""The same questions over larger and larger haystacks: recall lost, and time taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recallbench.corpora.matching.method import Matching
from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder
from recallbench.progress import Progress
from recallbench.reports.cells import system_name
from recallbench.reports.comparison import DifferencePart, difference_fields
from recallbench.reports.growth.document import Growth, Size
from recallbench.reports.latency import impossible_times
from recallbench.results.figures import estimate_part
from recallbench.results.latency import latencies, round_trips
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import select_questions
from recallbench.runs.fresh_retrieval import retrieve_afresh
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan, plan_run
from recallbench.scoring.calls import clusters_of, judge_calls
from recallbench.scoring.estimate import estimates
from recallbench.scoring.judgement import Judged, reaching
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.paired import paired
from recallbench.scoring.quantiles import quantile
from recallbench.scoring.returned import returned_rows
from recallbench.stores.registry import variant_of
from recallbench.studies.sizes import find_sizes

MEASURES = ("recall_any@10", "recall_frac@10", "mrr@50")


def growth(options: Options, factors: Sequence[int], distractors: Path | None, seed: int, progress: Progress) -> Growth:
    """Fill a fresh store and ask it, once for each factor; questions, gold and encoder stay the same."""
    plan = plan_run(options)
    for line in plan.announcements:
        progress.note(line)
    corpus = plan.open_corpus(progress)
    found = find_sizes(corpus, options.corpus, factors, distractors, progress)
    sizes, asked, version = [], list[Sequence[Judged]](), ""
    with plan.open_embedder(progress) as embedder:
        for factor in found.factors:
            larger = list(select_questions(found.grown(factor, seed), options.limit))
            progress.note(f"{factor}x: {sum(len(haystack.segments) for haystack in larger)} documents")
            retrieval = _retrieve(plan, larger, embedder, progress)
            version = version or retrieval.version
            calls = judge_calls(retrieval)
            asked.append(calls)
            sizes.append(_size(factor, larger, retrieval, calls))
    clusters = clusters_of(retrieval.questions)
    return Growth(
        corpus=options.corpus,
        store=system_name(
            plan.store,
            variant_of(plan.store, plan.options.store_options),
            plan.pipeline.words() if plan.pipeline else "",
        ),
        version=version,
        embedder=plan.embedder or "no embedder",
        seed=seed,
        distractors=distractors.name if distractors else "the other haystacks of the corpus",
        matching=str(corpus.matching or Matching()),
        unmatched=sum(
            question.expected != "" and not question.gold
            for haystack in select_questions(found.haystacks, options.limit)
            for question in haystack.questions
        ),
        pool=len(found.pool.segments),
        passed_over=found.passed_over,
        room=found.room,
        left_out=found.left_out,
        sizes=tuple(sizes),
        change=_change(asked[0], asked[-1], clusters) if len(asked) > 1 else None,
    )


def _change(first: Sequence[Judged], last: Sequence[Judged], clusters: Sequence[str] | None) -> DifferencePart | None:
    """Return the leading measure at the largest size minus that at the smallest; None where no question counts."""
    leading = parse(MEASURES[0])
    before, after = (leading.values(reaching(calls, leading.k)) for calls in (first, last))
    counted = np.flatnonzero(first[-1].gold > 0).tolist()
    if not counted:
        return None
    found = paired(before[counted], after[counted], None if clusters is None else [clusters[i] for i in counted])
    return DifferencePart.model_validate(difference_fields(str(leading), found, None))


def _retrieve(plan: Plan, haystacks: Sequence[Haystack], embedder: Embedder | None, progress: Progress) -> Retrieval:
    depth = plan.options.depth
    return retrieve_afresh(
        plan,
        lambda: haystacks,
        embedder,
        segments=sum(len(haystack.segments) for haystack in haystacks),
        expected=sum(len(haystack.questions) for haystack in haystacks),
        calls=Calls(min(10, depth), depth),
        progress=progress,
    )


def _size(factor: int, haystacks: Sequence[Haystack], retrieval: Retrieval, calls: Sequence[Judged]) -> Size:
    measures = [measure for measure in map(parse, MEASURES) if measure.k <= retrieval.calls.depth]
    everything = {"all": np.ones(len(retrieval.questions), dtype=bool)}
    row = estimates(measures, calls, clusters_of(retrieval.questions), everything)["all"]
    timings = retrieval.timings
    load, times = timings.load, [call.milliseconds for call in timings.sample if call.state == "warm"]
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    return Size(
        factor=factor,
        stored=sum(len(haystack.segments) for haystack in haystacks),
        largest=max(len(haystack.segments) for haystack in haystacks),
        estimates=tuple(estimate_part(estimate) for estimate in row),
        p50_ms=None if p50 is None else round(p50, 4),
        p95_ms=None if p95 is None else round(p95, 4),
        queries=len(times),
        ingest_seconds=round(timings.phases.get("ingest", 0.0), 4),
        returned=returned_rows(calls, [question.kind for question in retrieval.questions]),
        disturbed="" if load is None or load.quiet else load.sentence,
        impossible=impossible_times({"warm": latencies(timings.sample, (), "warm"), **round_trips(timings.no_ops)}),
    )
