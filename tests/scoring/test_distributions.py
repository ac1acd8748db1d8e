from __future__ import annotations

import numpy as np
import pytest

from recallbench.scoring.distributions import binomial_probabilities, normal_quantile, t_quantile


@pytest.mark.parametrize("share", [0.5, 0.8, 0.975, 0.999])
def test_quantiles_are_those_of_scipy(share: float) -> None:
    from scipy import stats

    assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-12, abs=1e-12)
    for degrees in (*range(1, 40), 99, 100, 1981, 20_000):
        expected = stats.t.ppf(share, degrees)
        assert t_quantile(degrees, share) == pytest.approx(expected, rel=1e-11, abs=1e-12), degrees


def test_quantiles_are_those_of_printed_tables() -> None:
    assert t_quantile(1, 0.975) == pytest.approx(12.706204736)
    assert t_quantile(9, 0.975) == pytest.approx(2.262157163)
    assert normal_quantile(0.975) == pytest.approx(1.959963985)


@pytest.mark.parametrize(("degrees", "share"), [(0, 0.975), (3, 0.4), (3, 1.0)])
def test_probabilities_without_a_quantile_are_refused(degrees: int, share: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(degrees, share)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.95])
def test_binomial_probabilities_are_those_of_scipy(share: float) -> None:
    from scipy import stats

    for n in (1, 2, 30, 499, 2000):
        assert binomial_probabilities(n, share) == pytest.approx(stats.binom.cdf(np.arange(n + 1), n, share), abs=1e-11)
    assert binomial_probabilities(2, 0.5) == pytest.approx([0.25, 0.75, 1.0])
    with pytest.raises(ValueError, match="no distribution"):
        binomial_probabilities(0, share)
