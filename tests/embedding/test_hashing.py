"""The encoder of dry runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recallbench.embedding.registry import open_embedder


def test_a_vector_is_a_normalised_bag_of_signed_words(tmp_path: Path) -> None:
    embedder = open_embedder("hash", cache_dir=tmp_path)
    embedded = embedder.lookup(["cat dog", "Dog  CAT", "cat", "", "cat cat dog"], "passage")
    assert embedded.vectors.shape == (5, 256)
    np.testing.assert_array_equal(embedded.vectors[0], embedded.vectors[1])
    filled = [sorted(abs(float(value)) for value in row if value) for row in embedded.vectors]
    assert filled[0] == pytest.approx([0.707107, 0.707107], abs=1e-6)
    assert filled[4] == pytest.approx([0.447214, 0.894427], abs=1e-6)
    assert float(np.linalg.norm(embedded.vectors[3])) == 1.0
    assert embedded.tokens.tolist() == [2, 2, 1, 0, 3]
    assert embedded.cut.tolist() == [7, 8, 3, 0, 11]
    assert list(tmp_path.iterdir()) == []


def test_words_after_the_512th_are_cut(tmp_path: Path) -> None:
    embedder = open_embedder("hash", cache_dir=tmp_path)
    embedded = embedder.lookup(["ab " * 512, "ab " * 513, "ab " * 512 + "zz"], "passage")
    assert embedded.tokens.tolist() == [512, 513, 513]
    assert embedded.cut.tolist() == [1536, 1535, 1535]
    np.testing.assert_array_equal(embedded.vectors[0], embedded.vectors[2])
    report = embedder.report()
    assert (report.distinct, report.truncated, report.tokens) == (3, 2, 1538)


def test_vectors_do_not_depend_on_the_process() -> None:
    program = (
        "import hashlib, pathlib\n"
        "from recallbench.embedding.registry import open_embedder\n"
        "e = open_embedder('hash', cache_dir=pathlib.Path('.'))\n"
        "print(hashlib.sha256(e.lookup(['we met in the park'], 'query').vectors.tobytes()).hexdigest())\n"
        "print(e.fingerprint_sha256)\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
