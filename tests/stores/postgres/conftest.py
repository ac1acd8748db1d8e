"""A folder for servers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def private() -> Iterator[Path]:
    """A folder nobody else can enter, as a home often is."""
    folder = Path(tempfile.mkdtemp(prefix="recallbench-test-"))
    folder.chmod(0o700)
    yield folder
    shutil.rmtree(folder)
