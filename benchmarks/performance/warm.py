"""A warm LongMemEval run against the sum of parsing, COPY, search and scoring measured bare.

The reference store by cosine alone, on one server that runs for both sides; the vectors are cached and come from a
function that takes no time worth mention. The first run of the harness fills the caches and is not measured. Beside
the wall times stand the processor seconds of this process, without the server's: others do not lengthen those.
Run: python benchmarks/performance/warm.py [longmemeval file]    (or LONGMEMEVAL_DATA_DIR)
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bare import bare_longmemeval
from memory import corpus
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.machine import cpu_model
from recallbench.embedding.registry import open_embedder
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from recallbench.runs.options import Options
from recallbench.runs.run import run
from recallbench.stores.postgres.embedded import EmbeddedServer
from row import Row, show

ROUNDS, LIMIT, DIMS = 3, 2.0, 384
ENCODER = "python:warm:vectors"


def vectors(texts: Sequence[str]) -> np.ndarray:
    """Return a vector of chance for each text, the same each time."""
    seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(DIMS, np.float32) for seed in seeds])


def rows(file: Path | None = None) -> list[Row]:
    """Return the row; none where no file is at hand."""
    file = file or corpus()
    if file is None:
        return []
    with TemporaryDirectory() as scratch, EmbeddedServer() as server:
        place = Path(scratch)
        options = Options(
            corpus="longmemeval",
            store="pgvector",
            dsn=(server.dsn,),
            embedder=ENCODER,
            store_options={"weights": "cosine"},
            corpus_file=file,
            allow_deviations=frozenset({"dataset"}),
            out=place / "results",
            cache_dir=place / "cache",
            environ=os.environ,
        )
        run(options, Silent(), date.today())
        passages, questions = _vectors(file, place / "cache")
        found: list[tuple[float, float]] = []

        def bare() -> None:
            found.append(bare_longmemeval(file, passages, questions, dsn=server.dsn, out=place / "ids.jsonl"))

        def ours() -> None:
            headline = run(options, Silent(), date.today()).metrics.headline
            # Scores that are equal but for their last digit may swap places.
            assert np.allclose([figure.estimate.value for figure in headline], found[-1], atol=0.01), (headline, found)

        walls, processors = _in_turn(bare, ours)
    measured = f"{walls[1] / walls[0]:.2f} times ({walls[1]:.1f} s against {walls[0]:.1f} s; processor"
    measured += f" {processors[1]:.1f} s against {processors[0]:.1f} s; {cpu_model()})"
    name = "a warm LongMemEval run (499 items), cosine only, server running"
    return [Row(name, f"at most {LIMIT:g} times bare", measured, walls[1] <= LIMIT * walls[0])]


def _vectors(file: Path, cache: Path) -> tuple[np.ndarray, np.ndarray]:
    haystacks = open_corpus(
        "longmemeval", rules=load(), environ=os.environ, file=file, allow_dataset_deviation=True
    ).haystacks()
    embedder = open_embedder(ENCODER, cache_dir=cache)
    passages, questions = [], []
    for haystack in haystacks:
        passages.append(embedder.lookup([segment.text for segment in haystack.segments], "passage").vectors)
        questions.append(embedder.lookup([question.text for question in haystack.questions], "query").vectors)
    embedder.close()
    return np.concatenate(passages), np.concatenate(questions)


def _in_turn(*sides: Callable[[], None]) -> tuple[list[float], list[float]]:
    """Return the best seconds of each side, by the clock and of this process; noise only ever adds."""
    walls: list[list[float]] = [[] for _ in sides]
    processors: list[list[float]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for number, side in enumerate(sides):
            started, worked = time.perf_counter(), time.process_time()
            side()
            processors[number].append(time.process_time() - worked)
            walls[number].append(time.perf_counter() - started)
    return [min(each) for each in walls], [min(each) for each in processors]


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
