"""Embedding on the nodes of a Ray cluster: two nodes against one, and one against this process.

The nodes of the first two rows have one core each, on this machine and on the loopback; in the first, a batch is only
waited for, as long as a core takes for it, so that it tells what sharing out costs where each node has a machine to
itself. Of the third, both sides have all cores of the machine; loading the model, starting Ray and its worker count.
It has two figures: wall clock, and the processors' seconds of all processes, which other load does not move. The sides
take turns over the same slices of LoCoMo's segments with MiniLM.
Run: python benchmarks/performance/nodes.py [locomo10.json]    (or LOCOMO_DATA_DIR; extra: ray)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil

from recallbench.cluster.connection import ClusterNode, RayCluster, open_cluster
from recallbench.cluster.crew import Crew
from recallbench.cluster.engine import HERE, Engine
from recallbench.cluster.job import Job, Share
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.embedder import Embedder, Matrix
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.machine import cpu_model
from recallbench.embedding.on_nodes.encoding_job import EncodingItem, EncodingJob, deciding_facts
from recallbench.embedding.registry import open_embedder, open_on_node, open_text_encoder
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from row import Row, show

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from ray_nodes import two_nodes

NAME, BATCH, SLICES = "minilm", 8, 6
SCALING, OVERHEAD = 1.7, 0.05
WAIT, WAITS = 0.25, 80
"""Seconds that a core takes for a batch of 8 texts of 512 tokens, and how many of them are waited for."""


@dataclass(frozen=True)
class Waiting:
    """Batches that are as large as real ones and take as long, without a processor."""

    share: Share = "node"

    def open(self, cores: int, *, gpu: bool) -> Waiting:
        return self

    def facts(self) -> dict[str, str]:
        return {}

    def do(self, item: EncodingItem) -> Matrix:
        time.sleep(WAIT)
        return np.ones((len(item.contents), 384), np.float32)

    def close(self) -> None:
        return


class FirstNode(RayCluster):
    """A cluster of which one node is used."""

    def nodes(self) -> list[ClusterNode]:
        return super().nodes()[:1]


def rows(file: Path | None = None, *, turns: int = 7, tokens: int | None = None) -> list[Row]:
    """Time all sides in turns; each ratio is of the sums over all slices.

    For the overhead LoCoMo is embedded `turns` times, with so many `tokens` of each segment (None: all that are read).
    """
    corpus = open_corpus("locomo", rules=load(), environ=os.environ, file=file)
    texts = [segment.text for haystack in corpus.haystacks() for segment in haystack.segments]
    with TemporaryDirectory() as folder:
        cache = Path(folder)
        # What a first run of the machine does is no part of it: unpacking, the probe, the proof.
        with_proof = open_embedder(NAME, cache_dir=cache, backend="openvino", max_tokens=tokens)
        with_proof.ensure(texts[:40], "passage")
        with_proof.close()
        return [*_scaling(texts, cache, tokens), _overhead(texts, cache, tokens, turns)]


def _scaling(texts: Sequence[str], cache: Path, tokens: int | None) -> list[Row]:
    encoder = open_text_encoder(NAME, EncoderRequest(NAME, cache, os.environ, Silent(), "openvino", tokens))
    job = EncodingJob(partial(open_on_node, NAME, tokens, cache), "openvino/cpu", ())
    waited = [np.ones(512, np.int32)] * BATCH
    slices = [texts[start::SLICES] for start in range(SLICES)]
    with ExitStack() as ending:
        nodes = ending.enter_context(two_nodes())
        os.environ |= nodes.variables
        cluster = ending.enter_context(open_cluster(Engine("ray", nodes.address), Silent()))
        waiting = _throughputs(cluster, Waiting(), {}, [[waited] * WAITS])
        batches = [_batches(encoder, part) for part in slices]
        embedding = _throughputs(cluster, job, deciding_facts(encoder), batches)
    return [
        Row(
            f"two nodes against one, {what}",
            f"at least {SCALING} times the throughput",
            f"{two / one:.2f} times ({two:.1f} against {one:.1f} texts/s)",
            two / one >= SCALING,
        )
        for what, (one, two) in (
            (f"batches that take {WAIT} s without a processor", waiting),
            (f"one core each ({cpu_model()})", embedding),
        )
    ]


def _throughputs(
    cluster: RayCluster, job: Job, facts: Mapping[str, str], slices: Sequence[Sequence[Any]]
) -> tuple[float, float]:
    """Return the texts per second of one node and of two, over all slices in turns."""
    seconds = [0.0, 0.0]
    with ExitStack() as ending:
        crews = []
        for count, of in enumerate((FirstNode(cluster.ray), cluster), 1):
            crew = Crew(of, job, facts, "embedding", Silent())
            ending.callback(crew.close)
            while len(crew.done) < count:
                _work(crew, slices[0][:4])
            crews.append(crew)
        for batches in slices:
            for number, crew in enumerate(crews):
                seconds[number] += _timed(_work, crew, batches)
    texts = sum(len(batch) for batches in slices for batch in batches)
    return texts / seconds[0], texts / seconds[1]


def _batches(encoder: Any, texts: Sequence[str]) -> list[Any]:
    ids = [text.ids for text in sorted(encoder.tokenise(texts, "passage"), key=lambda text: -text.tokens)]
    return [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]


def _work(crew: Crew, batches: Sequence[Any]) -> None:
    for _ in crew.in_order((EncodingItem("passage", batch) for batch in batches), str):
        pass


def _overhead(texts: Sequence[str], cache: Path, tokens: int | None, turns: int) -> Row:
    embedders: dict[str, Embedder] = {}
    seconds = {"here": 0.0, "ray": 0.0}
    loading, processors, loading_processors = dict(seconds), dict(seconds), dict(seconds)
    for side, engine in (("here", HERE), ("ray", Engine("ray"))):
        own = cache / side
        own.mkdir()
        (own / "memo").symlink_to(cache / "memo")
        embedders[side] = open_embedder(NAME, cache_dir=own, backend="openvino", engine=engine, max_tokens=tokens)
        before = _processor_seconds()
        loading[side] = _timed(embedders[side].ensure, [f"{side} {texts[0]}"], "passage")
        loading_processors[side] = _processor_seconds() - before
    for turn in range(turns):
        # The same words in another order: as long as before, and without a vector.
        turned = [" ".join(words[turn:] + words[:turn]) for words in (text.split() for text in texts)]
        for start in range(SLICES):
            for side in ("here", "ray") if (turn + start) % 2 else ("ray", "here"):
                before = _processor_seconds()
                seconds[side] += _timed(embedders[side].ensure, turned[start::SLICES], "passage")
                processors[side] += _processor_seconds() - before
    for embedder in embedders.values():
        embedder.close()
    here, ray = (loading[side] + seconds[side] for side in ("here", "ray"))
    return Row(
        f"embedding on Ray on this machine against this process ({cpu_model()})",
        f"less than {OVERHEAD:.0%} longer, where it takes a minute or more",
        f"{ray / here - 1:+.1%} ({ray:.1f} against {here:.1f} s, of them {loading['ray']:.1f} and "
        f"{loading['here']:.1f} s until the first vector; {seconds['ray'] / seconds['here'] - 1:+.1%} after it; of the "
        f"processors' seconds {loading_processors['ray']:.1f} and {loading_processors['here']:.1f} until the first "
        f"vector, {processors['ray'] / processors['here'] - 1:+.1%} after it)",
        ray / here - 1 < OVERHEAD,
    )


def _processor_seconds() -> float:
    """Return the processors' seconds of this process and of all that it started and that still run."""
    running = (psutil.Process(), *psutil.Process().children(recursive=True))
    return sum(times.user + times.system for times in (process.cpu_times() for process in running))


def _timed(work: Callable[..., object], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
