"""An encoder whose vectors are computed by the workers of a cluster: the same encoder, with the same fingerprint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from recallbench.cluster.connection import RayCluster, open_cluster
from recallbench.cluster.crew import Crew
from recallbench.cluster.engine import Engine
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import Role
from recallbench.embedding.model_encoder import ModelEncoder
from recallbench.embedding.on_nodes.encoding_job import (
    COMPUTATION,
    PROOF,
    EncodingItem,
    EncodingJob,
    EngineProof,
    OpenEncoder,
    deciding_facts,
    proof_of,
)
from recallbench.embedding.options import Backend
from recallbench.embedding.spec_encoder import SpecEncoder
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.tokens import TokenIds, TokenisedText

CUDA = "torch/cuda"


class NodesEncoder(TextEncoder[TokenIds]):
    """Tokenises here, and has a cluster embed; nothing of it is connected to before the first text without a vector.

    A cluster that stands is asked at once whether it has GPUs, since they decide the fingerprint.
    """

    def __init__(self, here: SpecEncoder, open_encoder: OpenEncoder, engine: Engine, preference: Backend) -> None:
        """`here` is the same encoder in this process; `open_encoder` opens it on a node."""
        super().__init__(here.progress)
        self._here, self._open_encoder, self._engine = here, open_encoder, engine
        self._takes_gpus = engine.address is not None and "torch" in here.backends and preference in ("auto", "torch")
        self.name, self.title, self.batch_size = here.name, here.title, here.batch_size
        self.one_sided, self.tolerated, self.remedy = here.one_sided, here.tolerated, here.remedy
        self.backends = here.backends
        self.stopwatch = here.stopwatch
        self._closing = ExitStack()
        self._cluster: RayCluster | None = None
        self._crew: Crew | None = None
        self._proof_texts: Sequence[str] = ()
        self._computation = ""
        self._stated: set[str] = set()
        """The proofs that those who embedded rely on, as they stated them."""
        self._on_gpus: bool | None = None

    @property
    def stored_dims(self) -> int:
        return self._here.stored_dims

    @property
    def max_tokens(self) -> int:
        return self._here.max_tokens

    @property
    def backend(self) -> str:
        return CUDA if self._has_gpus() else self._here.backend

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return {**self._here.fingerprint, "backend": self.backend}

    @property
    def computation(self) -> str:
        return self._computation or self._here.computation

    @property
    def notes(self) -> Sequence[str]:
        return self._here.notes

    @property
    def nodes(self) -> Mapping[str, int]:
        # Numbers: what a network calls its machines belongs in no result.
        done = () if self._crew is None else self._crew.done.values()
        return {f"node {number}": batches for number, batches in enumerate(done, 1)}

    @property
    def proof_status(self) -> ProofStatus:
        statuses = {proof.status for proof in self._proofs}
        ranked: tuple[ProofStatus, ...] = ("failed", "measured", "equal", "cached")
        return next((status for status in ranked if status in statuses), "not needed")

    @property
    def worst_cosine(self) -> float | None:
        return min((proof.worst_cosine for proof in self._proofs if proof.worst_cosine is not None), default=None)

    @property
    def proof_texts(self) -> int:
        return min((proof.texts for proof in self._proofs), default=0)

    @property
    def _proofs(self) -> list[EngineProof]:
        """The proofs that vectors rely on: that of this process, and those of the workers that embedded."""
        proofs = [proof_of(self._here), *(EngineProof(*json.loads(stated)) for stated in self._stated)]
        return [proof for proof in proofs if proof.status != "not needed"]

    def needs_texts(self) -> bool:
        # Whatever was proven here: a node that was never asked before has to make the proof for itself.
        plain = f"{self._here.backends[-1]}/cpu" if self._here.backends else self.backend
        return self._crew is None and (self.backend != plain or self._here.spec.reduced)

    def prepare(self, role: Role, texts: Sequence[str]) -> None:
        # A proof is made here, where its outcome decides the fingerprint, and again on each other processor.
        if not self._has_gpus() and self._here.needs_texts():
            self._here.prepare(role, texts)
        self._proof_texts = texts
        self._open_crew()

    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[TokenisedText]:
        return self._here.tokenise(texts, role)

    def embed(self, contents: Sequence[TokenIds], role: Role) -> Matrix:
        return next(self.embed_batches([contents], role))

    def embed_batches(self, batches: Sequence[Sequence[TokenIds]], role: Role) -> Iterator[Matrix]:
        items = (EncodingItem(role, contents) for contents in batches)
        for vectors, facts in self._open_crew().in_order(items, _named):
            self._computation = facts[COMPUTATION]
            self._stated.add(facts[PROOF])
            yield vectors

    def close(self) -> None:
        self._closing.close()
        self._here.close()

    def _open_crew(self) -> Crew:
        if self._crew is None:
            here = self._here
            setting = here.setting if isinstance(here, ModelEncoder) and self.backend == here.backend else None
            job = EncodingJob(self._open_encoder, self.backend, tuple(self._proof_texts), setting)
            expected = {**deciding_facts(self._here), "backend": self.backend}
            with self.stopwatch.part("load"):
                self._crew = Crew(self._connected(), job, expected, f"embedding with {self.name}", self.progress)
                self._closing.callback(self._crew.close)
                self._crew.wait()
        return self._crew

    def _has_gpus(self) -> bool:
        if self._on_gpus is None:
            self._on_gpus = self._takes_gpus and any(node.gpus for node in self._connected().nodes())
        return self._on_gpus

    def _connected(self) -> RayCluster:
        if self._cluster is None:
            self._cluster = self._closing.enter_context(open_cluster(self._engine, self.progress))
        return self._cluster


def _named(item: Any) -> str:
    return f"a batch of {len(item.contents)} texts ({item.role})"
