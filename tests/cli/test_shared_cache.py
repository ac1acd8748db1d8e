"""A cache of vectors that several people share, from the command line: nobody can set another's number with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from forged_rows import forge, turn

RUN = ("run", "canary-locomo", "--limit", "1", "--store", "exact", "--embedder", "minilm", "--backend", "torch")


def ran(user: str, cwd: Path, folder: str) -> Any:
    """One user's run over the cache in `cwd`; each has settings, and so a key, of their own."""
    return recallbench(*RUN, "--folder", folder, cwd=cwd, env={"XDG_CONFIG_HOME": str(cwd / user)})


def embedding(folder: Path) -> Any:
    return json.loads((folder / "environment.json").read_text())["embedding"]


@pytest.mark.marked
def test_forged_vectors_of_a_shared_cache_set_nobodys_number(tmp_path: Path) -> None:
    assert ran("ann", tmp_path, "first").returncode == 0
    made = embedding(tmp_path / "first")
    assert (made["computed"], made["foreign"], made["embedded_again"]) == (20, 0, 0)
    key = tmp_path / "ann" / "recallbench" / "vectors.key"
    assert key.stat().st_mode & 0o777 == 0o600

    bob = ran("bob", tmp_path, "second")
    assert bob.returncode == 0
    assert "keeps 19 vectors without the seal of your own key: before any is used, 8 are embedded again" in bob.stderr
    # 19 passages and a query.
    used = embedding(tmp_path / "second")
    assert (used["reused"], used["foreign"], used["embedded_again"]) == (20, 20, 9)
    assert "| embedding: embedded_again | 9 |" in (tmp_path / "second" / "report.md").read_text()
    for name in ("metrics.json", "raw_retrievals.jsonl", "run.trec"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()

    [vectors] = (tmp_path / "cache" / "vectors").iterdir()
    forge(vectors, None, turn)
    for user in ("ann", "carol"):
        refused = ran(user, tmp_path, "third")
        assert refused.returncode == 2
        assert f"vectors in the cache are not the encoder's: {vectors}" in refused.stderr
        assert f"delete {vectors}, which is only a cache, or name another one with --cache-dir" in refused.stderr
        assert not (tmp_path / "third").exists()

    key.chmod(0o644)
    refused = ran("ann", tmp_path, "third")
    assert refused.returncode == 2
    assert f"{key}: others than its owner may use this key" in refused.stderr
    assert f"chmod 600 {key}" in refused.stderr
