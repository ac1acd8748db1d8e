"""Opens encoders by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.encoders import EncoderSpec, find_encoder
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.options import Backend
from recallbench.progress import Progress, Silent


def open_embedder(
    encoder: str | EncoderSpec,
    *,
    cache_dir: Path,
    backend: Backend = "auto",
    environ: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    recheck_own: bool = False,
) -> Embedder:
    """Open an embedder by name (or by a spec of one's own). Loads nothing: that waits until a text must be embedded.

    Kept vectors that are not the user's own are used only after some of them were embedded again and agreed; with
    `recheck_own` that goes for the user's own too.
    """
    if encoder == "hash":
        return HashEmbedder()
    spec = find_encoder(encoder) if isinstance(encoder, str) else encoder
    return CachedEmbedder(
        spec,
        cache_dir=cache_dir,
        backend=backend,
        environ=os.environ if environ is None else environ,
        progress=progress or Silent(),
        recheck_own=recheck_own,
    )


def default_cache_dir() -> Path:
    """Return the folder of computed vectors, where no other is named."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("recallbench", appauthor=False))
