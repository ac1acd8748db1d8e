"""Nobody can change another user's figures through a shared cache of vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commandline import recallbench
from forged_rows import forge, turn

RUN = ("run", "canary-locomo", "--limit", "1", "--store", "exact", "--embedder", "python:my_encoder:embed")
ENCODER = """
import zlib
import numpy as np
def embed(texts):
    return [np.bincount([zlib.crc32(word.encode()) % 64 for word in text.split()], minlength=64) for text in texts]
"""
"""Whoever makes the vectors, they are kept, sealed and checked alike; this one is loaded in no time."""


def run_as(user: str, cwd: Path, folder: str) -> Any:
    """Run as a user with settings, and so a key, of their own, over the cache in `cwd`."""
    return recallbench(*RUN, "--folder", folder, cwd=cwd, env={"XDG_CONFIG_HOME": str(cwd / user)})


def embedding_account(folder: Path) -> Any:
    return json.loads((folder / "environment.json").read_text())["embedding"]


def test_forged_vectors_of_a_shared_cache_are_refused(tmp_path: Path) -> None:
    (tmp_path / "my_encoder.py").write_text(ENCODER)
    assert run_as("ann", tmp_path, "first").returncode == 0
    computed = embedding_account(tmp_path / "first")
    assert (computed["computed"], computed["foreign"], computed["embedded_again"]) == (20, 0, 0)
    key = tmp_path / "ann" / "recallbench" / "vectors.key"
    assert key.stat().st_mode & 0o777 == 0o600

    bob = run_as("bob", tmp_path, "second")
    assert bob.returncode == 0
    assert "keeps 19 vectors without the seal of your own key: before any is used, 8 are embedded again" in bob.stderr
    # 19 passages and a query.
    reused = embedding_account(tmp_path / "second")
    assert (reused["reused"], reused["foreign"], reused["embedded_again"]) == (20, 20, 9)
    assert (
        "| vectors from the cache that were made again and compared | 9 |"
        in (tmp_path / "second" / "report.md").read_text()
    )
    for name in ("metrics.json", "raw_retrievals.jsonl", "run.trec"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()

    [vectors] = (tmp_path / "cache" / "vectors").iterdir()
    forge(vectors, None, turn)
    for user in ("ann", "carol"):
        refused = run_as(user, tmp_path, "third")
        assert refused.returncode == 2
        assert f"vectors in the cache are not the encoder's: {vectors}" in refused.stderr
        assert f"delete {vectors}, which is only a cache, or name another one with --cache-dir" in refused.stderr
        assert not (tmp_path / "third").exists()

    key.chmod(0o644)
    refused = run_as("ann", tmp_path, "third")
    assert refused.returncode == 2
    assert f"{key}: others than its owner may use this key" in refused.stderr
    assert f"chmod 600 {key}" in refused.stderr
