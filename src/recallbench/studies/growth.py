"""The same questions over larger and larger haystacks: what a store loses, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path

import numpy as np

from recallbench.corpora.grown import Hay
from recallbench.corpora.labelled_sets.labelled_files import DOCUMENTS, Files, read_documents
from recallbench.corpora.matching.method import Matching
from recallbench.corpora.matching.text_gold import find_matching_segments
from recallbench.corpora.records import Haystack, Segment
from recallbench.corpora.registry import facts
from recallbench.embedding.embedder import Embedder
from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.reports.growth import Growth, Size
from recallbench.results.figures import estimate_part
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import selected
from recallbench.retrieval.timing import Timings
from recallbench.runs.choices import Choice, choose
from recallbench.runs.opening import corpus_of, embed, embedder_of, store_of
from recallbench.runs.options import Options
from recallbench.scoring.calls import clusters_of, judge_calls
from recallbench.scoring.estimate import estimates
from recallbench.scoring.measures.registry import parse

MEASURES = ("recall_any@10", "recall_frac@10", "mrr@50")
SEED = 42


def growth(options: Options, factors: Sequence[int], distractors: Path | None, seed: int, progress: Progress) -> Growth:
    """Fill a fresh store and ask it, once for each factor; questions, gold and encoder stay the same."""
    rules = load()
    choice = choose(options, facts(options.corpus, rules), rules)
    corpus = corpus_of(options, rules, progress)
    haystacks = list(corpus.haystacks())
    matching = corpus.matching
    if matching is not None:
        corpus.survey()  # raises where no document matches anything
    hay = _hay(haystacks, _strangers(distractors), matching)
    passed_over = len(frozenset().union(*hay.answers.values()))
    most = hay.room()
    if most < 2 and max(factors) > 1:
        raise UsageError(
            f"the haystacks of {options.corpus.partition('@')[0]} can't grow",
            expected="as many documents from elsewhere as the largest haystack has",
            found=f"{len(hay.segments)} in all"
            + (f", of which {passed_over} {_answering(matching)}" if passed_over else ""),
            remedy="name a file of documents that answer nothing here with --distractors",
        )
    versions: list[str] = []
    left_out = tuple(factor for factor in factors if factor > most)
    if left_out:
        progress.note(f"{', '.join(f'{factor}x' for factor in left_out)} left out: there are documents for {most}x")
    factors = sorted({min(factor, most) for factor in factors})
    with ExitStack() as closing:
        embedder = embedder_of(options, choice, progress)
        if embedder is not None:
            closing.callback(embedder.close)
        sizes = []
        for factor in factors:
            larger = list(selected(hay.grown(factor, seed), options.limit))
            progress.note(f"{factor}x: {sum(len(haystack.segments) for haystack in larger)} documents")
            found = _asked(larger, choice, options, embedder, progress)
            versions.append(found.version)
            sizes.append(_size(factor, larger, found, options.depth))
    return Growth(
        corpus=options.corpus,
        store=choice.store,
        version=versions[0],
        embedder=choice.embedder or "no embedder",
        seed=seed,
        distractors=distractors.name if distractors else "the other haystacks of the corpus",
        matching=str(matching or Matching()),
        unmatched=sum(
            one.expected != "" and not one.gold
            for haystack in selected(haystacks, options.limit)
            for one in haystack.questions
        ),
        pool=len(hay.segments),
        passed_over=passed_over,
        room=most,
        left_out=left_out,
        sizes=tuple(sizes),
    )


def _hay(haystacks: Sequence[Haystack], strangers: Sequence[Segment], matching: Matching | None) -> Hay:
    """What there is to draw from. A document that would answer a query of a haystack is no distractor there.

    By ids it can only be told of copies; by text of all, and as distractor it would count against whoever finds it.
    """
    hay = Hay(haystacks, strangers)
    if matching is None:
        return Hay(haystacks, strangers, hay.copies())
    ends = list(accumulate(len(haystack.segments) for haystack in haystacks))
    own = {
        haystack.scope: range(0) if strangers else range(end - len(haystack.segments), end)
        for haystack, end in zip(haystacks, ends, strict=True)
    }
    answers: dict[str, set[int]] = {}
    asked = [question for haystack in haystacks for question in haystack.questions]
    for question, places in find_matching_segments(hay.segments, asked, matching):
        answers.setdefault(question.scope, set()).update(place for place in places if place not in own[question.scope])
    return Hay(haystacks, strangers, answers)


def _answering(matching: Matching | None) -> str:
    return "say what a relevant one says" if matching is None else "match what a query expects"


def _asked(
    haystacks: Sequence[Haystack], choice: Choice, options: Options, embedder: Embedder | None, progress: Progress
) -> Retrieval:
    if embedder is not None:
        embed(lambda: haystacks, embedder, sum(len(haystack.segments) for haystack in haystacks))
    store = store_of(options, choice, progress)
    try:
        return retrieve(
            lambda: haystacks,
            store,
            None,
            embedder,
            expected=sum(len(haystack.questions) for haystack in haystacks),
            calls=Calls(min(10, options.depth), options.depth),
            timings=Timings(),
            progress=progress,
        )
    finally:
        store.close()


def _size(factor: int, haystacks: Sequence[Haystack], found: Retrieval, depth: int) -> Size:
    calls = judge_calls(found)
    measures = [measure for measure in map(parse, MEASURES) if measure.k <= depth]
    everything = {"all": np.ones(len(found.questions), dtype=bool)}
    row = estimates(measures, calls, clusters_of(found.questions), everything)["all"]
    times = [one.milliseconds for one in found.timings.sample if one.state == "warm"]
    p50, p95 = (round(float(value), 4) for value in np.percentile(times, [50, 95])) if times else (None, None)
    return Size(
        factor=factor,
        stored=sum(len(haystack.segments) for haystack in haystacks),
        largest=max(len(haystack.segments) for haystack in haystacks),
        estimates=tuple(estimate_part(one) for one in row),
        p50_ms=p50,
        p95_ms=p95,
        queries=len(times),
        ingest_seconds=round(found.timings.phases.get("ingest", 0.0), 4),
    )


def _strangers(file: Path | None) -> list[Segment]:
    if file is None:
        return []
    documents = read_documents(Files({DOCUMENTS: file}), file.name)
    return [Segment("", 0, one.text, one.occurred_at, one.id, importance=one.importance) for one in documents]
