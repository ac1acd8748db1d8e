"""Tiny encoders and a hub that serves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cache_rows import DIMS, SEAL
from tiny_models import Tiny, bge, dragon

from loopback_hub import LoopbackHub
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.engines import choice
from recallbench.embedding.engines.probe import Opening, Runner
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.vector_cache import VectorCache


@pytest.fixture(scope="session")
def tiny_bge(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return bge(tmp_path_factory.mktemp("bge"))


@pytest.fixture(scope="session")
def tiny_dragon(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return dragon(tmp_path_factory.mktemp("dragon"))


@pytest.fixture
def hub(tiny_bge: Tiny, tiny_dragon: Tiny) -> Iterator[LoopbackHub]:
    with LoopbackHub({**tiny_bge.files, **tiny_dragon.files}, revisions=("a" * 40,)) as serving:
        yield serving


@pytest.fixture
def environ(hub: LoopbackHub, tmp_path: Path) -> dict[str, str]:
    """An environment that knows the loopback hub and an empty cache."""
    return {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}


@pytest.fixture
def opened(tiny_bge: Tiny, environ: dict[str, str], tmp_path: Path) -> Any:
    """Opens the tiny bge over one cache folder; keywords override."""

    def open_(**options: Any) -> Embedder:
        spec = options.pop("spec", tiny_bge.spec)
        settings: dict[str, Any] = {"cache_dir": tmp_path / "cache", "environ": environ, "backend": "torch"}
        return open_embedder(spec, **{**settings, **options})

    return open_


@pytest.fixture
def first_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the first setting untimed: a probe opens and times four engines, and test_engine_probe.py holds it."""

    def first(opening: Opening, settings: Sequence[Setting], window: int, *, fixed: bool) -> Runner:
        return Runner(settings[0], opening(settings[0]))

    monkeypatch.setattr(choice, "choose_setting", first)


@pytest.fixture
def opened_cache(tmp_path: Path) -> Any:
    """Opens the cache of one folder, as the user of this seal."""
    return lambda seal=SEAL, *further: VectorCache(tmp_path / "c", DIMS, seal, *further)
