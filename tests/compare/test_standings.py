"""Systems side by side: their order, their letters, and what stands apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hit_rankings import QUESTIONS, hits, rankings
from recallbench.compare.entrant import Entrant
from recallbench.compare.standings import standings
from recallbench.compare.trec import place_run
from recallbench.errors import InputError, UsageError
from recallbench.reports.standings import apart_table, reading, table
from recallbench.scoring.measures.registry import parse

ANY = [parse("recall_any@1")]


def test_best_first_with_letters_by_paired_tests() -> None:
    shown = standings([Entrant(f"of {n}", rankings(hits(n))) for n in (20, 38, 39)], ANY)
    assert [(part.name, part.letters) for part in shown.standings] == [("of 39", "a"), ("of 38", "a"), ("of 20", "b")]
    assert [part.estimates[0].value for part in shown.standings] == [0.975, 0.95, 0.5]
    assert shown.tests == 3
    assert [(control.name, control.values) for control in shown.controls] == [("ceiling", [1.0]), ("chance", [0.5])]
    assert table(shown).columns == ["name", "recall_any@1", "95% interval", "group"]
    assert [row[0] for row in table(shown).rows] == ["of 39", "of 38", "of 20", "ceiling", "chance"]


def test_systems_with_the_same_value_for_every_question_count_as_one() -> None:
    """With ten clusters no p is below .002: of 36 pairs none could be proven, of the 3 that differ all are."""
    clusters = tuple(f"c{i % 10}" for i in range(QUESTIONS))
    shares = {"all": 40, "half": 20, "half again": 20, **{f"none {i}": 0 for i in range(6)}}
    entrants = [Entrant(name, replace(rankings(hits(n)), clusters=clusters)) for name, n in shares.items()]
    shown = standings(entrants, ANY)
    assert [part.letters for part in shown.standings] == ["a", "b", "b", *"cccccc"]
    assert shown.tests == 3
    assert reading(shown) == [
        "Systems that share a letter can't be told apart by recall_any@1: paired tests over the same questions, "
        "corrected by Holm for all 3 pairs.",
        "Systems that have the same recall_any@1 for every question count as one.",
    ]
    alone = standings(entrants[3:], ANY)
    assert ([part.letters for part in alone.standings], alone.tests) == ([*"aaaaaa"], 0)
    assert reading(alone) == ["Systems that have the same recall_any@1 for every question count as one."]


def test_other_questions_stand_apart_with_the_reason_and_their_own_figures() -> None:
    shown = standings(
        [
            Entrant("alone", rankings(hits(10)[:30])),
            Entrant("first", rankings(hits(10))),
            Entrant("second", rankings(hits(11))),
            Entrant("other gold", rankings(hits(11), gold=1)),
        ],
        ANY,
        [("unread", "no layout fits")],
    )
    assert [part.name for part in shown.standings] == ["second", "first"]
    assert [(row[0], row[1]) for row in apart_table(shown).rows] == [
        ("alone", "0.3333"),
        ("other gold", "0.2750"),
        ("unread", "–"),
    ]
    reasons = [row[2] for row in apart_table(shown).rows]
    assert "40 questions" in reasons[0]
    assert "gold [0] of q0" in reasons[1]
    assert reasons[2] == "no layout fits"


def test_one_system_has_no_letter_column_and_needs_no_test() -> None:
    shown = standings([Entrant("only", rankings(hits(1)))], ANY)
    assert (shown.tests, shown.standings[0].letters) == (0, "a")
    assert "group" not in table(shown).columns


def test_a_measure_deeper_than_a_ranking_is_refused() -> None:
    with pytest.raises(UsageError, match="recall_any@10"):
        standings([Entrant("only", rankings(hits(1)))], [parse("recall_any@10")])


def test_a_ranking_that_ends_before_a_measure_stands_apart() -> None:
    deep, shallow = rankings(hits(1)), rankings(hits(2))
    deep = replace(deep, calls=(replace(deep.calls[0], depth=10),))
    shown = standings([Entrant("shallow", shallow), Entrant("deep", deep)], [parse("recall_any@10")])
    assert [part.name for part in shown.standings] == ["deep"]
    (apart,) = shown.apart
    assert (apart.name, apart.reason, apart.estimates) == ("shallow", "depth: 2, which recall_any@10 is beyond", [])


def test_a_run_in_the_ids_of_a_result_is_judged_by_its_gold() -> None:
    base = rankings(hits(0))
    placed = place_run("theirs", {"q0": ["s/0"], "q1": ["unknown", "s/0"], "q2": ["s/1", "s/0", "s/0"]}, base)
    assert placed.origin == "theirs"
    assert placed.values(ANY[0]).tolist()[:4] == [1.0, 0.0, 0.0, 0.0]
    assert placed.values(parse("recall_any@2")).tolist()[:4] == [1.0, 1.0, 1.0, 0.0]
    with pytest.raises(InputError, match="theirs answers no question of given"):
        place_run("theirs", {"elsewhere": ["s/0"]}, base)
    with pytest.raises(InputError, match="q0 has more hits than segments"):
        place_run("theirs", {"q0": ["x", "y"]}, base)
