"""Embedding as the job of a worker: an encoder opened there, and held to what the one who asks has."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, get_args

from recallbench.cluster.job import Share
from recallbench.cluster.worker import cores_here
from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import Role
from recallbench.embedding.engines.setting import Setting
from recallbench.embedding.model_encoder import ModelEncoder
from recallbench.embedding.openvino_engine import keep_to_cores
from recallbench.embedding.options import Backend
from recallbench.embedding.text_encoder import TextEncoder

COMPUTATION = "computation"
LIBRARIES = "computed with"
PROOF = "proof"
ROLES: tuple[Role, ...] = ("passage", "query")

OpenEncoder = Callable[[Backend, Mapping[str, str]], TextEncoder[Any]]
"""Opens an encoder with the backend and the variables of a node; it is sent there by pickle."""


class EncodingItem(NamedTuple):
    """A batch that a worker embeds."""

    role: Role
    contents: Sequence[Any]


class EngineProof(NamedTuple):
    """How an engine was held to the reference on one processor."""

    status: ProofStatus
    worst_cosine: float | None
    texts: int


def proof_of(encoder: TextEncoder[Any]) -> EngineProof:
    """Return the proof that an encoder relies on."""
    return EngineProof(encoder.proof_status, encoder.worst_cosine, encoder.proof_texts)


def deciding_facts(encoder: TextEncoder[Any]) -> dict[str, str]:
    """Return what decides an encoder's vectors, but for the processor that gives them their last digits."""
    return {**encoder.fingerprint, LIBRARIES: encoder.computation.partition(" on ")[0]}


@dataclass(frozen=True, slots=True)
class EncodingJob:
    """An encoder as it is opened on a worker, with the caches of that node."""

    open_encoder: OpenEncoder
    backend: str
    """What runs it, and where: `runtime/device`."""
    proof_texts: tuple[str, ...]
    """Texts on which a processor that was not asked before proves its fast engine."""
    setting: Setting | None = None
    """How the engine is given texts: as in the process that asks, so that vectors have the same last digits."""

    @property
    def share(self) -> Share:
        return "gpu" if self.backend.endswith("/cuda") else "node"

    def open(self, cores: int, *, gpu: bool) -> OpenedEncoding:
        runtime = self.backend.partition("/")[0]
        environ = dict(os.environ) if gpu else {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        # Encoders with one engine have no choice.
        backend = cast(Backend, runtime) if runtime in get_args(Backend) else "auto"
        if runtime == "openvino" and cores < cores_here():
            keep_to_cores(cores)
        encoder = self.open_encoder(backend, environ)
        if self.setting is not None and isinstance(encoder, ModelEncoder):
            encoder.take_setting(self.setting)
        for role in ROLES:
            encoder.prepare(role, self.proof_texts)
        return OpenedEncoding(encoder)


class OpenedEncoding:
    """An encoder on a worker."""

    def __init__(self, encoder: TextEncoder[Any]) -> None:
        self._encoder = encoder

    def facts(self) -> Mapping[str, str]:
        encoder = self._encoder
        return {
            **deciding_facts(encoder),
            COMPUTATION: encoder.computation,
            PROOF: json.dumps(proof_of(encoder)),
        }

    def do(self, item: EncodingItem) -> Matrix:
        return self._encoder.embed(item.contents, item.role)
