"""Passes over the questions: cold ones are finished runs, warm ones ask a filled store again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from recallbench.confidential import concealed
from recallbench.corpora.records import Haystack
from recallbench.corpora.stream import sha256_of
from recallbench.progress import Progress
from recallbench.results.result import open_result
from recallbench.results.retrievals import rows
from recallbench.results.rows import NAME as RETRIEVALS
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.timing import Timings
from recallbench.runs.plan import Plan
from recallbench.runs.run import Outcome
from recallbench.scoring.calls import judge_calls
from recallbench.scoring.judgement import Bools, Floats, reaching
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.stores.store import Item, Matrix, Store
from recallbench.whole_file import write_errors, write_whole


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the questions, with the values of each."""

    name: str
    state: str
    """`cold` or `warm`."""
    questions: tuple[str, ...]
    counted: Bools
    values: Mapping[str, Floats]
    """The value of each question, by measure."""
    first_gold: Floats
    """1 / rank of the first gold segment, over the whole depth; 0 where none came back."""
    rankings_sha256: str
    content_sha256: str
    """The hash in the run's manifest; a warm pass has none."""


def cold_pass(outcome: Outcome, measures: Sequence[Measure]) -> Pass:
    """Return the pass that a finished run is, read back from its folder."""
    result = open_result(outcome.folder)
    rankings = result.rankings
    return Pass(
        outcome.folder.name,
        "cold",
        rankings.questions,
        rankings.calls[-1].gold > 0,
        {str(measure): rankings.values(measure) for measure in measures},
        rankings.values(Mrr(outcome.metrics.retrieval.depth)),
        sha256_of(outcome.folder / RETRIEVALS),
        result.content_sha256,
    )


def warm_passes(plan: Plan, times: int, measures: Sequence[Measure], folder: Path, progress: Progress) -> list[Pass]:
    """Fill a store and ask it once, then ask it `times` times again; each pass leaves its rankings in the folder."""
    corpus = plan.open_corpus(progress)
    survey = corpus.survey()
    question_count = min(plan.options.limit or survey.asked, survey.asked)
    limit = question_count if question_count < survey.asked else None
    asked = replace(plan, options=replace(plan.options, limit=limit))
    calls = Calls(plan.rules.default_k, plan.options.depth)

    def haystacks() -> Iterator[Haystack]:
        return asked.select(corpus.haystacks())

    with plan.open_embedder(progress) as embedder, closing(plan.open_system(embedder, progress)) as store:

        def ask(store: Store) -> Retrieval:
            return retrieve(
                haystacks,
                store,
                None,
                embedder,
                expected=question_count,
                calls=calls,
                timings=Timings(),
                progress=progress,
            )

        ask(store)
        filled, passes = cast(Store, _FilledStore(store)), []
        for i in range(1, times + 1):
            progress.note(f"warm pass {i} of {times}")
            passes.append(_warm_pass(ask(filled), f"warm_{i}", measures, folder))
        return passes


class _FilledStore:
    """A store that holds everything already: only questions reach it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def prepare(self, dims: int) -> None:
        return

    def expect_time(self) -> None:
        return

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        return

    def ready(self) -> None:
        return

    def chill(self) -> str:
        return "not wanted: this pass is a warm one"


def _warm_pass(retrieval: Retrieval, name: str, measures: Sequence[Measure], folder: Path) -> Pass:
    lines = "".join(rows(retrieval.questions, retrieval.candidates, retrieval.rankings, retrieval.short))
    write_part(folder / f"{name}.jsonl", lines)
    calls = judge_calls(retrieval)
    return Pass(
        name,
        "warm",
        tuple(question.id for question in retrieval.questions),
        calls[-1].gold > 0,
        {str(measure): measure.values(reaching(calls, measure.k)) for measure in measures},
        Mrr(retrieval.calls.depth).values(calls[-1]),
        hashlib.sha256(lines.encode()).hexdigest(),
        "",
    )


def write_part(path: Path, text: str) -> None:
    """Write a file of a repeat: whole, and without secrets."""
    with write_errors(
        f"{path} can't be written",
        expected="a writable place with room for it",
        remedy="free some room; the runs that were made are whole",
    ):
        write_whole(path, concealed(text))
