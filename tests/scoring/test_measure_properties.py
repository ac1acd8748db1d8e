from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallbench.scoring.judgement import Judged, judge
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


@pytest.mark.parametrize("name", ["recall_any", "recall_frac", "recall_all", "mrr"])
@given(case=cases())
def test_a_deeper_cut_never_loses(name, case) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    for what in ("values", "chance", "ceiling"):
        by_depth = np.stack([getattr(parse(f"{name}@{k}"), what)(judged) for k in range(1, DEPTH + 1)])
        assert (np.diff(by_depth, axis=0) >= -1e-12).all(), what


@pytest.mark.parametrize("form", SEPARABLE)
@given(case=cases(), k=st.integers(1, DEPTH))
def test_values_lie_between_0_and_the_ceiling_and_so_does_chance(form, case, k) -> None:  # type: ignore[no-untyped-def]
    measure, judged = parse(form.replace("@k", f"@{k}")), judged_of(case)
    ceiling = measure.ceiling(judged)
    for figures in (measure.values(judged), measure.chance(judged)):
        assert (figures >= 0).all()
        assert (figures <= ceiling + 1e-12).all()
    assert (ceiling <= 1).all()


@pytest.mark.parametrize("form", [form for form in known() if "retrieved" not in form])
@given(case=cases(), k=st.integers(1, DEPTH))
def test_an_oracle_reaches_the_ceiling(form, case, k) -> None:  # type: ignore[no-untyped-def]
    _, gold, sizes = case
    oracle = [
        sorted(relevant) + sorted(set(range(size)) - relevant) for relevant, size in zip(gold, sizes, strict=True)
    ]
    measure, judged = parse(form.replace("@k", f"@{k}")), judge(oracle, gold, sizes, DEPTH)
    np.testing.assert_allclose(measure.values(judged), measure.ceiling(judged), atol=1e-12)


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


@pytest.mark.parametrize("form", known())
@given(case=cases(), k=st.integers(1, DEPTH))
def test_repeating_what_was_returned_changes_nothing(form, case, k) -> None:  # type: ignore[no-untyped-def]
    rankings, gold, sizes = case
    measure = parse(form.replace("@k", f"@{k}"))
    stuttering = [[p for position in ranking for p in (position, position)] for ranking in rankings]
    np.testing.assert_array_equal(
        measure.values(judge(rankings, gold, sizes, DEPTH)), measure.values(judge(stuttering, gold, sizes, DEPTH))
    )


@pytest.mark.parametrize("form", SEPARABLE)
@settings(max_examples=30)
@given(case=cases(), k=st.integers(1, DEPTH))
def test_a_question_gets_the_same_in_any_company(form, case, k) -> None:  # type: ignore[no-untyped-def]
    measure, judged = parse(form.replace("@k", f"@{k}")), judged_of(case)
    for i in range(len(judged)):
        alone = judged.select(np.arange(len(judged)) == i)
        for what in ("values", "chance", "ceiling"):
            assert getattr(measure, what)(alone)[0] == pytest.approx(getattr(measure, what)(judged)[i], abs=1e-15)


@given(cases(), st.integers(1, DEPTH))
def test_f1_of_means_is_the_harmonic_mean_of_the_means(case, k) -> None:  # type: ignore[no-untyped-def]
    judged = judged_of(case)
    for what in ("values", "chance", "ceiling"):
        p, r, f = (
            getattr(parse(f"{name}@{k}"), what)(judged).mean() for name in ("precision", "recall_frac", "f1_of_means")
        )
        assert f == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)
