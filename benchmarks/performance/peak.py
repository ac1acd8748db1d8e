"""How much of this machine's fp32 matrix peak embedding reaches, for three shapes of encoders at 512 tokens.

The peak is measured in the same run, by turns with the encoders and alone: the best product of two square matrices by
torch or OpenVINO, the largest of all. The weights are random: they take no less time than real ones. `before` is
whole batches on one graph for all lengths, as releases before settings were probed ran them; the fastest setting leads
its row. The profile says where its time goes.
Run: python benchmarks/performance/peak.py [CORES [SHAPE...]]    (on one core the clock is the process's own, which
other programs disturb least)
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.engines.probe import FEWEST, cores, workload
from recallbench.embedding.engines.setting import Setting, settings_to_try
from recallbench.embedding.openvino_engine import OpenvinoEngine, converted, openvino_core
from recallbench.embedding.torch_engine import Batch, TorchEngine, add_pooling
from row import Row, show

WANTED, TOKENS, SIZES, SECONDS = 0.9, 512, (1024, 2048), 10.0


class Shape(NamedTuple):
    """The sizes of an encoder."""

    layers: int
    width: int
    inner: int
    heads: int
    kind: str
    texts: int
    """In a batch: fewer where each takes long."""

    def operations(self, texts: int, tokens: int) -> float:
        """Return the additions and multiplications of the matrix products, attention's two among them."""
        layer = 8 * tokens * self.width**2 + 4 * tokens * self.width * self.inner + 4 * tokens**2 * self.width
        return float(texts * self.layers * layer)


SHAPES: Mapping[str, Shape] = {
    "MiniLM": Shape(6, 384, 1536, 12, "bert", 8),
    "mpnet": Shape(12, 768, 3072, 12, "mpnet", 4),
    "XLM-R-large": Shape(24, 1024, 4096, 16, "xlm-roberta", 2),
}


class Speeds(NamedTuple):
    """GFLOP/s of an encoder by setting, and those of the products that ran by turns with it."""

    encoder: Mapping[str, float]
    products: Mapping[str, float]
    fastest: Setting
    texts_a_second: float
    profile: str


def rows(names: tuple[str, ...] = tuple(SHAPES)) -> list[Row]:
    """Return the shares of each shape, with the profile of what is left."""
    speeds = {name: _speeds(SHAPES[name]) for name in names}
    products = {name: (run, 2.0 * size**3) for name, size, run in _products()}
    alone = _least_seconds({name: run for name, (run, _) in products.items()})
    reached = [(operations / alone[name] / 1e9, name) for name, (_, operations) in products.items()]
    reached += [(speed, name) for each in speeds.values() for name, speed in each.products.items()]
    peak, product = max(reached)
    return [row for name, each in speeds.items() for row in _shares(name, each, peak, product)]


def _shares(name: str, speeds: Speeds, peak: float, product: str) -> list[Row]:
    share = {words: speed / peak for words, speed in speeds.encoder.items()}
    now = speeds.fastest.words
    told = ", ".join(f"{words} {share[words]:.2f}" for words in share if words != now)
    return [
        Row(
            f"{name} at {TOKENS} tokens, {now}, of the fp32 matrix peak",
            f"{WANTED} of {peak:.0f} GFLOP/s ({product}; cores: {cores()})",
            f"{share[now]:.2f} ({told}; {speeds.texts_a_second:.1f} texts/s)",
            share[now] >= WANTED,
        ),
        Row(f"{name}: where the time goes", "", speeds.profile, True),
    ]


def _speeds(shape: Shape) -> Speeds:
    module = _module(shape)
    graph = converted(module)
    batch = Batch(np.full((shape.texts, TOKENS), 5, np.int64), np.ones((shape.texts, TOKENS), np.int64))
    first = OpenvinoEngine(graph, Setting(), TOKENS)
    tried = list(settings_to_try(shape.texts))[1:]
    # The tool makes no second graph of an encoder that is slow.
    quick = len(workload(first, TOKENS).ids) > FEWEST
    tried += [tried[-1]._replace(fixed=True)] * quick
    engines = {setting: OpenvinoEngine(graph, setting, TOKENS) for setting in tried}
    sides: dict[str, Callable[[], object]] = {
        "before": partial(first, batch),
        "torch": partial(TorchEngine(module), batch),
        **{setting.words: partial(engine, batch) for setting, engine in engines.items()},
    }
    operations = dict.fromkeys(sides, shape.operations(shape.texts, TOKENS))
    encoder = list(sides)
    for name, size, product in _products():
        sides[name], operations[name] = product, 2.0 * size**3
    least = _least_seconds(sides)
    speed = {side: operations[side] / least[side] / 1e9 for side in sides}
    now = min(tried, key=lambda setting: least[setting.words])
    return Speeds(
        {side: speed[side] for side in encoder},
        {side: speed[side] for side in sides if side not in encoder},
        now,
        shape.texts / least[now.words],
        _profile(graph, now),
    )


def _products() -> Iterator[tuple[str, int, Callable[[], object]]]:
    for size in SIZES:
        yield f"torch {size}", size, _torch_product(size)
        yield f"OpenVINO {size}", size, _openvino_product(size)


def _least_seconds(sides: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Run all sides by turns, a few times each, and return the least seconds of each."""
    clock = time.process_time if cores() == 1 else time.perf_counter
    least: dict[str, float] = defaultdict(lambda: float("inf"))
    end = time.perf_counter() + SECONDS
    turns = 0
    while turns < 3 or time.perf_counter() < end:
        for side, run in sides.items():
            start = clock()
            run()
            if turns:  # the first warms up
                least[side] = min(least[side], clock() - start)
        turns += 1
    return dict(least)


def _torch_product(size: int) -> Callable[[], object]:
    import torch

    left, right, out = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    return lambda: torch.mm(left, right, out=out)


def _openvino_product(size: int) -> Callable[[], object]:
    import openvino
    from openvino import opset13

    given = opset13.parameter([size, size], np.float32)
    weights = opset13.constant(np.random.default_rng(0).normal(size=(size, size)).astype(np.float32))
    model = openvino.Model([opset13.matmul(given, weights, False, True)], [given])
    hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    request = openvino_core().compile_model(model, "CPU", hints).create_infer_request()
    request.set_input_tensor(openvino.Tensor(np.ones((size, size), np.float32)))
    return lambda: request.infer()


def _profile(graph: Any, setting: Setting) -> str:
    """Return the shares of matrix products, attention and the rest, by OpenVINO's own counters, on one stream."""
    graph = graph.clone()
    if setting.fixed:
        graph.reshape({given: [setting.texts, TOKENS] for given in graph.inputs})
    hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "PERF_COUNT": True}
    compiled = openvino_core().compile_model(graph, "CPU", hints)
    request = compiled.create_infer_request()
    ids = np.full((setting.texts, TOKENS), 5, np.int64)
    for _ in range(3):
        request.infer({0: ids, 1: np.ones_like(ids)})
    fused = {
        node.get_friendly_name(): str(node.get_rt_info()["originalLayersNames"].astype(str)).lower()
        for node in compiled.get_runtime_model().get_ops()
    }
    seconds: dict[str, float] = defaultdict(float)
    for node in request.get_profiling_info():
        attends = any(word in fused.get(node.node_name, "") for word in ("softmax", "scaled_dot_product"))
        part = "matrix products" if node.node_type in ("FullyConnected", "MatMul") else "attention" if attends else ""
        seconds[part or "the rest"] += node.real_time.total_seconds()
    whole = sum(seconds.values())
    return ", ".join(f"{part} {seconds[part] / whole:.0%}" for part in ("matrix products", "attention", "the rest"))


def _module(shape: Shape) -> Any:
    import torch
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    config = AutoConfig.for_model(
        shape.kind,
        vocab_size=1000,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner,
        max_position_embeddings=TOKENS + 2,
    )
    model = AutoModel.from_config(config)
    return add_pooling(model.eval(), ENCODERS["minilm"]).eval()


if __name__ == "__main__":
    if sys.argv[1:]:
        os.sched_setaffinity(0, range(int(sys.argv[1])))
    raise SystemExit(show(rows(tuple(sys.argv[2:]) or tuple(SHAPES))))
