"""Embedding on the nodes of a Ray cluster: two nodes against one, and one against this process.

The nodes of the first two rows have one core each, on this machine and on the loopback; in the first, a batch is only
waited for, as long as a core takes for it, so that it tells what sharing out costs where each node has a machine to
itself. In the second, MiniLM embeds LoCoMo's segments. The others are whole commands, `evaluate` over as many of these
segments as take a minute, with all cores and vectors for none of them; starting Ray, its worker and the model count.
They are told by wall clock, and by the processors' seconds of all processes, which other load moves less. The sides
take turns, and told is the median of the ratios of a turn, from the lowest to the highest.
Run: python benchmarks/performance/nodes.py [scaling|overhead]    (LOCOMO_DATA_DIR; extra: ray)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil

from recallbench.cluster.connection import ClusterNode, RayCluster, open_cluster
from recallbench.cluster.crew import Crew
from recallbench.cluster.engine import Engine
from recallbench.cluster.job import Job, Share
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.embedder import Matrix
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.machine import cpu_model
from recallbench.embedding.model_encoder import ModelEncoder
from recallbench.embedding.on_nodes.encoding_job import EncodingItem, EncodingJob, deciding_facts
from recallbench.embedding.registry import open_embedder, open_on_node, open_text_encoder
from recallbench.progress import Silent
from recallbench.protocol.frozen import load
from row import Row, median, show

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from ray_nodes import two_nodes

NAME, BATCH, SLICES = "minilm", 8, 5
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


class FirstNode(RayCluster):
    """A cluster of which one node is used."""

    def nodes(self) -> list[ClusterNode]:
        return super().nodes()[:1]


def rows(*parts: str, turns: int = 5, texts: int = 1100) -> list[Row]:
    """Measure these parts; the overhead by so many turns over so many texts."""
    corpus = open_corpus("locomo", rules=load(), environ=os.environ)
    segments = [segment.text for haystack in corpus.haystacks() for segment in haystack.segments]
    with TemporaryDirectory() as folder:
        cache = Path(folder)
        # What a first run of the machine does is no part of it: unpacking, the probe, the proof.
        with_proof = open_embedder(NAME, cache_dir=cache, backend="openvino")
        with_proof.ensure(segments[:40], "passage")
        with_proof.close()
        return [
            *(_scaling(segments, cache) if "scaling" in parts else []),
            *(_overhead(segments, cache, turns, texts) if "overhead" in parts else []),
        ]


def _scaling(texts: Sequence[str], cache: Path) -> list[Row]:
    encoder = open_text_encoder(NAME, EncoderRequest(NAME, cache, os.environ, Silent(), "openvino"))
    assert isinstance(encoder, ModelEncoder)
    job = EncodingJob(partial(open_on_node, NAME, None, "fp32", cache), "openvino/cpu", (), encoder.setting)
    waited = [np.ones(512, np.int32)] * BATCH
    slices = [texts[start::SLICES] for start in range(SLICES)]
    with ExitStack() as ending:
        nodes = ending.enter_context(two_nodes())
        os.environ |= nodes.variables
        cluster = ending.enter_context(open_cluster(Engine("ray", nodes.address), Silent()))
        waiting = _ratios(cluster, Waiting(), {}, [[waited] * WAITS])
        batches = [_batches(encoder, part) for part in slices]
        embedding = _ratios(cluster, job, deciding_facts(encoder), batches)
    return [
        Row(
            f"two nodes against one, {what}",
            f"at least {SCALING} times the throughput",
            f"{_told(ratios)} times",
            median(ratios) >= SCALING,
        )
        for what, ratios in (
            (f"batches that take {WAIT} s without a processor", waiting),
            (f"one core each ({cpu_model()})", embedding),
        )
    ]


def _ratios(cluster: RayCluster, job: Job, facts: Mapping[str, str], slices: Sequence[Sequence[Any]]) -> list[float]:
    """Return how many times as fast as one node two are, over each slice."""
    with ExitStack() as ending:
        crews = []
        for count, of in enumerate((FirstNode(cluster.ray), cluster), 1):
            crew = Crew(of, job, facts, "embedding", Silent())
            ending.callback(crew.close)
            while len(crew.done) < count:
                _work(crew, slices[0][:4])
            crews.append(crew)
        seconds = [[_timed(_work, crew, batches) for crew in crews] for batches in slices]
    return [one / two for one, two in seconds]


def _batches(encoder: Any, texts: Sequence[str]) -> list[Any]:
    ids = [text.ids for text in sorted(encoder.tokenise(texts, "passage"), key=lambda text: -text.tokens)]
    return [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]


def _work(crew: Crew, batches: Sequence[Any]) -> None:
    for _ in crew.in_order((EncodingItem("passage", batch) for batch in batches), str):
        pass


def _overhead(segments: Sequence[str], cache: Path, turns: int, texts: int) -> list[Row]:
    team = cache / "team"
    (team / "qrels").mkdir(parents=True)
    # The same words in another order: as long as before, and another vector.
    turned = (segments[number % len(segments)].split() for number in range(texts))
    documents = [" ".join(words[number:] + words[:number]) for number, words in enumerate(turned)]
    for name, lines in (("corpus", documents), ("queries", documents[:50])):
        rows = (json.dumps({"_id": f"{name}-{number}", "text": text}) + "\n" for number, text in enumerate(lines))
        (team / f"{name}.jsonl").write_text("".join(rows))
    judged = "".join(f"queries-{number}\tcorpus-{number}\t1\n" for number in range(50))
    (team / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    taken: dict[str, list[tuple[float, float]]] = {"in-process": [], "ray": []}
    for turn in range(turns):
        for engine in sorted(taken, reverse=turn % 2 == 1):
            own = cache / f"{engine}-{turn}"
            own.mkdir()
            (own / "memo").symlink_to(cache / "memo")
            words = ("evaluate", str(team), "--store", "exact", "--embedder", NAME, "--backend", "openvino")
            kept = ("--cache-dir", str(own), "--folder", str(own / "result"), "--engine", engine)
            taken[engine].append(_seconds_of([sys.executable, "-m", "recallbench", *words, *kept]))
    found = []
    for place, what in enumerate(("wall clock", "processors' seconds")):
        here, ray = ([seconds[place] for seconds in taken[engine]] for engine in ("in-process", "ray"))
        ratios = [there / one for there, one in zip(ray, here, strict=True)]
        measured = f"{_told(ratios)} times ({median(ray):.1f} against {median(here):.1f} s)"
        name = f"a command of a minute with Ray on this machine against this process, {what} ({cpu_model()})"
        found.append(Row(name, f"less than {1 + OVERHEAD:.2f} times", measured, median(ratios) < 1 + OVERHEAD))
    return found


def _told(ratios: Sequence[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _seconds_of(command: Sequence[str]) -> tuple[float, float]:
    """Return the seconds of a command, and those of the processors in all processes that it started."""
    used: dict[psutil.Process, float] = {}
    started = time.perf_counter()
    with psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while running.poll() is None:
            with suppress(psutil.Error):
                used |= {
                    process: 0.0 for process in (running, *running.children(recursive=True)) if process not in used
                }
            for process in used:
                with suppress(psutil.Error):  # it ended: what was seen last counts
                    times = process.cpu_times()
                    used[process] = times.user + times.system
            time.sleep(0.2)
    assert running.returncode == 0
    return time.perf_counter() - started, sum(used.values())


def _timed(work: Callable[..., object], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


if __name__ == "__main__":
    raise SystemExit(show(rows(*sys.argv[1:] or ("scaling", "overhead"))))
