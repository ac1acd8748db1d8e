"""A canonical run compares the user's own cached vectors with new ones."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recallbench.embedding.registry import open_embedder
from recallbench.progress import Silent
from recallbench.protocol.deviations import Deviation, departures
from recallbench.runs import plan
from recallbench.runs import run as runs
from recallbench.runs.options import Options


@pytest.mark.parametrize(("left", "rechecked"), [(set(), True), ({"limit"}, True), ({"store"}, False)])
def test_only_a_run_without_deviations_rechecks_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: set[str], rechecked: bool
) -> None:
    rechecks: list[Any] = []

    def opened(*arguments: Any, recheck_own: bool, **options: Any) -> Any:
        rechecks.append(recheck_own)
        return open_embedder(*arguments, **options)

    def some(*arguments: Any) -> tuple[Deviation, ...]:
        return tuple(departure for departure in departures(*arguments) if departure.kind in left)

    monkeypatch.setattr(plan, "open_embedder", opened)
    monkeypatch.setattr(runs, "departures", some)
    options = Options(
        corpus="canary-locomo", store="exact", embedder="hash", limit=2, out=tmp_path, cache_dir=tmp_path / "cache"
    )
    runs.run(options, Silent(), date(2026, 5, 1))
    assert rechecks == [rechecked]
