"""The choice of the engine and of its setting: the fastest that a probe finds, held to the plain engine by a proof.

The plain engine is torch on the CPU, or onnxruntime for a graph; beside it stand OpenVINO and torch's other devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engines.probe import (
    PROBED,
    Probe,
    Runner,
    Timed,
    choose_setting,
    compare,
    load_probe,
    store_probe,
)
from recallbench.embedding.engines.proof import (
    NEAR,
    OPENVINO,
    PROOF_TEXTS,
    Proof,
    agreement_note,
    compare_engines,
    engine_name,
    failure_note,
    load_proof,
    store_proof,
)
from recallbench.embedding.engines.setting import WHOLE_BATCHES, Setting, settings_to_try
from recallbench.embedding.fingerprint import dtype_of, engine_facts
from recallbench.embedding.loaded_weights import GraphWeights, LoadedWeights, kind_of_weights, load_weights
from recallbench.embedding.memo import Memo
from recallbench.embedding.openvino_engine import OpenvinoUnusable
from recallbench.embedding.options import Backend
from recallbench.embedding.stopwatch import Stopwatch
from recallbench.embedding.tokens import TokenIds
from recallbench.embedding.torch_engine import Engine, EngineUnusable, available_device, pad_batch
from recallbench.embedding.weights import FileResolver
from recallbench.errors import Blocked, RecallBenchError
from recallbench.extras import install_command

GRAPHS = GraphWeights.reference_name

TokeniseTexts = Callable[[Sequence[str], Role], Sequence[TokenIds]]


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
        self._proofs: dict[tuple[Role, str], Proof] = {}
        """The proofs that this run relies on, or fell back after, of each side with each backend."""
        self._proven_now = False
        self._reference = kind_of_weights(spec).reference_name
        self._plain = f"{self._reference}/cpu"
        """The backend that every other one is held to."""
        self._setting: Setting | None = None
        """How texts are given to the engine; None until a probe was made or recalled."""
        # Twins are two sets of weights; otherwise the passage side stands for both.
        self._sides: tuple[Role, ...] = ("passage", "query") if "query" in spec.parts() else ("passage",)
        self.backend = self._choose()

    @property
    def proof_status(self) -> ProofStatus:
        """Whether OpenVINO was compared with the other engine: in this run, in an earlier one, or not at all."""
        proofs = self._telling_proofs
        if not proofs:
            return "not needed"
        if all(proof.measured for proof in proofs):
            return "measured"
        if not all(proof.equal for proof in proofs):
            return "failed"
        return "equal" if self._proven_now else "cached"

    @property
    def worst_cosine(self) -> float | None:
        """The lowest cosine that a comparison met."""
        return min((p.worst_cosine for p in self._telling_proofs if p.worst_cosine is not None), default=None)

    @property
    def proof_texts(self) -> int:
        """The number of texts on which each set of weights was compared."""
        return min((proof.texts for proof in self._telling_proofs), default=0)

    @property
    def _telling_proofs(self) -> list[Proof]:
        """The proofs of the backend that is used; where it has none, those of what was left for it."""
        used = [proof for (_, backend), proof in self._proofs.items() if backend == self.backend]
        return used or list(self._proofs.values())

    def settle(self) -> Setting:
        """Return the setting, found by the probe of this machine where none is known yet."""
        if self._setting is None and self.backend != self._plain:
            self._probe(self.backend)
        return self._setting or WHOLE_BATCHES

    def take(self, setting: Setting) -> None:
        """Use the setting of somebody whose vectors stand beside those of this one; before anything is loaded."""
        self._setting = setting

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
            self._setting = None
            self._switch(self._choose(), f"torch finds no {device} device: the CPU was used")
        # What is fallen back to has to be proven as well.
        proven = ""
        while proven != self.backend:
            proven = self.backend
            self._prove_sides(texts, tokenise)
        self._notes_on_agreement()
        self._loaded.clear()
        if self._side(role) not in self._engines:
            self._load(self._side(role))

    def _prove_sides(self, texts: Sequence[str], tokenise: TokeniseTexts) -> None:
        """Prove both of twins before either embeds: a run can't go on with passages of one backend alone."""
        for side in self._sides:
            if self._is_proof_due(side, len(texts)):
                self._prove(side, sorted(tokenise(texts, side), key=len, reverse=True))
            elif (self.backend != self._plain or self._spec.reduced) and (proof := self._known_proof(side)):
                self._proofs[side, self.backend] = proof

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
            self._setting = WHOLE_BATCHES
            return self._plain
        backend, note = choose_backend(self._preference, self._environ, self._memo, weights, self._reference)
        self._tell(note)
        return self._probed(weights[0]) if backend == OPENVINO and self._preference == "auto" else backend

    def _probed(self, weights: Mapping[str, str]) -> str:
        """Return the faster backend of the processor, by a probe of the first weights."""
        try:
            probe = self._probe("auto")
        except OpenvinoUnusable as error:
            proof = Proof(False, None, 0, error.found)
            store_proof(self._memo, weights, proof)
            self._tell(failure_note(proof, self._reference))
            return self._plain
        return OPENVINO if probe.prefers_openvino else self._plain

    def _probe(self, asked: str) -> Probe:
        """Return the probe of both engines, or of the backend that was asked for alone; made where there is none."""
        side = self._sides[0]
        probe = load_probe(self._memo, self._facts(side), asked)
        if probe is None:
            weights = self._loaded.get(side) or self._load_weights(side, "a probe of what is fastest here")
            with self._stopwatch.part("probe"):
                probe, engine = self._timed(weights, asked)
            store_probe(self._memo, self._facts(side), asked, probe)
            self._engines[side] = engine, weights.pad_id
            self._loaded[side] = weights
        self._setting = probe.setting
        self._tell(probe.note)
        return probe

    def _timed(self, weights: LoadedWeights, asked: str) -> tuple[Probe, Engine]:
        """Return a probe, and the engine that it prefers."""
        window, size = self._spec.max_tokens, self._spec.batch_size
        runners: dict[str, Runner] = {}
        for backend in (OPENVINO, self._plain) if asked == "auto" else (asked,):
            # The plain engine stays as plain as it is.
            settings = [WHOLE_BATCHES] if backend == self._plain else settings_to_try(size)
            fixed = backend == OPENVINO and weights.reshapes
            runners[backend] = choose_setting(partial(_open, weights, backend), settings, window, fixed=fixed)
        if asked == "auto":
            probe = compare(runners[OPENVINO], runners[self._plain], window, self._reference)
            return probe, runners[OPENVINO if probe.prefers_openvino else self._plain].engine
        timed = Timed(runners[asked].setting, 0.0)
        of_openvino, of_reference = (timed, None) if asked == OPENVINO else (None, timed)
        return Probe(0, 0, of_openvino, of_reference, self._reference), runners[asked].engine

    def _facts(self, side: Role) -> dict[str, str]:
        facts = {**engine_facts(self._spec, self._hashes, side), "window": str(self._spec.max_tokens)}
        return facts if self._reference != GRAPHS else {**facts, GRAPHS: machine.version_of(GRAPHS)}

    def _notes_on_agreement(self) -> None:
        """Tell how far fewer bits are from all, in place of what was told of fewer texts."""
        measured = [proof for proof in self._telling_proofs if proof.measured]
        if measured:
            dtype = dtype_of("", {"dtype": self._spec.dtype})
            self.notes = [note for note in self.notes if not note.startswith(f"{dtype} departs")]
            worst = min(measured, key=lambda proof: proof.worst_cosine or 0.0)
            self.notes.append(agreement_note(worst, dtype, self.backend))

    def _side(self, role: Role) -> Role:
        return role if role in self._sides else "passage"

    def _tell(self, note: str) -> None:
        if note and note not in self.notes:
            self.notes.append(note)

    def _switch(self, backend: str, note: str) -> None:
        self._tell(note)
        self._progress.note(note)
        self.backend = backend
        self._proven_now = False
        self._engines.clear()

    def _fall_back(self, note: str) -> None:
        """Leave a backend whose proof failed, for one that has not failed yet."""
        self._setting = None
        self.notes = [note for note in self.notes if not note.startswith(PROBED)]
        chosen = self._plain if self.backend == OPENVINO else self._choose()
        if chosen in {backend for (_, backend), proof in self._proofs.items() if not proof.equal}:
            self._setting, chosen = None, self._plain
        self._switch(chosen, note)

    def _known_proof(self, side: Role) -> Proof | None:
        known, setting = self._proofs.get((side, self.backend)), self._known_setting()
        if known is not None or setting is None:
            return known
        return load_proof(self._memo, self._facts(side), self.backend, setting)

    def _known_setting(self) -> Setting | None:
        """Return the setting, where it needs no probe: a proof with another one says nothing of it."""
        if self._setting is not None or self.backend == self._plain:
            return self._setting or WHOLE_BATCHES
        probe = load_probe(self._memo, self._facts(self._sides[0]), self.backend)
        return None if probe is None else probe.setting

    def _is_proof_due(self, side: Role, texts: int) -> bool:
        """A proof on fewer texts than are at hand now is made again."""
        if self.backend == self._plain and not self._spec.reduced:
            return False
        proof = self._known_proof(side)
        return proof is None or not proof.equal or proof.texts < texts

    def _prove(self, side: Role, rows: Sequence[TokenIds]) -> None:
        size = self._spec.batch_size
        try:
            weights = self._load(side)
            engine, pad_id = self._engines[side]
            batches = [pad_batch(rows[start : start + size], pad_id) for start in range(0, len(rows), size)]
            reduced = self._spec.reduced
            reference = (
                _open(weights.in_full(), self.backend, self._setting or WHOLE_BATCHES)
                if reduced
                else weights.reference()
            )
            stage = f"proving {engine_name(self.backend)} equal to {self._reference}"
            with self._progress.stage(stage, len(rows), "texts") as advance, self._stopwatch.part("proof"):
                proof = compare_engines(engine, reference, batches, advance, measured=reduced)
        except EngineUnusable as error:
            proof = Proof(False, None, 0, error.found)
        if rows:  # without any, nothing was found out about this machine
            store_proof(self._memo, self._facts(side), proof, self.backend, self._setting)
        self._proofs[side, self.backend] = proof
        self._proven_now = True
        if not proof.equal and self.backend == self._plain:
            raise RecallBenchError(
                f"{self._spec.title} can't be computed in {self._spec.dtype} on this machine",
                expected=f"a cosine of at least {NEAR} with its vectors in full",
                found=proof.fault or f"{proof.worst_cosine:.4f} at worst",
                remedy="leave out --dtype",
            )
        if not proof.equal:
            self._fall_back(failure_note(proof, self._reference, self.backend))

    def _load(self, side: Role) -> LoadedWeights:
        """Load the weights of one side into its engine, and return them."""
        weights = self._loaded.get(side) or self._load_weights(side, self.backend)
        if self._setting is None and self.backend == self._plain:
            self._setting = WHOLE_BATCHES
        if self._setting is None:
            self._loaded[side] = weights
            self._probe(self.backend)
        if side not in self._engines:
            with self._stopwatch.part("compile" if self.backend == OPENVINO else "load"):
                self._engines[side] = _open(weights, self.backend, self._setting or WHOLE_BATCHES), weights.pad_id
        return weights

    def _load_weights(self, side: Role, purpose: str) -> LoadedWeights:
        files = self._spec.weights(side)
        paths = self._resolver.verified_paths(files)
        self._progress.note(f"loading {files.repo} for {purpose}")
        with self._stopwatch.part("load"):
            return load_weights(self._spec, files, paths)


def _open(weights: LoadedWeights, backend: str, setting: Setting) -> Engine:
    runtime, _, device = backend.partition("/")
    return weights.openvino(setting) if runtime == "openvino" else weights.reference(device, setting)


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
    plain, note = f"{reference}/cpu", ""
    if device != "cpu" and preference in (reference, "auto"):
        backend = f"{reference}/{device}"
        failed = _failed_proof(memo, weights, backend)
        if failed is None:
            return backend, ""
        note = failure_note(failed, reference, backend)
    if preference == reference or not versions["openvino"]:
        return plain, note
    failed = _failed_proof(memo, weights, OPENVINO)
    return (plain, failure_note(failed, reference)) if failed else (OPENVINO, note)


def _failed_proof(memo: Memo, weights: Sequence[Mapping[str, str]], backend: str) -> Proof | None:
    proofs = [load_proof(memo, facts, backend) for facts in weights]
    return next((proof for proof in proofs if proof and not proof.equal), None)


def missing_device_key(device: str) -> dict[str, str]:
    """Return the memo's key for a device that torch turned out not to have."""
    return {"what": "torch finds no such device", "device": device, "torch": machine.library_versions()["torch"]}
