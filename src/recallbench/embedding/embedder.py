"""The interface of an encoder, as the rest of the harness sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from recallbench.embedding.encoders import Role
from recallbench.embedding.packs.record import PackRecord

Matrix = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int32]
ProofStatus = Literal["equal", "cached", "measured", "failed", "not needed"]


class Embeddings(NamedTuple):
    """One row per text that was looked up, in that order."""

    vectors: Matrix
    tokens: Counts
    """The true length of each text in tokens, special tokens included, however much of it was cut."""
    cut: Counts
    """The character at which the encoder stops reading; the length of the text where nothing is cut."""


@dataclass(frozen=True, slots=True)
class EmbeddingReport:
    """The origin of a run's vectors. It differs between a first run and a repeat; the vectors don't."""

    encoder: str
    backend: str
    device: str
    proof: ProofStatus
    """Whether the engine was compared with the plain one: in this run, in an earlier one, or not at all; `measured`
    where it computes in fewer bits, and how far that is from all was measured."""
    worst_cosine: float | None
    """For twins the lower one; None where nothing was compared."""
    proof_texts: int
    """For twins the smaller number."""
    distinct: int
    computed: int
    reused: int
    tokens: int
    """True tokens of the distinct texts."""
    truncated: int
    """Distinct texts of which the encoder does not see the end."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Wall clock by part: load, compile, proof, tokenise, forward."""
    notes: tuple[str, ...] = ()
    foreign: int = 0
    """Reused vectors that do not carry the keyed hash of this user's own key."""
    embedded_again: int = 0
    """Reused vectors that were compared with new ones before any of their kind was used."""
    embedded_again_worst_cosine: float | None = None
    computed_with: tuple[str, ...] = ()
    """Library versions and processors behind the vectors of the cache folder, earlier runs' included."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Requests to an endpoint in this run, and the tokens that it counted; empty for any other encoder."""
    packed: int = 0
    """Reused vectors of the pack that was used."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """The batches that each node of a cluster embedded; empty where all was done in one process."""

    def document(self) -> dict[str, Any]:
        """Return it as environment.json has it: without usage, packs and nodes where there are none."""
        return {
            name: value for name, value in asdict(self).items() if name not in ("usage", "packed", "nodes") or value
        }


class Embedder(Protocol):
    """Texts in, vectors out, each distinct text computed once."""

    @property
    def name(self) -> str:
        """The registry's name of the encoder."""

    @property
    def pack(self) -> PackRecord | None:
        """The pack that the vectors are of; None where they were computed here, or kept from others."""

    @property
    def stored_dims(self) -> int:
        """Length of a stored vector."""

    @property
    def max_tokens(self) -> int | None:
        """Tokens of a text that the encoder sees; None where that can't be known."""

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """All that decides the vectors. Settled once every text was ensured: a failed proof changes the backend."""

    @property
    def fingerprint_sha256(self) -> str:
        """One hash over the fingerprint."""

    def ensure(self, texts: Iterable[str], role: Role, *, total: int | None = None) -> None:
        """Embed and cache texts that have no vector yet. `texts` is read once, as a stream; `total` is for progress."""

    def reuse(self, texts: Sequence[str], role: Role) -> bool:
        """Return whether each of these texts has a vector already, which the next `ensure` of the role need not see.

        That must come before any use; once this was denied, it must see all texts of the role."""

    def lookup(self, texts: Sequence[str], role: Role) -> Embeddings:
        """Return the vectors of these texts; those that were not ensured are embedded now."""

    def embed_afresh(self, texts: Sequence[str], role: Role) -> Embeddings:
        """Return vectors of these texts that are computed now, whatever the cache holds, and keep none of them."""

    def report(self) -> EmbeddingReport:
        """Return the vectors' origin so far."""

    def close(self) -> None:
        """Release models and files. May be called twice."""
