"""The same questions over larger and larger haystacks: recall lost, and time taken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from recallbench.corpora.grown import Distractors
from recallbench.corpora.labelled_sets.labelled_files import DOCUMENTS, Files, read_documents
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_gold import find_matching_segments
from recallbench.corpora.records import Haystack, Segment
from recallbench.embedding.embedder import Embedder
from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.reports.cells import system_name
from recallbench.reports.growth import Growth, Size
from recallbench.results.figures import estimate_part
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import select_questions
from recallbench.runs.fresh_retrieval import retrieve_afresh
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan, plan_run
from recallbench.scoring.calls import clusters_of, judge_calls
from recallbench.scoring.estimate import estimates
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.quantiles import quantile
from recallbench.stores.registry import variant_of

MEASURES = ("recall_any@10", "recall_frac@10", "mrr@50")
SEED = 42


def growth(options: Options, factors: Sequence[int], distractors: Path | None, seed: int, progress: Progress) -> Growth:
    """Fill a fresh store and ask it, once for each factor; questions, gold and encoder stay the same."""
    plan = plan_run(options)
    corpus = plan.open_corpus(progress)
    haystacks = list(corpus.haystacks())
    matching = corpus.matching
    if matching is not None:
        corpus.survey()  # raises where no document matches anything
    pool = _distractors(haystacks, _segments_of(distractors), matching)
    passed_over = len(frozenset().union(*pool.answers.values()))
    most = pool.largest_factor()
    if most < 2 and max(factors) > 1:
        raise UsageError(
            f"the haystacks of {options.corpus.partition('@')[0]} can't grow",
            expected="as many documents from elsewhere as the largest haystack has",
            found=f"{len(pool.segments)} in all"
            + (f", of which {passed_over} {_answering(matching)}" if passed_over else ""),
            remedy="name a file of documents that answer nothing here with --distractors",
        )
    left_out = tuple(factor for factor in factors if factor > most)
    if left_out:
        progress.note(f"{', '.join(f'{factor}x' for factor in left_out)} left out: there are documents for {most}x")
    sizes, version = [], ""
    with plan.open_embedder(progress) as embedder:
        for factor in sorted({min(factor, most) for factor in factors}):
            larger = list(select_questions(pool.grown(factor, seed), options.limit))
            progress.note(f"{factor}x: {sum(len(haystack.segments) for haystack in larger)} documents")
            retrieval = _retrieve(plan, larger, embedder, progress)
            version = version or retrieval.version
            sizes.append(_size(factor, larger, retrieval))
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
        matching=str(matching or Matching()),
        unmatched=sum(
            question.expected != "" and not question.gold
            for haystack in select_questions(haystacks, options.limit)
            for question in haystack.questions
        ),
        pool=len(pool.segments),
        passed_over=passed_over,
        room=most,
        left_out=left_out,
        sizes=tuple(sizes),
    )


def _distractors(haystacks: Sequence[Haystack], documents: Sequence[Segment], matching: Matching | None) -> Distractors:
    """Return the segments to draw from. A document that would answer a query of a haystack is no distractor there.

    Matched by id, only copies of a relevant document are known to answer; matched by text, any document can be judged.
    As a distractor it would count against the store that finds it.
    """
    pool = Distractors(haystacks, documents)
    if matching is None:
        return Distractors(haystacks, documents, pool.copies())
    ends = list(accumulate(len(haystack.segments) for haystack in haystacks))
    own = {
        haystack.scope: range(0) if documents else range(end - len(haystack.segments), end)
        for haystack, end in zip(haystacks, ends, strict=True)
    }
    answers: dict[str, set[int]] = {}
    questions = [question for haystack in haystacks for question in haystack.questions]
    for question, places in find_matching_segments(pool.segments, questions, matching):
        answers.setdefault(question.scope, set()).update(place for place in places if place not in own[question.scope])
    return Distractors(haystacks, documents, answers)


def _answering(matching: Matching | None) -> str:
    return "say what a relevant one says" if matching is None else "match what a query expects"


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


def _size(factor: int, haystacks: Sequence[Haystack], retrieval: Retrieval) -> Size:
    calls = judge_calls(retrieval)
    measures = [measure for measure in map(parse, MEASURES) if measure.k <= retrieval.calls.depth]
    everything = {"all": np.ones(len(retrieval.questions), dtype=bool)}
    row = estimates(measures, calls, clusters_of(retrieval.questions), everything)["all"]
    times = [call.milliseconds for call in retrieval.timings.sample if call.state == "warm"]
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    return Size(
        factor=factor,
        stored=sum(len(haystack.segments) for haystack in haystacks),
        largest=max(len(haystack.segments) for haystack in haystacks),
        estimates=tuple(estimate_part(estimate) for estimate in row),
        p50_ms=None if p50 is None else round(p50, 4),
        p95_ms=None if p95 is None else round(p95, 4),
        queries=len(times),
        ingest_seconds=round(retrieval.timings.phases.get("ingest", 0.0), 4),
    )


def _segments_of(file: Path | None) -> list[Segment]:
    if file is None:
        return []
    documents = read_documents(Files({DOCUMENTS: file}), file.name)
    return [
        Segment("", 0, document.text, document.occurred_at, document.id, importance=document.importance)
        for document in documents
    ]
