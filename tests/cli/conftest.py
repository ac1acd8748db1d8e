"""Results that several test files share."""

from __future__ import annotations

from pathlib import Path

import compared_runs
import gated_runs
import pytest

from commandline import recallbench
from made_once import made_once


@pytest.fixture(scope="session")
def results_to_compare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the results to compare; no test writes into it."""
    return _run_all(tmp_path_factory, "compared", compared_runs.RUNS)


@pytest.fixture(scope="session")
def results_to_gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two results of the same questions, the second with less recall; no test writes into it."""
    return _run_all(tmp_path_factory, "gated", gated_runs.RUNS)


def _run_all(tmp_path_factory: pytest.TempPathFactory, place: str, runs: dict[str, tuple[str, ...]]) -> Path:
    with made_once(tmp_path_factory, place) as folder:
        for name, words in runs.items():
            if not (folder / name).exists():
                assert recallbench("run", *words, "--folder", name, "--quiet", cwd=folder).returncode == 0
    return folder
