"""A pipeline as a store: what comes out, what each stage handed on, and what comes out without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pytest

from recallbench.errors import InputError
from recallbench.retrieval.pipeline.chain import Leg, OpenedStage
from recallbench.retrieval.pipeline.composite import PipelineStore
from recallbench.retrieval.pipeline.pipeline import Pipeline, StageSpec
from recallbench.retrieval.stages.candidates import Candidates
from recallbench.retrieval.stages.stage import (
    CandidateStage,
    Kind,
    QuestionBatch,
    RewriteStage,
    StageRequest,
    Variant,
)
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.exact import ExactStore
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recallbench.usage import Usage


class Fixed(Store):
    """A store that answers each text with a list of its own."""

    needs_vectors = False
    prefix_stable: bool = True
    one_scope_at_a_time: ClassVar[bool] = True

    def __init__(self, name: str, answers: Mapping[str, Sequence[tuple[int, float]]]) -> None:
        self.name, self.answers, self.asked = name, answers, list[tuple[str, int]]()

    def prepare(self, dims: int) -> None:
        return None

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        return None

    def search(self, query: Query, k: int) -> list[Hit]:
        self.asked.append((query.text, k))
        return [Hit(id, score) for id, score in self.answers[query.text]][:k]

    def version(self) -> str:
        return f"{self.name}/1"

    def settings(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        return None


class Reversed(CandidateStage):
    """Turns the list around; slow, so that its work is counted apart where it is done once more."""

    kind: ClassVar[Kind] = "rerank"
    method: ClassVar[str] = "reversed"
    summary: ClassVar[str] = "turned around"
    slow: ClassVar[bool] = True

    def __init__(self) -> None:
        self.read = 0

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls()

    @property
    def usage(self) -> Usage:
        return Usage(fresh=self.read)

    def apply(self, batch: QuestionBatch, candidates: Candidates) -> Candidates:
        self.read += int(candidates.sizes.sum())
        rows = [[(hit.id, float(n)) for n, hit in enumerate(hits)][::-1] for hits in candidates.hits()]
        return Candidates.of(rows)


class Asking(RewriteStage):
    """Searches for the question and for one more text."""

    method: ClassVar[str] = "asking"
    summary: ClassVar[str] = "one more text"

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls([])

    def rewrite(self, batch: QuestionBatch) -> list[list[Variant]]:
        return [[Variant(text) for text in self.texts] for _ in batch.queries]


DENSE = Fixed("dense", {"q": [(5, 0.9), (3, 0.8), (4, 0.7)], "p": [(4, 0.6)]})
LEXICAL = Fixed("lexical", {"q": [(3, 7.0), (6, 2.0)], "p": []})
TABLES: list[dict[str, Any]] = [
    {"kind": "search", "method": "dense"},
    {"kind": "search", "method": "lexical", "depth": 2},
    {"kind": "fuse", "method": "rrf", "k": 1},
]


def opened(*own: CandidateStage | RewriteStage, keep: str = "") -> PipelineStore:
    """Return the two legs, RRF and these stages behind or before them."""
    pipeline = Pipeline.of(TABLES)
    specs = {spec.name: spec for spec in pipeline}
    legs = [Leg(specs["dense"], DENSE, 50), Leg(specs["lexical"], LEXICAL, 2)]
    fuse = OpenedStage(
        specs["rrf"], specs["rrf"].stage.open(StageRequest("rrf", specs["rrf"].options, legs=["dense", "lexical"]))
    )
    others = [OpenedStage(_spec(stage, keep), stage) for stage in own]
    before = [each for each in others if each.spec.kind == "rewrite"]
    behind = [each for each in others if each.spec.kind != "rewrite"]
    whole = Pipeline((*(e.spec for e in before), *pipeline.stages, *(e.spec for e in behind)))
    store = PipelineStore(whole, legs, [*before, fuse, *behind], None)
    store.recording = True
    return store


def _spec(stage: CandidateStage | RewriteStage, keep: str) -> StageSpec:
    return StageSpec(stage.kind, stage.method, stage.method, {"keep": keep} if keep else {})


def ask(store: PipelineStore, k: int = 50) -> list[tuple[int, float]]:
    (hits,) = store.search_many([Query(1, "q", None)], k)
    return [(hit.id, round(hit.score, 6)) for hit in hits]


def test_two_legs_are_fused() -> None:
    # 3: 1/(1+2) + 1/(1+1); 5: 1/(1+1); 6: 1/(1+2); 4: 1/(1+3).
    assert ask(opened()) == [(3, 0.833333), (5, 0.5), (6, 0.333333), (4, 0.25)]
    assert LEXICAL.asked[-1] == ("q", 2)


def test_each_stage_is_traced_and_left_out_once() -> None:
    store = opened(Reversed(), keep="3")
    ask(store)
    ((_, batch),) = store.take_traces(50, lambda done: None)
    trace = batch.question(0, "q1", 3)
    assert [(handed.stage, handed.positions) for handed in trace.handed] == [
        ("dense", (2, 0, 1)),
        ("lexical", (0, 3)),
        ("rrf", (0, 2, 3, 1)),
        ("reversed", (1, 3, 2)),
    ]
    assert trace.without == {
        "dense": (3, 0),
        "lexical": (1, 0, 2),
        "rrf": (1, 0, 2),
        "reversed": (0, 2, 3, 1),
    }
    # Without rrf the first leg goes on alone; so does the other, which may be the better one.
    assert trace.alone == {"lexical": (3, 0)}
    assert trace.again == {"dense", "lexical", "rrf"}
    assert list(store.take_traces(50, lambda done: None)) == []
    # It read four candidates; without dense two, without lexical three, and without rrf three of one leg and two of the
    # other.
    told = store.totals()[-1]
    assert (told["tokens"]["fresh"], told["tokens_of_comparisons"]["fresh"]) == (4, 10)


def test_without_a_rewrite_the_kept_lists_of_the_question_serve() -> None:
    store = opened(Asking(["q", "p"]))
    asked = len(DENSE.asked)
    # 4 is also the first of the list for p: 1/(1+3) + 1/(1+1).
    assert ask(store) == [(3, 0.833333), (4, 0.75), (5, 0.5), (6, 0.333333)]
    ((_, batch),) = store.take_traces(50, lambda done: None)
    trace = batch.question(0, "q1", 0)
    assert trace.variants == ("q", "p")
    assert trace.without["asking"] == (3, 5, 6, 4)
    assert "asking" not in trace.again
    assert len(DENSE.asked) == asked + 2
    assert trace.handed[0].positions == (5, 3, 4)

    store = opened(Asking(["p"]))
    ask(store)
    ((_, batch),) = store.take_traces(50, lambda done: None)
    assert batch.question(0, "q1", 0).without["asking"] == (3, 5, 6, 4)
    assert "asking" in batch.question(0, "q1", 0).again


def test_a_rewrite_of_nothing_names_the_question() -> None:
    with pytest.raises(InputError, match="asking rewrote a question to nothing") as refused:
        ask(opened(Asking([" "])))
    assert refused.value.found == "nothing for `q`"


def test_it_is_cut_at_k_and_named_after_its_main_leg() -> None:
    store = opened()
    assert ask(store, 2) == [(3, 0.833333), (5, 0.5)]
    assert (store.name, store.version(), store.prefix_stable) == ("dense", "dense/1", True)
    assert store.search(Query(1, "q", None), 1) == [Hit(3, pytest.approx(5 / 6))]
    assert list(store.last_seconds()) == ["dense", "lexical", "rrf"]
    assert [total["stage"] for total in store.totals()] == ["dense", "lexical", "rrf"]


def test_candidates_are_padded() -> None:
    candidates = Candidates.of([[(7, 0.5)], [], [(1, 0.9), (2, 0.1)]])
    assert candidates.ids.tolist() == [[7, -1], [-1, -1], [1, 2]]
    assert candidates.sizes.tolist() == [1, 0, 2]
    assert np.isneginf(candidates.scores[1]).all()
    assert candidates.first(1).hits_of(2) == [Hit(1, 0.9)]
    assert list(candidates.hits()) == [[Hit(7, 0.5)], [], [Hit(1, 0.9), Hit(2, 0.1)]]


def test_a_pipeline_takes_several_callers_where_its_legs_do() -> None:
    assert opened().one_caller == "dense: the store does not say that several callers may search it at once"
    assert opened().another_caller() is None
    assert opened(Reversed()).one_caller == "the stage reversed works for one caller at a time"
    pipeline = Pipeline.of([{"kind": "search", "method": "exact"}, {"kind": "search", "method": "bm25"}, TABLES[2]])
    specs = {spec.name: spec for spec in pipeline}
    fuse = OpenedStage(
        specs["rrf"], specs["rrf"].stage.open(StageRequest("rrf", specs["rrf"].options, legs=["exact", "bm25"]))
    )
    legs = [Leg(specs["exact"], ExactStore(), 5), Leg(specs["bm25"], BM25Store(), 5)]
    store = PipelineStore(pipeline, legs, [fuse], None)
    store.prepare(2)
    store.ingest([Item(1, 1, "a fox", None, 0.5), Item(2, 1, "an owl", None, 0.5)], np.eye(2, dtype=np.float32))
    question = Query(1, "owl", np.array([0, 1], np.float32))
    handle = store.another_caller()
    assert handle is not None
    assert handle.search(question, 2) == store.search(question, 2)
    assert handle.last_seconds().keys() == {"exact", "bm25", "rrf"}
    handle.close()
    assert [hit.id for hit in store.search(question, 2)] == [2, 1]
    assert not store.round_trip()
