"""Agreement with pytrec_eval-terrier and ir_measures; `recallbench parity` is the same check for anyone."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest

from recallbench.errors import Blocked, UsageError
from recallbench.scoring import parity as module
from recallbench.scoring.parity import DEPTH, SHARED, Drawn, draw, parity, unshared

RUNS, SEED = 1000, 42


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return draw(RUNS, SEED)


def test_every_shared_measure_is_that_of_both_oracles() -> None:
    rows = parity(RUNS, SEED)
    assert [row for row in rows if row.differing] == []
    assert max(row.largest for row in rows) <= 1e-9
    by_oracle = {
        oracle.split()[0]: [row for row in rows if row.oracle == oracle] for oracle in {o.oracle for o in rows}
    }
    assert {oracle: len(ones) for oracle, ones in by_oracle.items()} == {"pytrec_eval-terrier": 16, "ir_measures": 17}
    # Each run has a question at least; pytrec_eval drops those that a run does not answer.
    for row in by_oracle["ir_measures"]:
        assert row.compared > RUNS
    for row in by_oracle["pytrec_eval-terrier"]:
        assert RUNS < row.compared < by_oracle["ir_measures"][0].compared


def test_the_runs_are_awkward(drawn: Drawn) -> None:
    lengths = drawn.judged.returned
    assert (lengths == 0).mean() > 0.1
    assert (lengths == DEPTH).mean() > 0.05
    assert len(drawn.names) > len(drawn.scores)  # partial: some questions are not answered
    assert drawn.judged.candidates.min() == 1
    assert drawn.judged.candidates.max() > 100
    assert drawn.judged.gold.max() == 12
    graded = [max(grades.values()) > 1 for grades in drawn.grades.values()]
    assert 0.3 < np.mean(graded) < 0.7
    assert any(0 in grades.values() for grades in drawn.grades.values())
    # Rank scores are whole and strictly decreasing, whatever the ties were that the order was made from.
    for scores in drawn.scores.values():
        values = list(scores.values())
        assert all(earlier > later for earlier, later in pairwise(values))
        assert all(float(np.float32(value)) == value for value in values)


def test_runs_repeat_and_differ_by_seed() -> None:
    assert draw(100, SEED).scores == draw(100, SEED).scores
    assert draw(100, 43).scores != draw(100, SEED).scores


def test_a_measure_that_differs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """success at 5 for recall_any@10, and precision's 10 for its 5: both differ, and the rest does not."""
    wrong = {**SHARED, "recall_any@10": ("success_5", "Success@5"), "precision@5": ("P_10", "P@10")}
    monkeypatch.setattr(module, "SHARED", wrong)
    differing = {row.measure for row in parity(100, 1) if row.differing}
    assert differing == {"recall_any@10", "precision@5"}


@pytest.mark.parametrize("missing", ["pytrec_eval", "ir_measures"])
def test_a_missing_oracle_blocks(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(Blocked) as caught:
        parity(10, 1)
    assert caught.value.exit_code == 3
    assert "pip install -e '.[parity]'" in str(caught.value)


def test_zero_runs_are_refused_and_unshared_measures_are_listed() -> None:
    with pytest.raises(UsageError):
        draw(0, 1)
    assert unshared(["recall_any", "recall_all", "f1"]) == ["recall_all", "f1"]
