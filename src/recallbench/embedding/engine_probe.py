"""The probe: both engines run the same texts for a moment, and the faster one on this machine is taken."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.memo import Memo
from recallbench.embedding.torch_engine import Batch, Engine

TEXTS, TOKENS = 2, 256
"""What both run; texts are shorter where the encoder reads no more."""
TOKEN = 5
"""A token id that every vocabulary has: which it is takes no time."""
ROUNDS, SECONDS = 9, 0.5
"""Turns after the first; fewer where they take longer than that together."""
MARGIN = 1.1
"""How many times as fast as the other engine OpenVINO has to be: a difference that noise makes must not choose."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The least seconds that each engine took for the same texts."""

    openvino: float
    reference: float
    tokens: int
    """Of each text."""
    reference_name: str = "torch"

    @property
    def prefers_openvino(self) -> bool:
        """Whether OpenVINO is the faster one, beyond noise."""
        return self.openvino * MARGIN < self.reference

    @property
    def note(self) -> str:
        """A sentence on the choice."""
        other = self.reference_name
        times = f"OpenVINO {self.openvino * 1000:.1f} ms, {other} {self.reference * 1000:.1f} ms"
        chosen = "OpenVINO" if self.prefers_openvino else other
        return f"a probe on this machine chose {chosen}: {TEXTS} texts of {self.tokens} tokens took {times}"


def time_engines(openvino: Engine, reference: Engine, max_tokens: int) -> Probe:
    """Run both engines in turns, so that whatever else the machine does falls on both."""
    tokens = min(TOKENS, max_tokens)
    batch = Batch(np.full((TEXTS, tokens), TOKEN, np.int64), np.ones((TEXTS, tokens), np.int64))
    # The first turn warms both up.
    seconds = _turn(openvino, reference, batch)
    end = time.perf_counter() + SECONDS
    for _ in range(ROUNDS):
        again = _turn(openvino, reference, batch)
        seconds = min(seconds[0], again[0]), min(seconds[1], again[1])
        if time.perf_counter() > end:
            break
    return Probe(*seconds, tokens)


def _turn(openvino: Engine, reference: Engine, batch: Batch) -> tuple[float, float]:
    start = time.perf_counter()
    openvino(batch)
    middle = time.perf_counter()
    reference(batch)
    return middle - start, time.perf_counter() - middle


def load_probe(memo: Memo, weights: Mapping[str, str]) -> Probe | None:
    """Return the probe that was made of these weights on this machine with these library versions."""
    fact = memo.recall(_key(weights))
    return Probe(**fact) if fact else None


def store_probe(memo: Memo, weights: Mapping[str, str], probe: Probe) -> None:
    """Store a probe."""
    memo.remember(_key(weights), asdict(probe))


def _key(weights: Mapping[str, str]) -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = machine.library_versions()
    return {"what": "seconds of both engines", "cpu": machine.cpu_model(), "cores": str(cores), **versions, **weights}
