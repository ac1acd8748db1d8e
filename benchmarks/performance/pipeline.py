"""Stages of a pipeline, and what the pipeline costs beside them.

Fusing (RRF) and diversifying (MMR) 2,000 questions x 50 candidates, against plain loops over questions that give the
same rankings; the pipeline's own bookkeeping, which is all that its legs and stages don't take; the timer of a stage;
and a run with a pipeline of search alone against one without. Vectors are random: what they hold costs nothing.
Run: python benchmarks/performance/pipeline.py    (OPENBLAS_NUM_THREADS=1 before it where others use the machine too:
threads that wait for each other take three times as long there)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from recallbench.embedding.machine import cpu_model
from recallbench.progress import Silent
from recallbench.retrieval.pipeline.chain import Chain, Leg, OpenedStage
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.stages.candidates import Candidates, Memory
from recallbench.retrieval.stages.mmr import MmrStage
from recallbench.retrieval.stages.rrf import RrfStage
from recallbench.retrieval.stages.stage import QuestionBatch, StageRequest
from recallbench.runs.options import Options
from recallbench.runs.run import run
from recallbench.stores.call_clock import CallClock
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from row import Row, show

QUESTIONS, CANDIDATES, DIMS = 2_000, 50, 384
SCOPES, HAYSTACK = 10, 200
STAGES_MS, BOOKKEEPING_US, ALONE = 100, 20, 1.02
ROUNDS, RUNS, TIMED = 40, 15, 100_000
LEGS = ("dense", "lexical")
SHARE = 0.5
STATED = (
    *({"kind": "search", "method": leg, "depth": CANDIDATES} for leg in LEGS),
    {"kind": "fuse", "method": "rrf", "keep": CANDIDATES},
    {"kind": "diversify", "method": "mmr", "lambda": SHARE, "relevance": "cosine"},
)


def rows() -> list[Row]:
    """Each figure is of the best round, since noise only ever adds."""
    return [_stages(), *_bookkeeping(), _alone()]


class Prepared(Store):
    """A leg that takes no time: its answers are there before."""

    name = "prepared"

    def __init__(self, answers: Mapping[str, list[Hit]]) -> None:
        self._answers = answers

    def prepare(self, dims: int) -> None:
        return

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        return

    def search(self, query: Query, k: int) -> list[Hit]:
        return self._answers[query.text]

    def search_many(self, queries: Sequence[Query], k: int) -> Iterator[list[Hit]]:
        return iter([self._answers[query.text] for query in queries])

    def version(self) -> str:
        return "1"

    def settings(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        return


def _questions() -> tuple[list[Item], Matrix, list[Query], dict[str, list[list[Hit]]]]:
    """Return items with their vectors, questions, and what each leg finds for each question."""
    rng = np.random.default_rng(42)
    items = [Item(number, number // HAYSTACK, "", None, 0.5) for number in range(SCOPES * HAYSTACK)]
    vectors = rng.standard_normal((len(items), DIMS), dtype=np.float32)
    queries = [
        Query(number * SCOPES // QUESTIONS, f"q{number}", vector)
        for number, vector in enumerate(rng.standard_normal((QUESTIONS, DIMS), dtype=np.float32))
    ]
    found = {
        leg: [
            [
                Hit(query.scope * HAYSTACK + int(place), float(score))
                for place, score in zip(
                    rng.permutation(HAYSTACK)[:CANDIDATES], np.sort(rng.random(CANDIDATES))[::-1], strict=True
                )
            ]
            for query in queries
        ]
        for leg in LEGS
    }
    return items, vectors, queries, found


def _stages() -> Row:
    items, vectors, queries, found = _questions()
    memory = Memory(texts=False, vectors=True)
    memory.add(items, vectors)
    batch, lists = QuestionBatch(queries, memory), [Candidates.of(found[leg]) for leg in LEGS]
    fuse = RrfStage.open(StageRequest("rrf", {}, legs=LEGS))
    diversify = MmrStage.open(StageRequest("mmr", {"lambda": str(SHARE), "relevance": "cosine"}))

    def ours() -> list[list[int]]:
        candidates = diversify.apply(batch, fuse.fuse(batch, lists, LEGS).first(CANDIDATES))
        return [candidates.ids_of(row) for row in range(len(batch))]

    def plain() -> list[list[int]]:
        return [
            _diversified(query, _fused([found[leg][row] for leg in LEGS]), vectors) for row, query in enumerate(queries)
        ]

    assert ours() == plain()
    best = {side: min(_seconds(side, rounds)) for side, rounds in ((ours, ROUNDS), (plain, 2))}
    return Row(
        f"RRF and MMR of {QUESTIONS:,} x {CANDIDATES}, {DIMS} dimensions, {SCOPES} haystacks of {HAYSTACK}",
        f"under {STAGES_MS} ms together",
        f"{best[ours] * 1e3:.0f} ms, {best[plain] / best[ours]:.0f} times as fast as a plain loop ({cpu_model()})",
        best[ours] * 1e3 < STAGES_MS,
    )


def _fused(lists: Sequence[Sequence[Hit]]) -> list[int]:
    sums: dict[int, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            sums[hit.id] = sums.get(hit.id, 0.0) + 1 / (60 + rank)
    return sorted(sums, key=lambda id: (-sums[id], id))[:CANDIDATES]


def _diversified(query: Query, ids: list[int], vectors: Matrix) -> list[int]:
    ids = sorted(ids)
    rows = np.vstack([vectors[ids], query.vector]).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    cosines = np.round(rows @ rows.T, 9)
    relevance, left, order = cosines[-1], list(range(len(ids))), [int(cosines[-1, :-1].argmax())]
    left.remove(order[0])
    while left:
        value = SHARE * relevance[left] - (1 - SHARE) * cosines[np.ix_(left, order)].max(1)
        order.append(left.pop(int(value.argmax())))
    return [ids[place] for place in order]


def _bookkeeping() -> list[Row]:
    items, vectors, queries, found = _questions()
    pipeline = Pipeline.of(STATED)
    answers = {leg: {query.text: hits for query, hits in zip(queries, found[leg], strict=True)} for leg in LEGS}
    legs = [Leg(spec, Prepared(answers[spec.name]), CANDIDATES) for spec in pipeline.legs]
    stages = [
        OpenedStage(spec, spec.stage.open(StageRequest(spec.name, spec.options, legs=LEGS)))
        for spec in pipeline.of_kind("fuse", "diversify")
    ]
    store = PipelineStore(pipeline, legs, stages, None)
    store.ingest(items, vectors)
    own = []
    for _ in range(ROUNDS):
        before = _stage_seconds(store)
        started = time.perf_counter()
        for _hits in store.search_many(queries, CANDIDATES):
            pass
        own.append(time.perf_counter() - started - (_stage_seconds(store) - before))
    each = min(own) / QUESTIONS * 1e6
    timer, clock = _timer_us(), _clock_us()
    return [
        Row(
            f"bookkeeping of a pipeline of {len(STATED)} stages, {len(LEGS)} of them legs with {CANDIDATES} hits each",
            f"under {BOOKKEEPING_US} µs a question",
            f"{each:.1f} µs a question",
            each < BOOKKEEPING_US,
        ),
        Row(
            "the timer of one stage",
            f"at most a tenth of that: {BOOKKEEPING_US / 10:g} µs a call",
            f"{timer:.2f} µs a call",
            timer <= BOOKKEEPING_US / 10,
        ),
        Row(
            "telling a store's call from its adapter, in a query that is timed",
            f"at most a tenth of that: {BOOKKEEPING_US / 10:g} µs a call",
            f"{clock:.2f} µs a call",
            clock <= BOOKKEEPING_US / 10,
        ),
    ]


def _stage_seconds(store: PipelineStore) -> float:
    totals = {total["stage"]: total["seconds"] for total in store.totals()}
    return float(sum(totals[opened.spec.name] for opened in store.stages))


def _timer_us() -> float:
    chain = Chain((), (), None)
    return _block_us(lambda: chain._timed("stage"))


def _clock_us() -> float:
    clock = CallClock()
    return _block_us(lambda: clock)


def _block_us(block: Callable[[], AbstractContextManager[None]]) -> float:
    """Return what it costs to do nothing in such a block."""

    def timed() -> None:
        for _ in range(TIMED):
            with block():
                pass

    def bare() -> None:
        for _ in range(TIMED):
            pass

    return (min(_seconds(timed, 5)) - min(_seconds(bare, 5))) / TIMED * 1e6


def _alone() -> Row:
    with TemporaryDirectory() as scratch:

        def measured(pipeline: Pipeline | None) -> Callable[[], object]:
            options = Options(
                corpus="canary-locomo",
                store=None if pipeline else "exact",
                embedder="hash",
                pipeline=pipeline,
                out=Path(scratch) / "results",
                cache_dir=Path(scratch) / "cache",
                environ=os.environ,
            )
            return lambda: run(options, Silent(), date.today())

        sides = {"with": measured(Pipeline.of([{"kind": "search", "method": "dense"}])), "without": measured(None)}
        seconds: dict[str, list[float]] = {name: _seconds(side, 1) for name, side in sides.items()}
        for _ in range(RUNS):
            for name, side in sides.items():
                seconds[name] += _seconds(side, 1)
    ratio = min(seconds["with"]) / min(seconds["without"])
    times = f"{min(seconds['with']):.3f} s against {min(seconds['without']):.3f} s"
    return Row(
        "whole run with a pipeline of search alone",
        f"at most {ALONE:g} times a run without one",
        f"{ratio:.3f} times ({times})",
        ratio <= ALONE,
    )


def _seconds(work: Callable[[], object], rounds: int) -> list[float]:
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return seconds


if __name__ == "__main__":
    raise SystemExit(show(rows()))
