"""Results that several files of tests look at, made once."""

from __future__ import annotations

from pathlib import Path

import compared_runs
import gated_runs
import pytest

from commandline import recallbench


@pytest.fixture(scope="session")
def results_to_compare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the results lie; nothing writes into it any more."""
    return _made(tmp_path_factory.mktemp("compared"), compared_runs.RUNS)


@pytest.fixture(scope="session")
def results_to_gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results of the same questions; the second recalls less. Nothing writes here any more."""
    return _made(tmp_path_factory.mktemp("gated"), gated_runs.RUNS)


def _made(place: Path, runs: dict[str, tuple[str, ...]]) -> Path:
    for name, words in runs.items():
        assert recallbench("run", *words, "--folder", name, "--quiet", cwd=place).returncode == 0
    return place
