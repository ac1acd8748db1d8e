"""Results that the tests of the site share."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import recallbench

RUNS = {"bm25": ("--store", "bm25"), "exact": ("--store", "exact", "--embedder", "hash")}


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two results; no test writes into it."""
    folder = tmp_path_factory.mktemp("audited")
    for name, words in RUNS.items():
        assert recallbench("run", "canary-locomo", *words, "--folder", name, "--quiet", cwd=folder).returncode == 0
    return folder
