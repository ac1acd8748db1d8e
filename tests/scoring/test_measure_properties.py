from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallbench.scoring.judgement import Judged, judge
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import known, parse

DEPTH = 12
SEPARABLE = [form for form in known() if not form.startswith("f1_of_means")]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[int]], list[set[int]], list[int]]:
    rankings, gold, sizes = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 16))
        positions = st.integers(0, size - 1)
        rankings.append(draw(st.lists(positions, max_size=20)))
        gold.append(draw(st.sets(positions, min_size=1, max_size=size)))
        sizes.append(size)
    return rankings, gold, sizes


def judged_of(case: tuple[Sequence[Sequence[int]], Sequence[set[int]], Sequence[int]]) -> Judged:
    return judge(*case, depth=DEPTH)


def at(forms: Iterable[str], k: int) -> list[Measure]:
    """Return the measures of these forms at k."""
    return [parse(form.replace("@k", f"@{k}")) for form in forms]


@given(cases(), st.integers(1, DEPTH), st.data())
def test_no_measure_is_above_1_where_one_of_several_is_enough(case, k, data) -> None:  # type: ignore[no-untyped-def]
    one_find = data.draw(st.lists(st.booleans(), min_size=len(case[0]), max_size=len(case[0])))
    judged = judge(*case, depth=DEPTH, one_find=one_find)
    for form in SEPARABLE:
        measure = parse(form.replace("@k", f"@{k}"))
        values, ceiling = measure.values(judged), measure.ceiling(judged)
        assert ((values >= 0) & (values <= ceiling + 1e-12) & (ceiling <= 1)).all(), form
        assert (measure.chance(judged) <= ceiling + 1e-12).all(), form
    plain = judge(*case, depth=DEPTH)
    for form in ("precision@k", "mrr@k", "recall_any@k"):
        same = parse(form.replace("@k", f"@{k}"))
        assert same.values(judged).tolist() == same.values(plain).tolist()
    # Where one hit is enough, every recall is 0 or 1.
    for name in ("recall_frac", "recall_all"):
        recalls = parse(f"{name}@{k}").values(judged)[one_find]
        assert recalls.tolist() == parse(f"recall_any@{k}").values(judged)[one_find].tolist()


@given(cases(), st.integers(1, DEPTH))
def test_any_is_at_least_frac_is_at_least_all(case, k) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    for what in ("values", "chance", "ceiling"):
        any_, frac, all_ = (getattr(parse(f"recall_{kind}@{k}"), what)(judged) for kind in ("any", "frac", "all"))
        assert (any_ >= frac - 1e-12).all(), what
        assert (frac >= all_ - 1e-12).all(), what


@given(cases())
def test_a_deeper_cut_never_loses(case) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    for name in ("recall_any", "recall_frac", "recall_all", "mrr"):
        for what in ("values", "chance", "ceiling"):
            by_depth = np.stack([getattr(parse(f"{name}@{k}"), what)(judged) for k in range(1, DEPTH + 1)])
            assert (np.diff(by_depth, axis=0) >= -1e-12).all(), (name, what)


@given(cases(), st.integers(1, DEPTH))
def test_values_lie_between_0_and_the_ceiling_and_so_does_chance(case, k) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    for measure in at(SEPARABLE, k):
        ceiling = measure.ceiling(judged)
        for figures in (measure.values(judged), measure.chance(judged)):
            assert (figures >= 0).all(), measure
            assert (figures <= ceiling + 1e-12).all(), measure
        assert (ceiling <= 1).all(), measure


@given(cases(), st.integers(1, DEPTH))
def test_an_oracle_reaches_the_ceiling(case, k) -> None:  # type: ignore[no-untyped-def]
    _, gold, sizes = case
    oracle = [
        sorted(relevant) + sorted(set(range(size)) - relevant) for relevant, size in zip(gold, sizes, strict=True)
    ]
    judged = judge(oracle, gold, sizes, DEPTH)
    for measure in at([form for form in known() if "retrieved" not in form], k):
        assert measure.values(judged) == pytest.approx(measure.ceiling(judged), abs=1e-12), measure


@given(cases(), st.integers(1, DEPTH))
def test_an_oracle_that_returns_gold_alone_reaches_the_ceiling_of_what_came_back(case, k) -> None:  # type: ignore[no-untyped-def]
    _, gold, sizes = case
    judged = judge([sorted(relevant) for relevant in gold], gold, sizes, DEPTH)
    for name in ("precision", "f1", "f1_of_means"):
        measure = parse(f"{name}@{k}(retrieved)")
        np.testing.assert_allclose(measure.values(judged), measure.ceiling(judged), atol=1e-12)


@given(cases(), st.integers(1, DEPTH))
def test_a_whole_random_order_gives_the_set_measures_their_chance_where_saturated(case, k) -> None:  # type: ignore[no-untyped-def]
    """If k cuts nothing off, recall, precision and f1 of any complete ranking are fixed, and equal to chance."""
    _, gold, sizes = case
    backwards = [list(range(size))[::-1] for size in sizes]
    judged = judge(backwards, gold, sizes, DEPTH)
    for form in ("recall_any", "recall_frac", "recall_all", "precision", "f1"):
        measure = parse(f"{form}@{k}")
        full = measure.saturated(judged)
        assert full.tolist() == [size <= k for size in sizes]
        np.testing.assert_allclose(measure.values(judged)[full], measure.chance(judged)[full], atol=1e-12)


@given(cases(), st.integers(1, DEPTH))
def test_repeating_what_was_returned_changes_nothing(case, k) -> None:  # type: ignore[no-untyped-def]
    rankings, gold, sizes = case
    stuttering = [[p for position in ranking for p in (position, position)] for ranking in rankings]
    once, twice = (judge(each, gold, sizes, DEPTH) for each in (rankings, stuttering))
    for measure in at(known(), k):
        assert measure.values(once).tolist() == measure.values(twice).tolist(), measure


@settings(max_examples=30)
@given(cases(), st.integers(1, DEPTH))
def test_a_question_gets_the_same_in_any_company(case, k) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    each_alone = [judged.select(np.arange(len(judged)) == i) for i in range(len(judged))]
    for measure in at(SEPARABLE, k):
        for what in ("values", "chance", "ceiling"):
            figures = [getattr(measure, what)(alone)[0] for alone in each_alone]
            assert figures == pytest.approx(getattr(measure, what)(judged), abs=1e-15), (measure, what)


@given(cases(), st.integers(1, DEPTH))
def test_f1_of_means_is_the_harmonic_mean_of_the_means(case, k) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    for what in ("values", "chance", "ceiling"):
        p, r, f = (
            getattr(parse(f"{name}@{k}"), what)(judged).mean() for name in ("precision", "recall_frac", "f1_of_means")
        )
        assert f == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)
