"""A result's content hash does not depend on the processor of its run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from commandline import recallbench
from recallbench.results.manifest import VARYING

DISPATCHED = " ".join(np._core._multiarray_umath.__cpu_dispatch__)  # type: ignore[attr-defined]
"""The instruction sets that numpy uses where the processor has them."""
OLDEST = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2", "NPY_DISABLE_CPU_FEATURES": DISPATCHED}


def measure(folder: Path, name: str, processor: dict[str, str]) -> Path:
    words = ("run", "canary-locomo", "--store", "exact", "--embedder", "hash", "--folder", name, "-q")
    assert recallbench(*words, cwd=folder, env=processor).returncode == 0
    return folder / name


def assert_same(first: Path, other: Path) -> None:
    for path in sorted(first.iterdir()):
        if path.name not in {*VARYING, "manifest.json"}:
            assert path.read_text() == (other / path.name).read_text()
    here, there = (json.loads((folder / "manifest.json").read_text()) for folder in (first, other))
    assert here["content_sha256"] == there["content_sha256"]


def test_another_processor_gives_the_same_bytes(tmp_path: Path) -> None:
    zen = measure(tmp_path, "zen", {"OPENBLAS_CORETYPE": "Zen", "OPENBLAS_NUM_THREADS": "1"})
    assert_same(zen, measure(tmp_path, "oldest", OLDEST))


@pytest.mark.marked
def test_any_processor_and_number_of_threads_gives_the_same_bytes(tmp_path: Path) -> None:
    """OpenBLAS ignores a processor type that the machine can't be."""
    first = measure(tmp_path, "first", {})
    for core in ("Zen", "Haswell", "SKYLAKEX"):
        for threads in ("1", "2"):
            processor = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads}
            assert_same(first, measure(tmp_path, f"{core}-{threads}", processor))
