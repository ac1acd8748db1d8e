"""The probe: engines and settings run the same texts for a moment, and the fastest on this machine is taken."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.memo import Memo
from recallbench.embedding.torch_engine import Batch, Engine

TEXTS = 8
"""Texts of full length that a probe runs."""
FEWEST, SLOW_TOKENS = 2, 128
"""Texts, and tokens of each, where an encoder is slow."""
TOKEN = 5
"""A token id that every vocabulary has: which it is takes no time."""
ROUNDS, SECONDS = 9, 0.5
"""Turns of two after the first; fewer where they take longer than that together."""
AT_MOST = 5.0
"""Seconds after which no further setting is tried: the machine is busy, or the encoder large."""
QUICK = 0.25
"""Seconds of a text of full length: an encoder that takes longer is slow."""
MARGIN = 1.1
"""How many times as fast as the other engine OpenVINO has to be: a difference that noise makes must not choose."""
SETTING_MARGIN = 1.03
"""The same for a setting and the one before it, which gives the same vectors."""
PROBED = "a probe on this machine chose"
"""How a sentence on a probe begins."""


class Timed(NamedTuple):
    """The setting that an engine is fastest with, and the least seconds that it took."""

    setting: Setting
    seconds: float


@dataclass(frozen=True, slots=True)
class Probe:
    """What the engines took for the same texts."""

    texts: int
    tokens: int
    """Of each text."""
    openvino: Timed | None
    """None where it was not asked for."""
    reference: Timed | None
    reference_name: str = "torch"

    @property
    def prefers_openvino(self) -> bool:
        """Whether OpenVINO is the faster one, beyond noise."""
        if self.openvino is None or self.reference is None:
            return self.openvino is not None
        return self.openvino.seconds * MARGIN < self.reference.seconds

    @property
    def setting(self) -> Setting:
        """What the engine that is taken runs with."""
        timed = self.openvino if self.prefers_openvino else self.reference
        assert timed is not None
        return timed.setting

    @property
    def note(self) -> str:
        """A sentence on the choice; where one engine was asked for by name, on its setting."""
        other = self.reference_name
        if self.openvino is None or self.reference is None:
            return f"{PROBED} {self.setting.words} for {'OpenVINO' if self.prefers_openvino else other}"
        times = f"OpenVINO {self.openvino.seconds * 1000:.1f} ms, {other} {self.reference.seconds * 1000:.1f} ms"
        chosen = "OpenVINO" if self.prefers_openvino else other
        return f"{PROBED} {chosen}, {self.setting.words}: {self.texts} texts of {self.tokens} tokens took {times}"


class Runner(NamedTuple):
    """An engine with the setting that it was opened with."""

    setting: Setting
    engine: Engine


Opening = Callable[[Setting], Engine]


def choose_setting(open_engine: Opening, settings: Sequence[Setting], window: int, *, fixed: bool) -> Runner:
    """Return the fastest setting of one engine, with the engine; at most two are open at any time.

    With `fixed` a graph for full windows is tried too, which takes the memory of a second one: of small encoders alone.
    """
    best = Runner(settings[0], open_engine(settings[0]))
    if len(settings) == 1 and not fixed:
        return best
    end = time.perf_counter() + AT_MOST
    batch = workload(best.engine, window)
    for setting in settings[1:]:
        if time.perf_counter() < end:
            best = _faster(best, Runner(setting, open_engine(setting)), batch)
    if fixed and len(batch.ids) == TEXTS and time.perf_counter() < end:
        setting = best.setting._replace(fixed=True)
        best = _faster(best, Runner(setting, open_engine(setting)), batch)
    return best


def _faster(best: Runner, challenger: Runner, batch: Batch) -> Runner:
    seconds = time_engines(best.engine, challenger.engine, batch)
    return challenger if seconds[1] * SETTING_MARGIN < seconds[0] else best


def compare(openvino: Runner, reference: Runner, window: int, reference_name: str) -> Probe:
    """Return what two engines took, each with its own setting."""
    batch = workload(openvino.engine, window)
    seconds = time_engines(openvino.engine, reference.engine, batch)
    timed = Timed(openvino.setting, seconds[0]), Timed(reference.setting, seconds[1])
    texts, tokens = batch.ids.shape
    return Probe(texts, tokens, timed[0], timed[1], reference_name)


def workload(engine: Engine, window: int) -> Batch:
    """Return what is run: a batch of full length, or where that is slow two texts that are shorter."""
    one = _batch(1, window)
    seconds = min(_seconds(engine, one) for _ in range(3))
    return _batch(TEXTS, window) if seconds < QUICK else _batch(FEWEST, min(SLOW_TOKENS, window))


def _batch(texts: int, tokens: int) -> Batch:
    return Batch(np.full((texts, tokens), TOKEN, np.int64), np.ones((texts, tokens), np.int64))


def time_engines(one: Engine, other: Engine, batch: Batch) -> tuple[float, float]:
    """Return the least seconds of each, run in turns, so that whatever else the machine does falls on both."""
    # The first turn warms both up.
    seconds = _seconds(one, batch), _seconds(other, batch)
    end = time.perf_counter() + SECONDS
    for turn in range(ROUNDS):
        again = _seconds(one, batch), _seconds(other, batch)
        seconds = again if turn == 0 else (min(seconds[0], again[0]), min(seconds[1], again[1]))
        if time.perf_counter() > end:
            break
    return seconds


def _seconds(engine: Engine, batch: Batch) -> float:
    start = time.perf_counter()
    engine(batch)
    return time.perf_counter() - start


def load_probe(memo: Memo, weights: Mapping[str, str], asked: str) -> Probe | None:
    """Return the probe that was made of these weights on this machine with these library versions."""
    fact = memo.recall(_key(weights, asked))
    if fact is None:
        return None
    return Probe(**{**fact, **{name: _timed(fact[name]) for name in ("openvino", "reference")}})


def store_probe(memo: Memo, weights: Mapping[str, str], asked: str, probe: Probe) -> None:
    """Store a probe."""
    memo.remember(_key(weights, asked), asdict(probe))


def _timed(fact: Sequence[object] | None) -> Timed | None:
    return None if fact is None else Timed(Setting(*fact[0]), fact[1])  # type: ignore[misc,arg-type]


def cores() -> int:
    """Return the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _key(weights: Mapping[str, str], asked: str) -> dict[str, str]:
    """`asked` says of which engines."""
    versions = machine.library_versions()
    what = {"what": "seconds that engines take by settings", "asked": asked, "cpu": machine.cpu_model()}
    return {**what, "cores": str(cores()), **versions, **weights}
