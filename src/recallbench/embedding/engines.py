"""The loaded weights of an encoder: on OpenVINO where that is proven equal for every one of them, else on torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from recallbench.embedding.backend import OPENVINO, absence, choose_backend, failure_note
from recallbench.embedding.embedder import Backend, ProofStatus
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engine import Clock, Engine, Row, device_found
from recallbench.embedding.forward import OpenvinoUnusable
from recallbench.embedding.identity import Identity
from recallbench.embedding.memo import Memo
from recallbench.embedding.proof import Proof, Proofs
from recallbench.embedding.sample import TEXTS
from recallbench.embedding.weights import Shelf
from recallbench.progress import Progress

Read = Callable[[Sequence[str], Role], list[Row]]


class Engines:
    """Loads what is asked for, and settles on a backend while doing so."""

    def __init__(
        self, spec: EncoderSpec, shelf: Shelf, memo: Memo, asked: Backend, environ: Mapping[str, str], clock: Clock
    ) -> None:
        self.identity = Identity(spec, shelf)
        self.notes: list[str] = []
        """What the user should know about the choice."""
        self.status: ProofStatus = "not needed"
        self._spec = spec
        self._shelf = shelf
        self._memo = memo
        self._proofs = Proofs(memo)
        self._asked: Backend = asked
        self._environ = environ
        self._clock = clock
        self._progress: Progress = shelf.progress
        self._loaded: dict[Role, Engine] = {}
        self._proven: dict[Role, Proof] = {}
        # Twins are two sets of weights; otherwise the passage side stands for both.
        self._sides: tuple[Role, ...] = ("passage",) if spec.query == spec.passage else ("passage", "query")
        self.backend = self._choose()

    @property
    def worst_cosine(self) -> float | None:
        """The lowest cosine that a comparison met."""
        return min((p.worst_cosine for p in self._proven.values() if p.worst_cosine is not None), default=None)

    @property
    def proof_texts(self) -> int:
        """On how many texts each set of weights was compared."""
        return min((proof.texts for proof in self._proven.values()), default=0)

    def lacks_proof(self) -> bool:
        """Whether embedding would have to be proven first, on texts that are to be collected until then."""
        return self.backend == OPENVINO and any(
            proof is None or not proof.equal or proof.texts < TEXTS for proof in map(self._known, self._sides)
        )

    def ready(self, role: Role, texts: Sequence[str], read: Read) -> Engine:
        """The engine of this role. `texts` are those to prove on, if need be, and `read` gives their ids.

        Afterwards `backend` may be another one than before.
        """
        self._settle_device()
        # Twins are both proven before either embeds: a run can't go on with passages of one backend alone.
        for side in self._sides:
            if self.backend == OPENVINO:
                self._prove(side, texts, read)
        side = role if role in self._sides else "passage"
        try:
            engine = self._load(side)
        except OpenvinoUnusable as error:
            self._settle(side, Proof(False, None, 0, error.found))
            engine = self._load(side)
        self._release(side)
        return engine

    def close(self) -> None:
        """Let go of the weights."""
        self._loaded.clear()

    def _prove(self, side: Role, texts: Sequence[str], read: Read) -> None:
        proof = self._known(side)
        # A proof on fewer texts than are at hand now is made again.
        if proof and proof.equal and proof.texts >= len(texts):
            self._proven[side] = proof
            if self.status == "not needed":
                self.status = "cached"
            return
        rows = sorted(read(texts, side), key=len, reverse=True)
        try:
            engine = self._load(side)
            with self._progress.stage("proving OpenVINO equal to torch", len(rows), "texts") as advance:
                proof = engine.prove(rows, advance)
        except OpenvinoUnusable as error:
            proof = Proof(False, None, 0, error.found)
        self._settle(side, proof)
        self._release(side)

    def _known(self, side: Role) -> Proof | None:
        return self._proven.get(side) or self._proofs.recall(self.identity.of_module(side))

    def _release(self, side: Role) -> None:
        if side in self._loaded and side in self._proven and self._proven[side].texts >= TEXTS:
            self._loaded[side].release()

    def _settle(self, side: Role, proof: Proof) -> None:
        """Remember the proof, a failed one too, and what follows from it."""
        self._proofs.keep(self.identity.of_module(side), proof)
        self._proven[side] = proof
        self.status = "equal" if proof.equal else "failed"
        if not proof.equal:
            self._switch("torch/cpu", failure_note(proof))

    def _settle_device(self) -> None:
        device = self.backend.partition("/")[2]
        if device_found(device) != device:
            self._memo.keep(absence(device), {"found": False})
            self._switch(self._choose(), f"torch finds no {device} device: the CPU was used")

    def _switch(self, backend: str, note: str) -> None:
        self.notes.append(note)
        self._progress.note(note)
        self.backend = backend
        self._loaded.clear()

    def _choose(self) -> str:
        modules = [self.identity.of_module(side) for side in self._sides]
        backend, note = choose_backend(self._asked, self._environ, self._memo, modules)
        if note:
            self.notes.append(note)
        return backend

    def _load(self, side: Role) -> Engine:
        if side not in self._loaded:
            weights = self._spec.weights(side)
            paths = self._shelf.verified(weights)
            self._progress.note(f"loading {weights.repo} for {self.backend}")
            self._loaded[side] = Engine(self._spec, weights, paths, self.backend, self._clock)
        return self._loaded[side]
