"""The proof: whatever else than the plain engine runs an encoder has to give its vectors, on texts of the corpus."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from recallbench.embedding import machine
from recallbench.embedding.engines.probe import cores
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.memo import Memo
from recallbench.embedding.torch_engine import Batch, Engine
from recallbench.embedding.vector_agreement import Difference, vector_difference
from recallbench.progress import Advance

OPENVINO = "openvino/cpu"
NEAR = 0.9
"""Cosine below which fewer bits give no vectors of the encoder at all."""
PROOF_TEXTS = 32
"""Texts that a proof is made on, where the corpus has as many."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of running two engines over the same texts."""

    equal: bool
    worst_cosine: float | None
    """None where nothing could be compared."""
    texts: int
    fault: str = ""
    """Why the engine could not even run."""
    measured: bool = False
    """Whether it was measured how far fewer bits are from all, which then is no fault."""
    speedup: float | None = None
    """How many times as fast fewer bits were."""


class ProofTexts:
    """Up to 32 of the distinct texts of a corpus, spread over their lengths, both ends included."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, str]] = []

    def offer(self, text: str) -> None:
        """Add a text; above 32 the one that adds least to the spread of lengths is dropped."""
        entries, entry = self._entries, (len(text), text)
        place = bisect_left(entries, entry)
        if entries[place : place + 1] == [entry]:
            return
        if len(entries) == PROOF_TEXTS and any(
            other[0] == entry[0] for other in entries[max(place - 1, 0) : place + 1]
        ):
            return  # of a length that is there already: it spreads nothing
        entries.insert(place, entry)
        if len(entries) > PROOF_TEXTS:
            # The text whose neighbours are closest to each other leaves the smallest gap.
            del entries[min(range(1, PROOF_TEXTS), key=lambda at: entries[at + 1][0] - entries[at - 1][0])]

    def texts(self) -> list[str]:
        """Return the chosen texts, the shortest first."""
        return [text for _, text in self._entries]


def engine_name(backend: str) -> str:
    """Return what runs a backend, for whoever reads of it."""
    runtime, _, device = backend.partition("/")
    return "OpenVINO" if backend == OPENVINO else f"{runtime} on {device}"


def agreement_note(proof: Proof, dtype: str, backend: str) -> str:
    """Return a sentence on vectors that were computed in fewer bits."""
    texts = "1 text" if proof.texts == 1 else f"{proof.texts} texts"
    return (
        f"{dtype} departs from fp32: a cosine of {proof.worst_cosine:.6f} at worst on {texts}, "
        f"{proof.speedup:.2f} times as fast as there ({engine_name(backend)})"
    )


def failure_note(proof: Proof, reference: str = "torch", backend: str = OPENVINO) -> str:
    """Return a sentence on a failed proof."""
    engine, instead = engine_name(backend), reference if backend == OPENVINO else "the CPU"
    if proof.worst_cosine is None:
        return f"{engine} can't run this encoder on this machine ({proof.fault}): {instead} was used"
    worst = f"worst cosine {proof.worst_cosine:.7f}"
    return f"{engine} does not give {reference}'s vectors on this machine ({worst}): {instead} was used"


def compare_engines(
    fast: Engine,
    reference: Engine,
    batches: Sequence[Batch],
    advance: Advance = lambda done: None,
    *,
    measured: bool = False,
) -> Proof:
    """Run both engines over the same batches; without any text they are not equal."""
    cosine, length, texts, seconds = 1.0, 0.0, 0, [0.0, 0.0]
    for batch in batches:
        start = time.perf_counter()
        vectors = fast(batch)
        middle = time.perf_counter()
        expected = reference(batch)
        seconds = [seconds[0] + middle - start, seconds[1] + time.perf_counter() - middle]
        difference = vector_difference(vectors, expected)
        cosine, length = min(cosine, difference.cosine), max(length, difference.length)
        texts += len(vectors)
        advance(len(vectors))
    if not texts:
        return Proof(False, None, 0, "there is no text to compare it on")
    proof = Proof(Difference(cosine, length).tolerable, cosine, texts)
    # The shortest texts came last, and have warmed up nothing that the longest would need.
    return replace(proof, measured=True, equal=cosine >= NEAR, speedup=seconds[1] / seconds[0]) if measured else proof


def load_proof(
    memo: Memo, weights: Mapping[str, str], backend: str = OPENVINO, setting: Setting | None = None
) -> Proof | None:
    """Return the proof that was made for these weights on this machine with these library versions: of this setting,
    or without one that of any that failed."""
    fact = memo.recall(_proof_key(weights, backend, setting))
    return Proof(**fact) if fact else None


def store_proof(
    memo: Memo, weights: Mapping[str, str], proof: Proof, backend: str = OPENVINO, setting: Setting | None = None
) -> None:
    """Store a proof; what failed with one setting counts as failed with all."""
    memo.remember(_proof_key(weights, backend, setting if proof.equal else None), asdict(proof))


def _proof_key(weights: Mapping[str, str], backend: str, setting: Setting | None) -> dict[str, str]:
    what = {
        "what": f"{backend}, piece after piece, equals the plain engine",
        "cpu": machine.cpu_model(),
        "cores": str(cores()),
    }
    given = {} if setting is None else {"setting": setting.words}
    return {**what, **given, **machine.library_versions(), **weights}
