"""Results that several test files share."""

from __future__ import annotations

from pathlib import Path

import compared_runs
import gated_runs
import pytest

from commandline import recallbench


@pytest.fixture(scope="session")
def results_to_compare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the results to compare; no test writes into it."""
    return _run_all(tmp_path_factory.mktemp("compared"), compared_runs.RUNS)


@pytest.fixture(scope="session")
def results_to_gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two results of the same questions, the second with less recall; no test writes into it."""
    return _run_all(tmp_path_factory.mktemp("gated"), gated_runs.RUNS)


def _run_all(folder: Path, runs: dict[str, tuple[str, ...]]) -> Path:
    for name, words in runs.items():
        assert recallbench("run", *words, "--folder", name, "--quiet", cwd=folder).returncode == 0
    return folder
