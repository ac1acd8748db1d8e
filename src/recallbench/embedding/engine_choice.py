"""The choice of the engine: OpenVINO on a CPU where a probe finds it faster and it proves to give torch's vectors."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engine_probe import Probe, load_probe, store_probe, time_engines
from recallbench.embedding.fingerprint import engine_facts, file_hashes
from recallbench.embedding.memo import Memo
from recallbench.embedding.openvino_engine import OpenvinoEngine, OpenvinoUnusable
from recallbench.embedding.options import Backend
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.embedding.tokens import TokenIds
from recallbench.embedding.torch_engine import Batch, Engine, TorchEngine, available_device, load_module, pad_batch
from recallbench.embedding.vector_agreement import Difference, vector_difference
from recallbench.embedding.weights import FileResolver
from recallbench.errors import Blocked
from recallbench.extras import install_command
from recallbench.progress import Advance

if TYPE_CHECKING:
    import torch

OPENVINO = "openvino/cpu"
TORCH = "torch/cpu"
PROOF_TEXTS = 32
"""Texts that a proof is made on, where the corpus has as many."""

TokeniseTexts = Callable[[Sequence[str], Role], Sequence[TokenIds]]


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of running OpenVINO and torch over the same texts."""

    equal: bool
    worst_cosine: float | None
    """None where nothing could be compared."""
    texts: int
    fault: str = ""
    """Why OpenVINO could not even run."""


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


class EngineChoice:
    """The engines of one encoder, a pair for twins, all of one backend. Making one may download the small files."""

    def __init__(
        self,
        spec: EncoderSpec,
        resolver: FileResolver,
        memo: Memo,
        backend: Backend,
        environ: Mapping[str, str],
        stopwatch: Stopwatch,
    ) -> None:
        self.hashes = file_hashes(spec, resolver)
        """The sha256 of every file, by `part/file`."""
        self.notes: list[str] = []
        """Sentences about the choice, for the user."""
        self._spec = spec
        self._resolver = resolver
        self._memo = memo
        self._preference: Backend = backend
        self._environ = environ
        self._stopwatch = stopwatch
        self._progress = resolver.progress
        self._engines: dict[Role, tuple[Engine, int]] = {}
        """Each with the token id that fills a batch up."""
        self._modules: dict[Role, torch.nn.Module] = {}
        """What was loaded for the probe, until the proof is made."""
        self._proofs: dict[Role, Proof] = {}
        """The proofs that this run relies on."""
        self._proven_now = False
        # Twins are two sets of weights; otherwise the passage side stands for both.
        self._sides: tuple[Role, ...] = ("passage", "query") if "query" in spec.parts() else ("passage",)
        self.backend = self._choose()

    @property
    def proof_status(self) -> ProofStatus:
        """Whether OpenVINO was compared with torch: in this run, in an earlier one, or not at all."""
        if not self._proofs:
            return "not needed"
        if not all(proof.equal for proof in self._proofs.values()):
            return "failed"
        return "equal" if self._proven_now else "cached"

    @property
    def worst_cosine(self) -> float | None:
        """The lowest cosine that a comparison met."""
        return min((p.worst_cosine for p in self._proofs.values() if p.worst_cosine is not None), default=None)

    @property
    def proof_texts(self) -> int:
        """The number of texts on which each set of weights was compared."""
        return min((proof.texts for proof in self._proofs.values()), default=0)

    def needs_texts(self) -> bool:
        """Whether a proof would be made on the texts of the corpus, which are to be collected until then."""
        return any(self._is_proof_due(side, PROOF_TEXTS) for side in self._sides)

    def prepare(self, role: Role, texts: Sequence[str], tokenise: TokeniseTexts) -> None:
        """Load the engine of this role, once the proofs that are due were made on these texts.

        Afterwards `backend` may be another one than before.
        """
        device = self.backend.partition("/")[2]
        if available_device(device) != device:
            self._memo.remember(missing_device_key(device), {"found": False})
            self._switch(self._choose(), f"torch finds no {device} device: the CPU was used")
        # Twins are both proven before either embeds: a run can't go on with passages of one backend alone.
        for side in self._sides:
            if self._is_proof_due(side, len(texts)):
                self._prove(side, sorted(tokenise(texts, side), key=len, reverse=True))
            elif self.backend == OPENVINO and (proof := self._known_proof(side)):
                self._proofs[side] = proof
        self._modules.clear()
        if self._side(role) not in self._engines:
            self._load(self._side(role))

    def embed(self, rows: Sequence[TokenIds], role: Role) -> Matrix:
        """Return the stored vectors of one batch of token ids: the encoder's own, padded with zeros."""
        engine, pad_id = self._engines[self._side(role)]
        native = engine(pad_batch(rows, pad_id))
        if self._spec.stored_dims == self._spec.native_dims:
            return native
        stored = np.zeros((len(native), self._spec.stored_dims), np.float32)
        stored[:, : self._spec.native_dims] = native
        return stored

    def close(self) -> None:
        """Release the weights."""
        self._engines.clear()
        self._modules.clear()

    def _choose(self) -> str:
        weights = [engine_facts(self._spec, self.hashes, side) for side in self._sides]
        backend, note = choose_backend(self._preference, self._environ, self._memo, weights)
        if backend == OPENVINO and self._preference == "auto":
            backend, note = self._probed(weights[0])
        if note:
            self.notes.append(note)
        return backend

    def _probed(self, weights: Mapping[str, str]) -> tuple[str, str]:
        """Return the faster backend of the processor, by a probe of the first weights, and a note."""
        probe = load_probe(self._memo, weights)
        if probe is None:
            try:
                probe = self._probe()
            except OpenvinoUnusable as error:
                proof = Proof(False, None, 0, error.found)
                store_proof(self._memo, weights, proof)
                return TORCH, failure_note(proof)
            store_probe(self._memo, weights, probe)
        return (OPENVINO if probe.prefers_openvino else TORCH), probe.note

    def _probe(self) -> Probe:
        side = self._sides[0]
        module = self._load_module(side, "a probe of both engines")
        with self._stopwatch.part("compile"):
            openvino = OpenvinoEngine(module)
        reference = TorchEngine(module)
        with self._stopwatch.part("probe"):
            probe = time_engines(openvino, reference, self._spec.max_tokens)
        self._engines[side] = openvino if probe.prefers_openvino else reference, module.pad_id
        self._modules[side] = module
        return probe

    def _side(self, role: Role) -> Role:
        return role if role in self._sides else "passage"

    def _switch(self, backend: str, note: str) -> None:
        self.notes.append(note)
        self._progress.note(note)
        self.backend = backend
        self._engines.clear()

    def _known_proof(self, side: Role) -> Proof | None:
        return self._proofs.get(side) or load_proof(self._memo, engine_facts(self._spec, self.hashes, side))

    def _is_proof_due(self, side: Role, texts: int) -> bool:
        """A proof on fewer texts than are at hand now is made again."""
        if self.backend != OPENVINO:
            return False
        proof = self._known_proof(side)
        return proof is None or not proof.equal or proof.texts < texts

    def _prove(self, side: Role, rows: Sequence[TokenIds]) -> None:
        size = self._spec.batch_size
        try:
            module = self._modules.get(side)
            if module is None or side not in self._engines:
                module = self._load(side)
            engine, pad_id = self._engines[side]
            batches = [pad_batch(rows[start : start + size], pad_id) for start in range(0, len(rows), size)]
            with (
                self._progress.stage("proving OpenVINO equal to torch", len(rows), "texts") as advance,
                self._stopwatch.part("proof"),
            ):
                proof = compare_engines(engine, TorchEngine(module), batches, advance)
        except OpenvinoUnusable as error:
            proof = Proof(False, None, 0, error.found)
        store_proof(self._memo, engine_facts(self._spec, self.hashes, side), proof)
        self._proofs[side] = proof
        self._proven_now = True
        if not proof.equal:
            self._switch(TORCH, failure_note(proof))

    def _load(self, side: Role) -> torch.nn.Module:
        """Load the weights of one side into its engine, and return the torch module behind it."""
        module = self._load_module(side, self.backend)
        runtime, _, device = self.backend.partition("/")
        with self._stopwatch.part("compile" if runtime == "openvino" else "load"):
            engine = OpenvinoEngine(module) if runtime == "openvino" else TorchEngine(module, device)
        self._engines[side] = engine, module.pad_id
        return module

    def _load_module(self, side: Role, purpose: str) -> torch.nn.Module:
        files = self._spec.weights(side)
        paths = self._resolver.verified_paths(files)
        self._progress.note(f"loading {files.repo} for {purpose}")
        with self._stopwatch.part("load"):
            return load_module(self._spec, files, paths)


def choose_backend(
    preference: Backend, environ: Mapping[str, str], memo: Memo, weights: Sequence[Mapping[str, str]]
) -> tuple[str, str]:
    """Choose a backend, with a note where the user should know why. `weights` has the facts of each set of weights.

    Where that is OpenVINO, and nobody asked for it, it is one to try: a probe has the last word.
    """
    versions = machine.library_versions()
    if preference == "openvino" and not versions["openvino"]:
        raise Blocked("OpenVINO is not installed", remedy=f"{install_command('embed')}, or --backend torch")
    device = machine.likely_device(environ)
    if device != "cpu" and memo.recall(missing_device_key(device)):
        device = "cpu"
    if preference == "torch" or (preference == "auto" and device != "cpu"):
        return f"torch/{device}", ""
    if not versions["openvino"]:
        return TORCH, ""
    proofs = [load_proof(memo, facts) for facts in weights]
    failed = [proof for proof in proofs if proof and not proof.equal]
    return (TORCH, failure_note(failed[0])) if failed else (OPENVINO, "")


def failure_note(proof: Proof) -> str:
    """Return a sentence on a failed proof."""
    if proof.worst_cosine is None:
        return f"OpenVINO can't run this encoder on this machine ({proof.fault}): torch was used"
    worst = f"worst cosine {proof.worst_cosine:.7f}"
    return f"OpenVINO does not give torch's vectors on this machine ({worst}): torch was used"


def compare_engines(
    fast: Engine, reference: Engine, batches: Sequence[Batch], advance: Advance = lambda done: None
) -> Proof:
    """Run both engines over the same batches."""
    cosine, length, texts = 1.0, 0.0, 0
    for batch in batches:
        vectors = fast(batch)
        difference = vector_difference(vectors, reference(batch))
        cosine, length = min(cosine, difference.cosine), max(length, difference.length)
        texts += len(vectors)
        advance(len(vectors))
    return Proof(Difference(cosine, length).tolerable, cosine, texts)


def load_proof(memo: Memo, weights: Mapping[str, str]) -> Proof | None:
    """Return the proof that was made for these weights on this processor with these library versions."""
    fact = memo.recall(_proof_key(weights))
    return Proof(**fact) if fact else None


def store_proof(memo: Memo, weights: Mapping[str, str], proof: Proof) -> None:
    """Store a proof, a failed one too."""
    memo.remember(_proof_key(weights), asdict(proof))


def _proof_key(weights: Mapping[str, str]) -> dict[str, str]:
    return {"what": "openvino equals torch", "cpu": machine.cpu_model(), **machine.library_versions(), **weights}


def missing_device_key(device: str) -> dict[str, str]:
    """Return the memo's key for a device that torch turned out not to have."""
    return {"what": "torch finds no such device", "device": device, "torch": machine.library_versions()["torch"]}
