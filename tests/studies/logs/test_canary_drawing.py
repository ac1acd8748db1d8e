"""The draw of a canary: proportions worked out by hand, hard questions kept in theirs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from recallbench.errors import InputError, UsageError
from recallbench.studies.logs.canary.candidates import Candidate
from recallbench.studies.logs.canary.drawing import Draw, Earlier, draw
from recallbench.studies.logs.canary.mix import Mix, production, set_mix


def questions(kind: str, tenant: str, count: int, hard: int = 0) -> list[Candidate]:
    return [
        Candidate(f"{kind}-{tenant}-{i}", kind, tenant, tenant, True, "missed by base" if i < hard else "")
        for i in range(count)
    ]


def counted(drawn: Draw) -> dict[tuple[str, str, bool], int]:
    return {(s.kind, s.tenant, s.hard): s.drawn for s in drawn.strata}


SET = [*questions("fact", "acme", 100, 20), *questions("date", "acme", 100, 10), *questions("date", "bolt", 100)]


def test_kinds_and_tenants_are_drawn_as_the_log_has_them() -> None:
    mix = Mix({("fact", "acme"): 500, ("date", "acme"): 300, ("date", "bolt"): 200})
    drawn = draw(SET, production(mix, SET).shares, 100, 42)
    # 50, 30 and 20; of each as many hard ones as the set has there: 20%, 10% and none.
    assert counted(drawn) == {
        ("fact", "acme", True): 10,
        ("fact", "acme", False): 40,
        ("date", "acme", True): 3,
        ("date", "acme", False): 27,
        ("date", "bolt", False): 20,
    }
    assert len(drawn.questions) == 100
    assert (drawn.bias, {stratum.weight for stratum in drawn.strata}) == (0.0, {1.0})
    assert (drawn.hard_share, drawn.hard_in_production) == (0.13, pytest.approx(0.13))


def test_a_share_of_hard_questions_is_written_down_with_its_weights() -> None:
    mix = Mix({("fact", "acme"): 500, ("date", "acme"): 300, ("date", "bolt"): 200})
    drawn = draw(SET, production(mix, SET).shares, 100, 42, hard=0.26)
    # Twice as many as in proportion: 20 and 6, each with half the weight.
    assert counted(drawn)["fact", "acme", True] == 20
    assert counted(drawn)["date", "acme", True] == 6
    weights = {(s.kind, s.tenant, s.hard): s.weight for s in drawn.strata}
    assert weights["fact", "acme", True] == weights["date", "acme", True] == 0.5
    assert weights["fact", "acme", False] == pytest.approx(40 / 30, abs=1e-6)
    # 13 of 100 are hard in place of others.
    assert drawn.bias == pytest.approx(0.13)
    # A mean by these weights is production's: 13% of it is hard.
    total = sum(s.drawn * s.weight for s in drawn.strata if s.hard)
    assert total == pytest.approx(13)


def test_a_rare_kind_and_a_rare_tenant_are_there() -> None:
    rare = [*SET, *questions("place", "tiny", 5)]
    mix = Mix({("fact", "acme"): 997, ("date", "acme"): 1, ("date", "bolt"): 1, ("place", "tiny"): 1})
    drawn = draw(rare, production(mix, rare).shares, 100, 42)
    assert {(q.kind, q.tenant) for q in drawn.questions} == {
        ("fact", "acme"),
        ("date", "acme"),
        ("date", "bolt"),
        ("place", "tiny"),
    }
    # Three questions stand for a thousandth each, and the bound says by how much: 3 x (.01 - .001).
    assert drawn.bias == pytest.approx(0.027, abs=0.003)


def test_every_question_of_a_stratum_can_be_drawn_and_one_seed_draws_the_same() -> None:
    mix = set_mix(SET)
    shares = production(mix, SET).shares
    first = draw(SET, shares, 100, 42)
    assert draw(list(reversed(SET)), shares, 100, 42).strata == first.strata
    assert {q.id for q in draw(list(reversed(SET)), shares, 100, 42).questions} == {q.id for q in first.questions}
    times: dict[str, int] = {}
    for seed in range(60):
        for question in draw(SET, shares, 100, seed).questions:
            times[question.id] = times.get(question.id, 0) + 1
    # A third of each stratum is drawn: 20 of 60 times, every question alike.
    assert set(times) == {question.id for question in SET}
    assert min(times.values()) >= 6
    assert max(times.values()) <= 36


def test_a_plain_mean_over_many_draws_is_productions() -> None:
    mix = Mix({("fact", "acme"): 500, ("date", "acme"): 300, ("date", "bolt"): 200})
    shares = production(mix, SET).shares
    # Found where the number is even; by hand half of every stratum, so .5 of production.
    means = [
        sum(int(question.id.rsplit("-", 1)[1]) % 2 == 0 for question in draw(SET, shares, 100, seed).questions) / 100
        for seed in range(100)
    ]
    assert sum(means) / 100 == pytest.approx(0.5, abs=0.015)


def test_a_stratum_without_questions_enough_is_filled_by_the_others() -> None:
    few = [*questions("fact", "acme", 150), *questions("date", "acme", 10, 4)]
    drawn = draw(few, {("fact", "acme"): 0.5, ("date", "acme"): 0.5}, 100, 42)
    assert counted(drawn) == {("date", "acme", True): 4, ("date", "acme", False): 6, ("fact", "acme", False): 90}
    assert drawn.bias == pytest.approx(0.4)
    assert [s.weight for s in drawn.strata if s.kind == "date"] == [5.0, 5.0]


def test_an_earlier_canary_stays_by_the_share_that_is_kept() -> None:
    shares = production(set_mix(SET), SET).shares
    first = draw(SET, shares, 100, 42)
    before = {question.id for question in first.questions}
    earlier = Earlier("first", dict.fromkeys(before, 1))
    again = draw(SET, shares, 100, 42, earlier=earlier, keep=0.5)
    # Strata of 27, 6, 3, 30 and 33 or 34: half of each, rounded up or down.
    assert 48 <= len(again.kept) <= 53
    assert set(again.kept) == before & {question.id for question in again.questions}
    assert set(again.kept.values()) == {2}
    assert counted(again) == counted(first)
    assert not draw(SET, shares, 100, 42, earlier=earlier, keep=0.0).kept
    assert len(draw(SET, shares, 100, 42, earlier=earlier, keep=1.0).kept) == 100


def generations(candidates: list[Candidate], n: int, keep: float, count: int) -> list[set[str]]:
    """The questions of so many canaries, each drawn after the one before it."""
    shares = production(set_mix(candidates), candidates).shares
    drawn = draw(candidates, shares, n, 42)
    each = [{question.id for question in drawn.questions}]
    for i in range(1, count):
        earlier = Earlier(f"record {i}", {id: drawn.kept.get(id, 1) for id in each[-1]})
        drawn = draw(candidates, shares, n, 42, earlier=earlier, keep=keep)
        each.append({question.id for question in drawn.questions})
    return each


def longest(each: list[set[str]]) -> int:
    """In how many canaries in a row any question has been, at most."""
    most, running = 0, dict[str, int]()
    for asked in each:
        running = {id: running.get(id, 0) + 1 for id in asked}
        most = max(most, *running.values())
    return most


def test_over_five_canaries_no_question_stays_for_long_and_ever_more_are_asked() -> None:
    each = generations(questions("fact", "acme", 2000), 200, 0.5, 5)
    # Half of each stays for one more; what is new is new but for the few that chance brings back.
    assert [len(before & now) for before, now in pairwise(each)] == [100] * 4
    assert longest(each) == 2
    assert each[2] != each[0]
    assert all(len(each[i] & each[i + 2]) < 25 for i in range(3))
    assert all(len(set().union(*each[: i + 1])) >= 200 + 85 * i for i in range(5))


def test_four_of_five_that_stay_are_others_after_five_canaries() -> None:
    each = generations(questions("fact", "acme", 2000), 200, 0.8, 12)
    assert longest(each) == 5
    assert len(set().union(*each)) > 200 + 35 * 11


def test_a_stratum_of_one_question_changes_too() -> None:
    few = [question for i in range(100) for question in questions("fact", f"t{i}", 20)]
    each = generations(few, 100, 0.5, 5)
    assert longest(each) == 2
    # Half of the strata keep theirs, and none for a third time.
    assert all(20 <= len(before & now) <= 70 for before, now in pairwise(each))


def test_too_many_kinds_and_tenants_for_n() -> None:
    many = [question for i in range(101) for question in questions("fact", f"t{i}", 2)]
    with pytest.raises(UsageError, match="100 questions can't hold one of each of 101 kinds and tenants"):
        draw(many, production(set_mix(many), many).shares, 100, 42)


def test_a_log_without_tenants_leaves_their_shares_to_the_set() -> None:
    mix = Mix({("fact", ""): 600, ("date", ""): 400})
    asked = production(Mix(mix.counts, ()), SET)
    assert asked.shares == {
        ("fact", "acme"): pytest.approx(0.6),
        ("date", "acme"): pytest.approx(0.2),
        ("date", "bolt"): pytest.approx(0.2),
    }


def test_what_the_set_lacks_and_what_nobody_asks_is_named() -> None:
    asked = production(Mix({("fact", "acme"): 60, ("place", "acme"): 40}), SET)
    assert asked.shares == {("fact", "acme"): 1.0}
    assert asked.uncovered == pytest.approx(0.4)
    assert asked.missing == (("place", "acme"),)
    assert asked.idle == (("date", "acme"), ("date", "bolt"))
    with pytest.raises(InputError, match="no question of a kind and tenant that the log has"):
        production(Mix({("place", "acme"): 40}), SET)


def test_what_is_no_whole_number_is_rounded_by_the_seed_so_that_chances_are_equal() -> None:
    # 75 and 25 are drawn; of them 7.5 and 2.5 are hard on the average, 10 in all.
    half = [*questions("fact", "acme", 150, 15), *questions("date", "acme", 50, 5)]
    shares = production(set_mix(half), half).shares
    hard = [
        tuple(s.drawn for s in draw(half, shares, 100, seed).strata if s.hard)  # date, then fact
        for seed in range(200)
    ]
    assert set(hard) == {(2, 8), (3, 7)}
    assert 70 <= hard.count((2, 8)) <= 130
    drawn = draw(half, shares, 100, 42)
    assert (drawn.bias, drawn.proportional) == (0.0, True)
    assert {stratum.weight for stratum in drawn.strata} == {1.0}


def test_a_draw_out_of_proportion_is_told_from_one_in_it() -> None:
    shares = production(set_mix(SET), SET).shares
    assert draw(SET, shares, 100, 42).proportional
    assert not draw(SET, shares, 100, 42, hard=0.3).proportional
    assert draw(SET, shares, 100, 42, hard=0.05).proportional  # less than there are in proportion
    few = [*questions("fact", "acme", 150), *questions("date", "acme", 10)]
    assert not draw(few, {("fact", "acme"): 0.5, ("date", "acme"): 0.5}, 100, 42).proportional


def test_one_hard_question_is_kept_where_there_is_one() -> None:
    one = [*questions("fact", "acme", 1000, 1)]
    for seed in range(5):
        assert sum(bool(q.hard) for q in draw(one, {("fact", "acme"): 1.0}, 100, seed).questions) == 1
