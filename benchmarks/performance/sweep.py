"""A sweep of 24 points that share their vectors: what it takes outside the store and the encoder.

LoCoMo on pgvector, 24 weights of its parts, each point asked everything. The encoder's time is that of opening it, of
embedding and of looking vectors up; the store's is that of every call of it, from its opening to its end. Each point
has a server of its own: the row also says what the share is when starting and ending those is left out of the whole.
Run: LOCOMO_DATA_DIR=… python benchmarks/performance/sweep.py    (vectors are computed first where none are kept)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.machine import cpu_model
from recallbench.embedding.registry import default_cache_dir
from recallbench.progress import Silent
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan
from recallbench.scoring.measures.recall_any import RecallAny
from recallbench.stores.pgvector.pgvector import PgvectorStore
from recallbench.studies.sweep.choices import SweepChoices
from recallbench.studies.sweep.file import SweepFile
from recallbench.studies.sweep.study import sweep
from row import Row, show

POINTS, SHARE = 24, 0.05
OF_STORE = ("prepare", "ingest", "ready", "search", "search_many", "round_trip", "version", "chill", "close")
OF_ENCODER = ("ensure", "lookup", "report", "close")
OF_SERVER = ("prepare", "close")
"""Calls of the store that do little else than start its server, and end it."""


class Inside:
    """Seconds in calls of some methods, the outermost counted."""

    def __init__(self) -> None:
        self.seconds, self._deep, self._started = 0.0, 0, 0.0

    def __enter__(self) -> None:
        if not self._deep:
            self._started = time.perf_counter()
        self._deep += 1

    def __exit__(self, *_: object) -> None:
        self._deep -= 1
        if not self._deep:
            self.seconds += time.perf_counter() - self._started

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same method, timed; of an iterator the time in which it finds the next."""

        def call(*arguments: Any, **named: Any) -> Any:
            with self:
                found = method(*arguments, **named)
            return self._each(found) if isinstance(found, Iterator) else found

        return call

    def _each(self, found: Iterator[Any]) -> Iterator[Any]:
        while True:
            with self:
                one = next(found, self)
            if one is self:
                return
            yield one


@contextmanager
def _timed_methods(inside: Inside, servers: Inside) -> Iterator[None]:
    classes = ((PgvectorStore, OF_STORE), (CachedEmbedder, OF_ENCODER), (Plan, ("_open_store",)))
    before = [(kind, name, getattr(kind, name)) for kind, names in classes for name in names]
    for kind, name, method in before:
        of_server = kind is PgvectorStore and name in OF_SERVER
        setattr(kind, name, inside.timed(servers.timed(method) if of_server else method))
    try:
        yield
    finally:
        for kind, name, method in before:
            setattr(kind, name, method)


def rows() -> list[Row]:
    """One row: the share of the wall time that is neither the store's nor the encoder's."""
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        weights = ", ".join(f'"cosine=1,bm25={number / 10}"' for number in range(1, POINTS + 1))
        (place / "tune.toml").write_text(f"[parameters]\nset.weights = [{weights}]\n")
        options = Options(
            corpus="locomo",
            store="pgvector",
            embedder="minilm",
            out=place,
            cache_dir=_vectors(place),
            environ=os.environ,
        )
        file, inside, servers = SweepFile.read(place / "tune.toml"), Inside(), Inside()
        started = time.perf_counter()
        with _timed_methods(inside, servers):
            study = sweep(file, place / "tune.toml", options, SweepChoices(RecallAny(10)), Silent(), date.today())
        wall = time.perf_counter() - started
        assert not study.document.failed, study.document.failed[0].failure
        assert not any(point.kept for point in study.document.points)
    outside = wall - inside.seconds
    share, alone = outside / wall, outside / (wall - servers.seconds)
    return [
        Row(
            f"a sweep of {POINTS} points that share vectors, {study.document.questions:,} questions each",
            f"under {SHARE:.0%} outside store and encoder",
            f"{share:.1%} of {wall:.0f} s, {alone:.1%} without the {servers.seconds:.0f} s of servers ({cpu_model()})",
            share < SHARE,
        )
    ]


def _vectors(place: Path) -> Path:
    """Return a cache with the user's vectors, as far as there are any, and no answers."""
    for kept in default_cache_dir().glob("vectors/minilm-*"):
        copytree(kept, place / "cache" / "vectors" / kept.name)
    return place / "cache"


if __name__ == "__main__":
    raise SystemExit(show(rows()))
