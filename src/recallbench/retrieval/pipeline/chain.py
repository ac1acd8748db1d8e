"""The way of questions through the opened stages of a pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from recallbench.errors import InputError
from recallbench.retrieval.at_once import Attempt, attempts
from recallbench.retrieval.pipeline.in_step import Way, Work, in_step
from recallbench.retrieval.pipeline.pipeline import StageSpec
from recallbench.retrieval.pipeline.trace import BatchTrace
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.stage import (
    KEEP,
    CandidateStage,
    FuseStage,
    QuestionBatch,
    RewriteStage,
    Stage,
    Variant,
)
from recallbench.stores.store import Hit, Matrix, Query, Store

T = TypeVar("T")
Encode = Callable[[Sequence[str], bool], Matrix]
"""Texts to vectors; the flag says that they are passages and not questions."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A store that is searched, and to what depth."""

    spec: StageSpec
    store: Store
    depth: int


@dataclass(frozen=True, slots=True)
class OpenedStage:
    """A stage that is ready to work."""

    spec: StageSpec
    stage: Stage

    @property
    def keep(self) -> int | None:
        """How many candidates it hands on; None for all."""
        keep: int | None = KEEP.read(self.spec.options)
        return keep


@dataclass(frozen=True, slots=True)
class Found:
    """One list of candidates of one leg: for the first, second … text of each question."""

    leg: str
    text: int
    candidates: Candidates


@dataclass(slots=True)
class Passage:
    """What every stage handed on for a batch of questions."""

    batch: QuestionBatch
    variants: list[list[Variant]] | None
    """The texts that were searched for; None where nothing rewrites."""
    found: list[Found]
    lists: list[tuple[OpenedStage, Candidates]] = field(default_factory=list)
    """The single list of each stage after the legs."""

    @property
    def final(self) -> Candidates:
        """What came out."""
        return self.lists[-1][1] if self.lists else self.found[0].candidates

    def trace(self) -> BatchTrace:
        """Return what each stage handed on."""
        trace = BatchTrace()
        for leg in dict.fromkeys(found.leg for found in self.found):
            own = [found.candidates for found in self.found if found.leg == leg]
            trace.handed.append((leg, own[0] if len(own) == 1 else _joined(own)))
        trace.handed += [(opened.spec.name, candidates) for opened, candidates in self.lists]
        trace.variants = [tuple(variant.text for variant in row) for row in self.variants or ()]
        return trace


class Chain:
    """The opened stages of a pipeline, in their order."""

    def __init__(self, legs: Sequence[Leg], stages: Sequence[OpenedStage], encode: Encode | None) -> None:
        self.legs = legs
        self.stages = stages
        self._encode = encode
        self._rewriters = [opened for opened in stages if isinstance(opened.stage, RewriteStage)]
        self._followers = [opened for opened in stages if isinstance(opened.stage, FuseStage | CandidateStage)]
        self.seconds: dict[str, float] = {}
        """Seconds of each stage since it was emptied, by the stage's name."""
        self.waited = 0.0
        """The seconds among them that nobody waited for, since an answer had been kept."""

    def pass_through(self, batch: QuestionBatch) -> Passage:
        """Send questions through all stages."""
        (attempt,) = self.pass_each([batch])
        return attempt.result()

    def pass_each(self, batches: Sequence[QuestionBatch]) -> list[Attempt[Passage]]:
        """Send batches through all stages together, each by itself; return what became of each."""
        return in_step([self._pass(batch) for batch in batches], self._carry_out)

    def each_without(
        self, name: str, wholes: Sequence[Passage], left: str = ""
    ) -> list[Attempt[tuple[Candidates, bool] | None]]:
        """Return what comes out of each without one stage, and whether a slow stage or a search had to work once more.

        Without a fuse one leg goes on alone: `left`, or the first. None where the pipeline is none without the stage.
        """
        return in_step([self._without(name, whole, left) for whole in wholes], self._carry_out)

    def _pass(self, batch: QuestionBatch) -> Way[Passage]:
        variants = yield from self._rewritten(batch, self._rewriters)
        passage = Passage(batch, variants, self._search(batch, variants, self.legs))
        yield from self._follow(passage, self._followers, None)
        return passage

    def _without(self, name: str, whole: Passage, left: str) -> Way[tuple[Candidates, bool] | None]:
        batch, variants, found, followers = whole.batch, whole.variants, whole.found, self._followers
        again = False
        if any(name == opened.spec.name for opened in self._rewriters):
            others = [opened for opened in self._rewriters if opened.spec.name != name]
            variants = yield from self._rewritten(batch, others)
            kept = None if variants is not None else _lists_of_questions(whole)
            again = kept is None
            found = self._search(batch, variants, self.legs) if kept is None else kept
        elif any(name == leg.spec.name for leg in self.legs):
            found = [each for each in found if each.leg != name]
            if not found:
                return None
        else:
            place = next(n for n, opened in enumerate(followers) if opened.spec.name == name)
            if isinstance(followers[place].stage, FuseStage):
                of_leg = [each for each in found if each.leg == (left or found[0].leg)]
                found, followers = of_leg[:1], followers[place + 1 :]
            else:
                before = whole.lists[place - 1][1] if place else found[0].candidates
                found, followers = [Found(found[0].leg, 0, before)], followers[place + 1 :]
        passage = Passage(batch, variants, found)
        repeated = yield from self._follow(passage, followers, whole)
        return passage.final, again or repeated

    def _rewritten(self, batch: QuestionBatch, rewriters: Sequence[OpenedStage]) -> Way[list[list[Variant]] | None]:
        if not rewriters:
            return None
        rows: list[list[Variant]] = [[] for _ in batch.queries]
        for opened in rewriters:
            assert isinstance(opened.stage, RewriteStage)
            given = yield from self._worked(opened, partial(opened.stage.rewrite, batch))
            for query, row, variants in zip(batch.queries, rows, given, strict=True):
                if not any(variant.text.strip() for variant in variants):
                    raise InputError(
                        f"{opened.spec.name} rewrote a question to nothing",
                        expected="at least one text to search for",
                        found=f"nothing for `{query.text[:80]}`",
                    )
                row += [variant for variant in variants if variant.text.strip() and variant not in row]
        return rows

    def _search(self, batch: QuestionBatch, variants: list[list[Variant]] | None, legs: Sequence[Leg]) -> list[Found]:
        if variants is None:
            asked = [list(batch.queries)]
            rows = [list(range(len(batch)))]
        else:
            queries = self._queries(batch, variants, any(leg.store.needs_vectors for leg in legs))
            columns = list(zip_longest(*queries))
            rows = [[row for row, query in enumerate(column) if query is not None] for column in columns]
            asked = [[query for query in column if query is not None] for column in columns]
        found = []
        for leg in legs:
            with self._timed(leg.spec.name, leg.store):
                hits = iter(leg.store.search_many([query for column in asked for query in column], leg.depth))
                for place, of_rows in enumerate(rows):
                    lists: list[list[Hit]] = [[] for _ in range(len(batch))]
                    for row in of_rows:
                        lists[row] = next(hits)
                    found.append(Found(leg.spec.name, place, Candidates.of(lists).settled()))
        return found

    def _queries(self, batch: QuestionBatch, variants: list[list[Variant]], vectors: bool) -> list[list[Query]]:
        texts: dict[bool, dict[str, int]] = {True: {}, False: {}}
        for query, row in zip(batch.queries, variants, strict=True):
            for variant in row:
                if variant.as_passage or variant.text != query.text:
                    texts[variant.as_passage].setdefault(variant.text, len(texts[variant.as_passage]))
        encode = self._encode if vectors else None
        matrices = {
            passage: encode(list(new), passage) if encode is not None and new else None
            for passage, new in texts.items()
        }

        def asked(query: Query, variant: Variant) -> Query:
            if not variant.as_passage and variant.text == query.text:
                return query
            matrix = matrices[variant.as_passage]
            vector = None if matrix is None else matrix[texts[variant.as_passage][variant.text]]
            return replace(query, text=variant.text, vector=vector)

        return [[asked(query, variant) for variant in row] for query, row in zip(batch.queries, variants, strict=True)]

    def _follow(self, passage: Passage, followers: Sequence[OpenedStage], whole: Passage | None) -> Way[bool]:
        """Send what was found through these stages; what `whole` has of the same input is taken from it.

        Return whether a slow stage worked once more.
        """
        repeated = False
        known = {opened.spec.name: n for n, (opened, _) in enumerate(whole.lists)} if whole is not None else {}
        candidates = passage.found[0].candidates
        for opened in followers:
            stage, name = opened.stage, opened.spec.name
            if isinstance(stage, FuseStage):
                with self._timed(name):
                    lists = [found.candidates for found in passage.found]
                    candidates = stage.fuse(passage.batch, lists, [found.leg for found in passage.found])
            else:
                assert isinstance(stage, CandidateStage)
                place = known.get(name)
                if whole is not None and place is not None and _alike(_input(whole, place), candidates):
                    candidates = whole.lists[place][1]
                    passage.lists.append((opened, candidates))
                    continue
                repeated = repeated or (whole is not None and stage.slow)
                candidates = yield from self._worked(opened, partial(stage.apply, passage.batch, candidates))
            if opened.keep is not None:
                candidates = candidates.first(opened.keep)
            passage.lists.append((opened, candidates))
        return repeated

    def _worked(self, opened: OpenedStage, call: Callable[[], T]) -> Way[T]:
        """Return what a stage gives: at once, or when it has its turn among the questions that it may have together."""
        name, stage = opened.spec.name, opened.stage
        if stage.at_once > 1:
            given: T = yield Work(name, call)
            return given
        with self._timed(name, stage):
            return call()

    def _carry_out(self, name: str, calls: Sequence[Callable[[], Any]]) -> list[Attempt[Any]]:
        stage = next(opened.stage for opened in self.stages if opened.spec.name == name)
        with self._timed(name, stage):
            return list(attempts(calls, stage.at_once))

    @contextmanager
    def _timed(self, name: str, stage: Stage | Store | None = None) -> Iterator[None]:
        before = stage.waited if stage is not None else 0.0
        started = time.perf_counter()
        try:
            yield
        finally:
            waited = stage.waited - before if stage is not None else 0.0
            self.waited += waited
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started + waited


def _input(whole: Passage, place: int) -> Candidates:
    return whole.lists[place - 1][1] if place else whole.found[0].candidates


def _alike(first: Candidates, second: Candidates) -> bool:
    return np.array_equal(first.ids, second.ids) and np.array_equal(first.scores, second.scores)


def _lists_of_questions(whole: Passage) -> list[Found] | None:
    """Return the lists that were found for the questions as they stand; None where they were not all searched for."""
    assert whole.variants is not None
    for query, row in zip(whole.batch.queries, whole.variants, strict=True):
        if row[0] != Variant(query.text):
            return None
    return [found for found in whole.found if found.text == 0]


def _joined(lists: Sequence[Candidates]) -> Candidates:
    """Return for each question the candidates of several lists, each with its best score."""
    rows = []
    for row in range(len(lists[0])):
        best: dict[int, float] = {}
        for candidates in lists:
            for id, score in candidates.hits_of(row):
                best[id] = max(score, best.get(id, score))
        rows.append(sorted(best.items(), key=lambda hit: (-hit[1], hit[0])))
    return Candidates.of(rows)
