"""Warm passes: a store is filled and asked once, then asked again as often as wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from recallbench.corpora.records import Haystack
from recallbench.progress import Progress
from recallbench.protocol.rules import Rules
from recallbench.results.retrievals import rows
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import offered
from recallbench.retrieval.timing import Timings
from recallbench.runs.choices import Choice
from recallbench.runs.opening import corpus_of, embedder_of, store_of
from recallbench.runs.options import Options
from recallbench.scoring.calls import judge_calls
from recallbench.scoring.judgement import reaching
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.stores.store import Item, Matrix, Store
from recallbench.studies.passes import Pass, put


def warm_passes(
    options: Options,
    choice: Choice,
    rules: Rules,
    times: int,
    measures: Sequence[Measure],
    folder: Path,
    progress: Progress,
) -> list[Pass]:
    """`times` passes over one filled store, each with its rankings as a file in the folder."""
    corpus = corpus_of(options, rules, progress)
    survey = corpus.survey()
    asked = min(options.limit or survey.asked, survey.asked)
    limit = asked if asked < survey.asked else None

    def haystacks() -> Iterator[Haystack]:
        return offered(corpus.haystacks(), in_one=options.pooled, limit=limit)

    embedder = embedder_of(options, choice, progress)
    store = store_of(options, choice, progress)

    def ask(one: Store) -> Retrieval:
        calls = Calls(rules.default_k, options.depth)
        return retrieve(
            haystacks, one, None, embedder, expected=asked, calls=calls, timings=Timings(), progress=progress
        )

    try:
        ask(store)
        made = []
        for i in range(1, times + 1):
            progress.note(f"warm pass {i} of {times}")
            made.append(_asked_again(ask(cast(Store, _Filled(store))), f"warm_{i}", measures, folder))
        return made
    finally:
        store.close()
        if embedder is not None:
            embedder.close()


class _Filled:
    """A store that holds everything already: only asking reaches it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def prepare(self, dims: int) -> None:
        return

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        return

    def ready(self) -> None:
        return

    def chill(self) -> str:
        return "not wanted: this pass is a warm one"


def _asked_again(found: Retrieval, name: str, measures: Sequence[Measure], folder: Path) -> Pass:
    lines = "".join(rows(found.questions, found.candidates, found.rankings, found.short))
    put(folder / f"{name}.jsonl", lines)
    calls = judge_calls(found)
    return Pass(
        name,
        "warm",
        tuple(question.id for question in found.questions),
        calls[-1].gold > 0,
        {str(measure): measure.values(reaching(calls, measure.k)) for measure in measures},
        Mrr(found.calls.depth).values(calls[-1]),
        hashlib.sha256(lines.encode()).hexdigest(),
        "",
    )
