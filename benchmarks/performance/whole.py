"""A whole LoCoMo run, from parsing to artefacts, against a bare script that only parses, copies, asks and dumps ids.

Vectors are cached on both sides, both use one and the same embedded server, and both ask the server the same query. A
second pair of rows lets each side start (and stop) a server of its own, as a first-time user does.
Run: python benchmarks/performance/whole.py [locomo10.json]    (or LOCOMO_DATA_DIR)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bare import bare_locomo
from recallbench.cli.options import default_cache
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.registry import open_embedder
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from recallbench.runs.options import Options
from recallbench.runs.run import run
from recallbench.stores.pgvector.weights import DEFAULT_WEIGHTS
from recallbench.stores.postgres.embedded import EmbeddedServer
from row import Row, show

ROUNDS, LIMIT = 9, 3.0


def rows(file: Path | None = None) -> list[Row]:
    """Time both sides in turn; ratios are of each side's best round, since noise only ever adds."""
    corpus = open_corpus("locomo", rules=load(), environ=os.environ, file=file)
    haystacks = list(corpus.haystacks())
    texts = [segment.text for haystack in haystacks for segment in haystack.segments]
    questions = [question.text for haystack in haystacks for question in haystack.questions if question.gold]
    embedder = open_embedder("minilm", cache_dir=default_cache())
    embedder.ensure(texts, "passage")
    embedder.ensure(questions, "query")
    vectors = [
        np.array(embedder.lookup(some, role).vectors) for some, role in ((texts, "passage"), (questions, "query"))
    ]
    embedder.close()
    everything = ",".join(f"{part}={value}" for part, value in asdict(DEFAULT_WEIGHTS).items())
    table = []
    with TemporaryDirectory() as scratch:
        for name, weights in (("cosine only", "cosine"), ("default weights", everything)):

            def bare(dsn: str, weights: str = weights) -> None:
                bare_locomo(corpus.path, *vectors, dsn=dsn, out=Path(scratch) / "ids.jsonl", weights=weights)

            def bare_alone() -> None:
                with EmbeddedServer() as server:
                    bare(server.dsn)

            def harness(dsn: str | None, weights: str = weights) -> None:
                options = Options(
                    corpus="locomo",
                    store="pgvector",
                    dsn=(dsn,) if dsn else (),
                    embedder="minilm",
                    store_options={"weights": weights},
                    corpus_file=corpus.path,
                    out=Path(scratch) / "results",
                    cache_dir=default_cache(),
                    environ=os.environ,
                )
                run(options, Silent(), date.today())

            with EmbeddedServer() as server:
                running = (partial(harness, server.dsn), partial(bare, server.dsn))
                table.append(_row(f"whole run, {name}, server running", *running))
            table.append(_row(f"whole run, {name}, each starting its server", partial(harness, None), bare_alone))
    return table


def _row(name: str, ours: Callable[[], None], bare: Callable[[], None]) -> Row:
    seconds: dict[str, list[float]] = {"ours": [], "bare": []}
    for turn in range(ROUNDS + 1):
        for side, work in (("ours", ours), ("bare", bare)):
            started = time.perf_counter()
            work()
            if turn:  # the first of each warms imports and caches
                seconds[side].append(time.perf_counter() - started)
    ratio = min(seconds["ours"]) / min(seconds["bare"])
    times = f"{min(seconds['ours']):.3f} s against {min(seconds['bare']):.3f} s"
    return Row(name, f"at most {LIMIT:g} times the bare script", f"{ratio:.2f} times ({times})", ratio <= LIMIT)


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
