"""Embedding on the nodes of a Ray cluster: two nodes against one, and one against this process.

The nodes of the first row have one core each, on this machine and on the loopback. Of the second, both sides have all
cores of the machine; loading the model, and starting Ray and its worker, count. All sides embed the same slices of
LoCoMo's segments with MiniLM in turns, so that whatever else the machine does falls on all of them.
Run: python benchmarks/performance/nodes.py [locomo10.json]    (or LOCOMO_DATA_DIR; extra: ray)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recallbench.cluster.connection import ClusterNode, RayCluster, open_cluster
from recallbench.cluster.crew import Crew
from recallbench.cluster.engine import HERE, Engine
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.embedder import Embedder
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


class FirstNode(RayCluster):
    """A cluster of which one node is used."""

    def nodes(self) -> list[ClusterNode]:
        return super().nodes()[:1]


def rows(file: Path | None = None, *, turns: int = 7) -> list[Row]:
    """Time all sides in turns; each ratio is of the sums over all slices. LoCoMo is embedded `turns` times."""
    corpus = open_corpus("locomo", rules=load(), environ=os.environ, file=file)
    texts = [segment.text for haystack in corpus.haystacks() for segment in haystack.segments]
    with TemporaryDirectory() as folder:
        cache = Path(folder)
        # What a first run of the machine does is no part of it: unpacking, the probe, the proof.
        with_proof = open_embedder(NAME, cache_dir=cache, backend="openvino")
        with_proof.ensure(texts[:40], "passage")
        with_proof.close()
        return [_scaling(texts, cache), _overhead(texts, cache, turns)]


def _scaling(texts: Sequence[str], cache: Path) -> Row:
    request = EncoderRequest(NAME, cache, os.environ, Silent(), "openvino")
    encoder = open_text_encoder(NAME, request)
    job = EncodingJob(partial(open_on_node, NAME, None, cache), "openvino/cpu", ())
    with ExitStack() as ending:
        nodes = ending.enter_context(two_nodes())
        os.environ |= nodes.variables
        cluster = ending.enter_context(open_cluster(Engine("ray", nodes.address), Silent()))
        seconds: dict[int, float] = {1: 0.0, 2: 0.0}
        crews = {}
        for count, of in ((1, FirstNode(cluster.ray)), (2, cluster)):
            crews[count] = Crew(of, job, deciding_facts(encoder), "embedding", Silent())
            ending.callback(crews[count].close)
            embed = partial(_embed, crews[count], encoder)
            embed(texts[: 4 * BATCH])
            while len(crews[count].done) < count:
                embed(texts[: 4 * BATCH])
        for start in range(SLICES):
            for count, crew in crews.items():
                seconds[count] += _timed(_embed, crew, encoder, texts[start::SLICES])
    ratio = seconds[1] / seconds[2]
    return Row(
        f"two nodes of one core against one ({cpu_model()})",
        f"at least {SCALING} times the throughput",
        f"{ratio:.2f} times ({len(texts) / seconds[2]:.1f} against {len(texts) / seconds[1]:.1f} texts/s)",
        ratio >= SCALING,
    )


def _embed(crew: Crew, encoder: Any, texts: Sequence[str]) -> None:
    ids = [text.ids for text in sorted(encoder.tokenise(texts, "passage"), key=lambda text: -text.tokens)]
    items = (EncodingItem("passage", ids[start : start + BATCH]) for start in range(0, len(ids), BATCH))
    for _ in crew.in_order(items, str):
        pass


def _overhead(texts: Sequence[str], cache: Path, turns: int) -> Row:
    embedders: dict[str, Embedder] = {}
    seconds = {"here": 0.0, "ray": 0.0}
    loading = dict(seconds)
    for side, engine in (("here", HERE), ("ray", Engine("ray"))):
        own = cache / side
        own.mkdir()
        (own / "memo").symlink_to(cache / "memo")
        embedders[side] = open_embedder(NAME, cache_dir=own, backend="openvino", engine=engine)
        loading[side] = _timed(embedders[side].ensure, [f"{side} {texts[0]}"], "passage")
    for turn in range(turns):
        # The same words in another order: as long as before, and without a vector.
        turned = [" ".join(words[turn:] + words[:turn]) for words in (text.split() for text in texts)]
        for start in range(SLICES):
            for side in ("here", "ray") if (turn + start) % 2 else ("ray", "here"):
                seconds[side] += _timed(embedders[side].ensure, turned[start::SLICES], "passage")
    for embedder in embedders.values():
        embedder.close()
    here, ray = (loading[side] + seconds[side] for side in ("here", "ray"))
    return Row(
        f"embedding on Ray on this machine against this process ({cpu_model()})",
        f"less than {OVERHEAD:.0%} longer, where it takes a minute or more",
        f"{ray / here - 1:+.1%} ({ray:.1f} against {here:.1f} s, of them {loading['ray']:.1f} and "
        f"{loading['here']:.1f} s until the first vector; {seconds['ray'] / seconds['here'] - 1:+.1%} after it)",
        ray / here - 1 < OVERHEAD,
    )


def _timed(work: Callable[..., object], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(show(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else None)))
