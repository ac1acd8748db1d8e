"""The calls a store gets, their order, and the retrieval that comes of its answers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.embedding.hashing import HashEmbedder
from recallbench.errors import InputError
from recallbench.progress import Progress, Silent
from recallbench.retrieval.loop import retrieve
from recallbench.retrieval.pipeline.opening import open_pipeline
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.retrieval.record import Calls, Retrieval
from recallbench.retrieval.selection import select_questions
from recallbench.retrieval.timing import Timings, sample_evenly
from recallbench.stores.bm25 import BM25Store
from recallbench.stores.store import Hit, Item, Matrix, Query, Store
from recorded_progress import RecordedProgress


class Witness(Store):
    """A store that records its calls and ranks by id, highest first."""

    name = "witness"

    def __init__(self, *, stable: bool = False, scopewise: bool = False, needs: bool = True) -> None:
        self.prefix_stable, self.one_scope_at_a_time, self.needs_vectors = stable, scopewise, needs  # type: ignore[misc]
        self.items: list[Item] = []
        self.queries: list[tuple[Query, int]] = []
        self.log: list[str] = []
        self.dims = -1

    def prepare(self, dims: int) -> None:
        self.dims = dims

    def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
        self.log.append(f"ingest {items[0].scope}")
        self.items += items
        assert (vectors is not None) == self.needs_vectors

    def ready(self) -> None:
        self.log.append("ready")

    def search(self, query: Query, k: int) -> list[Hit]:
        self.log.append(f"search {query.scope}")
        self.queries.append((query, k))
        ids = sorted((item.id for item in self.items if item.scope == query.scope), reverse=True)
        return [Hit(id, float(id)) for id in ids[:k]]

    def forget(self, scope: int) -> None:
        self.log.append(f"forget {scope}")
        self.items = [item for item in self.items if item.scope != scope]

    def version(self) -> str:
        return "1"

    def settings(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        return None


DAY, ASKED = datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)


def haystack(scope: str, sessions: int, golds: Sequence[int | None]) -> Haystack:
    segments = tuple(
        Segment(scope, i, f"{scope} says word{i}", DAY + timedelta(days=i), session=f"answer_{i}", gold_turns=(0, 9))
        for i in range(sessions)
    )
    questions = tuple(
        Question(
            scope, f"{scope}/q{i}", f"word{gold}?", frozenset() if gold is None else frozenset({gold}), "kind", ASKED
        )
        for i, gold in enumerate(golds)
    )
    return Haystack(scope, segments, questions)


CORPUS = (haystack("answer_a_abs", 3, [0, None, 2]), haystack("answer_b", 12, [11]))


def ask(store: Store, *, limit: int | None = None, expected: int = 3, progress: Progress | None = None) -> Retrieval:
    def read() -> Iterator[Haystack]:
        return select_questions(CORPUS, limit)

    return retrieve(
        read,
        store,
        BM25Store(),
        HashEmbedder(),
        expected=expected,
        calls=Calls(2, 5),
        timings=Timings(),
        progress=progress or Silent(),
    )


@pytest.mark.parametrize(
    ("stable", "asking", "answers"), [(True, "asking", 3), (False, "asking twice, for 2 hits and for 5", 6)]
)
def test_progress_counts_both_calls_of_a_question(stable: bool, asking: str, answers: int) -> None:
    progress = RecordedProgress()
    ask(Witness(stable=stable), progress=progress)
    assert progress.stages == [("ingesting", 3, "questions", 3), (asking, answers, "answers", answers)]
    progress = RecordedProgress()
    ask(Witness(stable=stable, scopewise=True), progress=progress)
    assert progress.stages == [(f"ingesting and {asking}", answers, "answers", answers)]


def test_trying_a_pipeline_without_its_stages_is_a_work_of_its_own() -> None:
    pipeline = Pipeline.of([{"kind": "search", "method": "lexical"}, {"kind": "diversify", "method": "mmr"}])
    progress = RecordedProgress()
    with closing(open_pipeline(pipeline, lambda own: BM25Store(), None, environ={}, cache_dir=Path())) as store:
        ask(store, progress=progress)
    # It is done once for each haystack.
    assert sorted(progress.stages) == [
        ("ingesting and asking", 3, "answers", 3),
        ("trying the pipeline without each stage", 1, "questions", 1),
        ("trying the pipeline without each stage", 2, "questions", 2),
    ]


def test_a_store_never_sees_an_id_of_the_dataset() -> None:
    store = Witness()
    ask(store)
    seen = repr([(item.id, item.scope, item.importance) for item in store.items])
    seen += repr([query.scope for query, _ in store.queries])
    assert "answer" not in seen
    assert "_abs" not in seen
    assert [item.id for item in store.items] == list(range(1, 16))


def test_a_store_gets_the_dates_of_items_and_questions() -> None:
    store = Witness()
    ask(store)
    assert [item.occurred_at for item in store.items[:3]] == [DAY, DAY + timedelta(days=1), DAY + timedelta(days=2)]
    assert {query.asked_at for query, _ in store.queries} == {ASKED}


def test_truncated_segments_and_cuts_of_gold_turns_are_recorded() -> None:
    seen = ask(Witness()).tokens
    assert seen is not None
    assert seen.truncated == bytes(15)
    assert seen.gold_turn_starts.tolist() == [0, 9] * 15
    assert seen.gold_turn_cuts[0] == len("answer_a_abs says word0")


def test_the_vectors_are_hashed() -> None:
    assert ask(Witness()).vectors_sha256 == ask(Witness(stable=True)).vectors_sha256
    assert ask(Witness()).vectors_sha256 != ask(Witness(), limit=2, expected=2).vectors_sha256


def test_questions_without_gold_are_not_asked() -> None:
    result = ask(Witness())
    assert [question.id for question in result.questions] == ["answer_a_abs/q0", "answer_a_abs/q2", "answer_b/q0"]
    assert result.candidates == [3, 3, 12]


def test_a_server_is_searched_once_everything_is_ingested() -> None:
    store = Witness(stable=True)
    ask(store)
    assert store.log[:3] == ["ingest 1", "ingest 2", "ready"]


def test_an_in_process_store_is_searched_scope_by_scope_and_forgets() -> None:
    store = Witness(stable=True, scopewise=True)
    result = ask(store)
    assert [word for word in store.log if "search" not in word] == ["ingest 1", "forget 1", "ingest 2", "forget 2"]
    assert [ranking.positions for ranking in result.rankings] == [(2, 1, 0), (2, 1, 0), (11, 10, 9, 8, 7)]


def test_two_calls_are_made_unless_rankings_are_prefix_stable() -> None:
    twice, once = Witness(), Witness(stable=True)
    assert [ranking.positions for ranking in ask(twice).short or ()] == [(2, 1), (2, 1), (11, 10)]
    assert {k for _, k in twice.queries} == {2, 5}
    assert ask(once).short is None
    assert {k for _, k in once.queries} == {5}


def test_the_control_ranks_by_words() -> None:
    result = ask(Witness())
    assert [ranking.positions[0] for ranking in result.control] == [0, 2, 11]


def test_a_store_without_need_of_vectors_gets_none() -> None:
    store = Witness(needs=False)
    ask(store)
    assert store.dims == 0


def test_a_limit_takes_the_first_questions_and_ingests_no_later_haystack() -> None:
    store = Witness()
    result = ask(store, limit=2, expected=2)
    assert [question.id for question in result.questions] == ["answer_a_abs/q0", "answer_a_abs/q2"]
    assert result.segments == 3


def test_pooling_puts_all_in_one_scope_and_keeps_gold_its_own() -> None:
    (pool,) = pooled(CORPUS)
    assert len(pool.segments) == 15
    assert [segment.position for segment in pool.segments] == list(range(15))
    assert [question.gold for question in pool.questions] == [{0}, set(), {2}, {14}]


def test_a_store_that_answers_from_elsewhere_is_named() -> None:
    class Stray(Witness):
        def search(self, query: Query, k: int) -> list[Hit]:
            return [Hit(15, 1.0)]

    with pytest.raises(InputError, match="item of another scope"):
        ask(Stray())


def test_at_most_200_queries_are_timed_evenly_spread() -> None:
    assert sample_evenly(3) == {0, 1, 2}
    assert len(sample_evenly(1982)) == 200
    assert max(sample_evenly(1982)) == 199 * 1982 // 200


def test_timings_hold_phases_and_single_queries_apart() -> None:
    result = ask(Witness())
    assert {"ingest", "control", "ready", "search"} <= set(result.timings.phases)
    assert [time.state for time in result.timings.sample] == ["warm"] * 3
    assert result.timings.cold == "not possible: the store runs inside this process"
    assert np.all([time.milliseconds >= 0 for time in result.timings.sample])


class Moody(Witness):
    """Fails on one question: in every call, or in those of one depth."""

    def __init__(self, text: str, depth: int | None = None, **kinds: bool) -> None:
        super().__init__(**kinds)
        self.text, self.depth = text, depth

    def search(self, query: Query, k: int) -> list[Hit]:
        if query.text == self.text and self.depth in (None, k):
            raise InputError("no luck")
        return super().search(query, k)


def run_moody(store: Store, *, keep_going: bool = True) -> Retrieval:
    return retrieve(
        lambda: [haystack("a", 60, [0, 1]), haystack("b", 60, [2])],
        store,
        None,
        None,
        expected=3,
        calls=Calls(),
        timings=Timings(),
        progress=Silent(),
        keep_going=keep_going,
    )


@pytest.mark.parametrize("depth", [None, 10, 50])
@pytest.mark.parametrize("scopewise", [True, False])
def test_a_question_that_fails_in_one_call_has_no_ranking_in_any_and_the_others_have_theirs(
    depth: int | None, scopewise: bool
) -> None:
    retrieval = run_moody(Moody("word1?", depth, needs=False, scopewise=scopewise))
    assert list(retrieval.failures.reasons) == ["a/q1"]
    assert [len(ranking.positions) for ranking in retrieval.rankings] == [50, 0, 50]
    assert retrieval.short is not None
    assert [len(ranking.positions) for ranking in retrieval.short] == [10, 0, 10]
    states = {time.question_id: time.state for time in retrieval.timings.sample}
    assert states == {"a/q0": "warm", "a/q1": "failed", "b/q0": "warm"}
    with pytest.raises(InputError, match="no luck"):
        run_moody(Moody("word1?", depth, needs=False, scopewise=scopewise), keep_going=False)


def test_a_scope_that_can_not_be_ingested_fails_its_own_questions_only() -> None:
    class Picky(Witness):
        def ingest(self, items: Sequence[Item], vectors: Matrix | None) -> None:
            if items[0].text.startswith("a"):
                raise InputError("indigestible")
            super().ingest(items, vectors)

    retrieval = run_moody(Picky(scopewise=True, needs=False))
    assert list(retrieval.failures.reasons) == ["a/q0", "a/q1"]
    assert [len(ranking.positions) for ranking in retrieval.rankings] == [0, 0, 50]
    with pytest.raises(InputError, match="indigestible"):
        run_moody(Picky(scopewise=False, needs=False))  # what a shared store then holds, nobody knows


def test_a_broken_promise_is_a_failure_of_its_question() -> None:
    class Nan(Witness):
        def search(self, query: Query, k: int) -> list[Hit]:
            return [
                Hit(hit.id, float("nan") if query.text == "word2?" else hit.score) for hit in super().search(query, k)
            ]

    retrieval = run_moody(Nan(needs=False))
    assert list(retrieval.failures.reasons) == ["b/q0"]
    assert "nan" in str(retrieval.failures.reasons["b/q0"])
