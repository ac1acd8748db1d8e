"""The choice of the engine: OpenVINO on a CPU where a probe finds it faster and it proves to give the same vectors.

What it is held to is torch, or onnxruntime for a graph."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engine_probe import Probe, load_probe, store_probe, time_engines
from recallbench.embedding.fingerprint import engine_facts
from recallbench.embedding.loaded_weights import GraphWeights, LoadedWeights, kind_of_weights, load_weights
from recallbench.embedding.memo import Memo
from recallbench.embedding.openvino_engine import OpenvinoUnusable
from recallbench.embedding.options import Backend
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.embedding.tokens import TokenIds
from recallbench.embedding.torch_engine import Batch, Engine, available_device, pad_batch
from recallbench.embedding.vector_agreement import Difference, vector_difference
from recallbench.embedding.weights import FileResolver
from recallbench.errors import Blocked
from recallbench.extras import install_command
from recallbench.progress import Advance

OPENVINO = "openvino/cpu"
GRAPHS = GraphWeights.reference_name
PROOF_TEXTS = 32
"""Texts that a proof is made on, where the corpus has as many."""

TokeniseTexts = Callable[[Sequence[str], Role], Sequence[TokenIds]]


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of running OpenVINO and the other engine over the same texts."""

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
    """The engines of one encoder, a pair for twins, all of one backend."""

    def __init__(
        self,
        spec: EncoderSpec,
        hashes: Mapping[str, str],
        resolver: FileResolver,
        memo: Memo,
        backend: Backend,
        environ: Mapping[str, str],
        stopwatch: Stopwatch,
    ) -> None:
        self.notes: list[str] = []
        """Sentences about the choice, for the user."""
        self._spec, self._hashes = spec, hashes
        self._resolver = resolver
        self._memo = memo
        self._preference: Backend = backend
        self._environ = environ
        self._stopwatch = stopwatch
        self._progress = resolver.progress
        self._engines: dict[Role, tuple[Engine, int]] = {}
        """Each with the token id that fills a batch up."""
        self._loaded: dict[Role, LoadedWeights] = {}
        """What was loaded for the probe, until the proof is made."""
        self._proofs: dict[Role, Proof] = {}
        """The proofs that this run relies on."""
        self._proven_now = False
        self._reference = kind_of_weights(spec).reference_name
        # Twins are two sets of weights; otherwise the passage side stands for both.
        self._sides: tuple[Role, ...] = ("passage", "query") if "query" in spec.parts() else ("passage",)
        self.backend = self._choose()

    @property
    def proof_status(self) -> ProofStatus:
        """Whether OpenVINO was compared with the other engine: in this run, in an earlier one, or not at all."""
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
        runtime, _, device = self.backend.partition("/")
        if runtime != GRAPHS and self._reference != GRAPHS and available_device(device) != device:
            self._memo.remember(missing_device_key(device), {"found": False})
            self._switch(self._choose(), f"torch finds no {device} device: the CPU was used")
        # Twins are both proven before either embeds: a run can't go on with passages of one backend alone.
        for side in self._sides:
            if self._is_proof_due(side, len(texts)):
                self._prove(side, sorted(tokenise(texts, side), key=len, reverse=True))
            elif self.backend == OPENVINO and (proof := self._known_proof(side)):
                self._proofs[side] = proof
        self._loaded.clear()
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
        self._loaded.clear()

    def _choose(self) -> str:
        weights = [self._facts(side) for side in self._sides]
        if self._spec.one_engine:
            return f"{self._reference}/cpu"
        backend, note = choose_backend(self._preference, self._environ, self._memo, weights, self._reference)
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
                return f"{self._reference}/cpu", failure_note(proof, self._reference)
            store_probe(self._memo, weights, probe)
        return (OPENVINO if probe.prefers_openvino else f"{self._reference}/cpu"), probe.note

    def _probe(self) -> Probe:
        side = self._sides[0]
        weights = self._load_weights(side, "a probe of both engines")
        with self._stopwatch.part("compile"):
            openvino = weights.openvino()
        reference = weights.reference()
        with self._stopwatch.part("probe"):
            probe = time_engines(openvino, reference, self._spec.max_tokens)
        probe = replace(probe, reference_name=self._reference)
        self._engines[side] = openvino if probe.prefers_openvino else reference, weights.pad_id
        self._loaded[side] = weights
        return probe

    def _facts(self, side: Role) -> dict[str, str]:
        facts = engine_facts(self._spec, self._hashes, side)
        return facts if self._reference != GRAPHS else {**facts, GRAPHS: machine.version_of(GRAPHS)}

    def _side(self, role: Role) -> Role:
        return role if role in self._sides else "passage"

    def _switch(self, backend: str, note: str) -> None:
        self.notes.append(note)
        self._progress.note(note)
        self.backend = backend
        self._engines.clear()

    def _known_proof(self, side: Role) -> Proof | None:
        return self._proofs.get(side) or load_proof(self._memo, self._facts(side))

    def _is_proof_due(self, side: Role, texts: int) -> bool:
        """A proof on fewer texts than are at hand now is made again."""
        if self.backend != OPENVINO:
            return False
        proof = self._known_proof(side)
        return proof is None or not proof.equal or proof.texts < texts

    def _prove(self, side: Role, rows: Sequence[TokenIds]) -> None:
        size = self._spec.batch_size
        try:
            weights = self._loaded.get(side)
            if weights is None or side not in self._engines:
                weights = self._load(side)
            engine, pad_id = self._engines[side]
            batches = [pad_batch(rows[start : start + size], pad_id) for start in range(0, len(rows), size)]
            with (
                self._progress.stage(f"proving OpenVINO equal to {self._reference}", len(rows), "texts") as advance,
                self._stopwatch.part("proof"),
            ):
                proof = compare_engines(engine, weights.reference(), batches, advance)
        except OpenvinoUnusable as error:
            proof = Proof(False, None, 0, error.found)
        store_proof(self._memo, self._facts(side), proof)
        self._proofs[side] = proof
        self._proven_now = True
        if not proof.equal:
            self._switch(f"{self._reference}/cpu", failure_note(proof, self._reference))

    def _load(self, side: Role) -> LoadedWeights:
        """Load the weights of one side into its engine, and return them."""
        weights = self._load_weights(side, self.backend)
        runtime, _, device = self.backend.partition("/")
        with self._stopwatch.part("compile" if runtime == "openvino" else "load"):
            engine = weights.openvino() if runtime == "openvino" else weights.reference(device)
        self._engines[side] = engine, weights.pad_id
        return weights

    def _load_weights(self, side: Role, purpose: str) -> LoadedWeights:
        files = self._spec.weights(side)
        paths = self._resolver.verified_paths(files)
        self._progress.note(f"loading {files.repo} for {purpose}")
        with self._stopwatch.part("load"):
            return load_weights(self._spec, files, paths)


def choose_backend(
    preference: Backend,
    environ: Mapping[str, str],
    memo: Memo,
    weights: Sequence[Mapping[str, str]],
    reference: str = "torch",
) -> tuple[str, str]:
    """Choose a backend, with a note where the user should know why. `weights` has the facts of each set of weights,
    `reference` is the engine beside OpenVINO.

    Where that is OpenVINO, and nobody asked for it, it is one to try: a probe has the last word.
    """
    versions = machine.library_versions()
    if preference == "openvino" and not versions["openvino"]:
        raise Blocked("OpenVINO is not installed", remedy=f"{install_command('embed')}, or --backend {reference}")
    device = machine.likely_device(environ) if reference != GRAPHS else "cpu"
    if device != "cpu" and memo.recall(missing_device_key(device)):
        device = "cpu"
    if preference == reference or (preference == "auto" and device != "cpu"):
        return f"{reference}/{device}", ""
    if not versions["openvino"]:
        return f"{reference}/cpu", ""
    proofs = [load_proof(memo, facts) for facts in weights]
    failed = [proof for proof in proofs if proof and not proof.equal]
    return (f"{reference}/cpu", failure_note(failed[0], reference)) if failed else (OPENVINO, "")


def failure_note(proof: Proof, reference: str = "torch") -> str:
    """Return a sentence on a failed proof."""
    if proof.worst_cosine is None:
        return f"OpenVINO can't run this encoder on this machine ({proof.fault}): {reference} was used"
    worst = f"worst cosine {proof.worst_cosine:.7f}"
    return f"OpenVINO does not give {reference}'s vectors on this machine ({worst}): {reference} was used"


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
