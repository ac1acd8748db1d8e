"""Figures with and without the sessions that are dated after their question."""

from __future__ import annotations

from recallbench.corpora.pooled import pooled
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.results.time.later_figures import later_part, without_later
from recallbench.retrieval.ranking import Ranking
from recallbench.retrieval.record import Calls, Retrieval


def retrieval(*rows: tuple[set[int], set[int], tuple[int, ...]]) -> Retrieval:
    """One question for each row: its gold, the later sessions, and its ranking over 20 sessions."""
    return Retrieval(
        Calls(10, 50),
        questions=[
            Question(f"s{n}", f"q{n}", "", frozenset(gold), "kind", later=frozenset(later))
            for n, (gold, later, _) in enumerate(rows)
        ],
        candidates=[20] * len(rows),
        rankings=[Ranking(f"q{n}", ranking, tuple(map(float, ranking))) for n, (_, _, ranking) in enumerate(rows)],
    )


def test_hits_behind_later_sessions_move_up_and_their_gold_is_gone() -> None:
    asked = retrieval(
        ({7}, {3, 4}, (3, 4, 7)),  # found third, first without
        ({2, 5}, {5}, (5, 9)),  # found first, not at all without
        ({8}, {8, 9}, (8,)),  # nothing to find without
        ({1}, set(), (0, 1)),
    )
    part = later_part(asked)
    assert part is not None
    assert (part.questions, part.segments, part.gold, part.emptied) == (3, 5, 2, 1)
    assert [(row.measure, row.value, row.without, row.n) for row in part.of_these] == [
        ("recall_any@10", 1.0, 0.5, 2),
        ("recall_frac@10", 0.75, 0.5, 2),
        ("recall_all@10", 0.5, 0.5, 2),
        ("mrr@50", (1 / 3 + 1) / 2, 0.5, 2),
    ]
    first = part.of_all[0]
    assert (first.value, first.without, first.n) == (1.0, 2 / 3, 3)
    held = without_later(asked)
    assert held.candidates == [18, 19, 18, 20]
    assert [set(question.gold) for question in held.questions] == [{5}, {2}, set(), {1}]
    assert [ranking.positions for ranking in held.rankings] == [(5,), (8,), (), (0, 1)]


def test_there_is_nothing_to_tell_where_no_session_is_later() -> None:
    assert later_part(retrieval(({1}, set(), (1,)))) is None


def test_pooled_haystacks_keep_the_later_sessions_at_their_places() -> None:
    def haystack(name: str) -> Haystack:
        question = Question(name, name, "?", frozenset({0}), "kind", later=frozenset({1}))
        return Haystack(name, (Segment(name, 0, "a"), Segment(name, 1, "b")), (question,))

    (whole,) = pooled(map(haystack, "xy"))
    assert [set(question.later) for question in whole.questions] == [{1}, {3}]
