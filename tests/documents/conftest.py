"""What several tests of the documents share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from commandline import recallbench
from documents.left_out import WEIGHTS
from documents.surroundings import ONLINE
from made_once import made_once
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.registry import default_cache_dir
from recallbench.embedding.wheels import unpacked_folder


@pytest.fixture(scope="session")
def weights(locomo_vectors: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The encoders whose weights are in the cache of `locomo_vectors`: from the user's own one, else fetched, once."""
    with made_once(tmp_path_factory, "fetched") as folder:
        told = folder / "told.txt"
        if not told.exists():
            told.write_text(" ".join(name for name in WEIGHTS if _had(name, folder, locomo_vectors)))
        return frozenset(told.read_text().split())


def _had(name: str, folder: Path, env: Mapping[str, str]) -> bool:
    """Whether the weights are there now."""
    files = ENCODERS[name].passage
    own, place = (unpacked_folder(files, cache) for cache in (default_cache_dir(), Path(env["RECALLBENCH_CACHE_DIR"])))
    place.parent.mkdir(exist_ok=True)
    if all((own / file).is_file() for file in files.files):
        place.symlink_to(own)
    done = recallbench("fetch", name, "--quiet", cwd=folder, env={**env, **ONLINE})
    assert done.returncode in (0, 3)  # 3: nothing but the package index is not there
    return done.returncode == 0
