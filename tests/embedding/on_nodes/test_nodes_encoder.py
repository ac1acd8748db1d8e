"""Nodes are sent texts to prove their engines on, whatever was proven on this machine before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recallbench.cluster.engine import Engine
from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.encoders import Role
from recallbench.embedding.on_nodes import nodes_encoder
from recallbench.embedding.on_nodes.encoding_job import COMPUTATION, PROOF
from recallbench.embedding.on_nodes.nodes_encoder import NodesEncoder
from recallbench.embedding.registry import open_embedder
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.progress import Silent

GPU, NO_GPU = SimpleNamespace(gpus=1), SimpleNamespace(gpus=0)


class ProvenHere:
    """An encoder whose proof was made in an earlier run, so that it needs none."""

    name = title = "stub"
    batch_size, one_sided, tolerated, remedy = 32, True, None, ""
    spec = SimpleNamespace(reduced=False)
    progress, stopwatch, computation = Silent(), Stopwatch(), "here"
    proof_status, worst_cosine, proof_texts = "not needed", None, 0

    def __init__(self, backend: str, backends: Sequence[str] = ("openvino", "torch")) -> None:
        self.backend, self.backends = backend, backends
        self.fingerprint = {"backend": backend}

    def needs_texts(self) -> bool:
        return False


class StubCrew:
    """Workers that state one proof after the other."""

    def __init__(self, cluster: Any, job: Any, *_: Any) -> None:
        jobs.append(job)

    def wait(self) -> None: ...

    def close(self) -> None: ...

    def in_order(self, items: Any, named: Any) -> Iterator[Any]:
        for _ in items:
            yield np.zeros(1), {COMPUTATION: "there", PROOF: json.dumps(stated.pop(0))}


jobs: list[Any] = []
stated: list[Any] = []


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(nodes_encoder, "Crew", StubCrew)

    def opened(here: Any, node: Any = NO_GPU) -> NodesEncoder:
        encoder = NodesEncoder(here, lambda *_: None, Engine("ray", "10.0.0.1:1"), "auto")  # type: ignore[arg-type]
        monkeypatch.setattr(encoder, "_cluster", SimpleNamespace(nodes=lambda: [node]))
        return encoder

    return opened


@pytest.mark.parametrize(
    ("here", "node", "needed"),
    [
        (ProvenHere("openvino/cpu"), NO_GPU, True),
        (ProvenHere("torch/cpu"), GPU, True),
        (ProvenHere("torch/cpu"), NO_GPU, False),
        (ProvenHere("onnxruntime/cpu", ("openvino", "onnxruntime")), NO_GPU, False),
        (ProvenHere("numpy/cpu", ()), NO_GPU, False),
    ],
)
def test_texts_are_collected_for_nodes_until_they_are_sent(nodes: Any, here: Any, node: Any, needed: bool) -> None:
    encoder = nodes(here, node)
    assert encoder.needs_texts() is needed
    role: Role = "passage"
    encoder.prepare(role, ["a text"])
    assert jobs.pop().proof_texts == ("a text",)
    assert not encoder.needs_texts()


def test_the_proof_is_the_weakest_of_those_who_embedded(nodes: Any) -> None:
    encoder = nodes(ProvenHere("openvino/cpu"))
    encoder.prepare("passage", ["a text"])
    assert (encoder.proof_status, encoder.worst_cosine, encoder.proof_texts) == ("not needed", None, 0)
    stated[:] = [("cached", 0.99999, 32), ("equal", 0.99998, 7)]
    list(encoder.embed_batches([[], []], "passage"))
    assert (encoder.proof_status, encoder.worst_cosine, encoder.proof_texts) == ("equal", 0.99998, 7)


def test_a_node_computes_in_the_numbers_that_were_asked_for(tmp_path: Path) -> None:
    opened = open_embedder("minilm", cache_dir=tmp_path, max_tokens=64, dtype="bf16", engine=Engine("ray"), environ={})
    assert isinstance(opened, CachedEmbedder)
    open_encoder = vars(vars(opened)["_encoder"])["_open_encoder"]
    there = open_encoder("torch", {})
    assert (there.spec.dtype, there.spec.max_tokens) == ("bfloat16", 64)
