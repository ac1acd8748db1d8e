"""An encoder that is known by a pack of its vectors: the weights are asked for only where the pack has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recallbench.embedding.embedder import Matrix, ProofStatus
from recallbench.embedding.encoders import Role
from recallbench.embedding.engines.proof import ProofTexts
from recallbench.embedding.fingerprint import is_one_sided
from recallbench.embedding.packs.used_packs import UsedPack
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.errors import Blocked, InputError
from recallbench.progress import Progress

BACKEND = "backend"
"""The fact of a fingerprint that may differ between machines whose vectors agree."""


class PackedEncoder(TextEncoder[Any]):
    """Has the fingerprint of a pack; `weights` opens the encoder itself, None where it can't be had here."""

    backends = ("openvino", "torch", "onnxruntime")

    def __init__(self, used: UsedPack, weights: Callable[[], TextEncoder[Any]] | None, progress: Progress) -> None:
        super().__init__(progress)
        self.used = used
        self.name, self.title = used.manifest.encoder, used.manifest.fingerprint.get("encoder", used.manifest.encoder)
        self.one_sided = is_one_sided(used.manifest.fingerprint)
        self._open = weights
        self._opened: TextEncoder[Any] | None = None
        self._proof_texts = ProofTexts()
        self._adds = False
        """Whether vectors are computed that the pack lacks."""

    @property
    def stored_dims(self) -> int:
        return self.used.manifest.dims

    @property
    def max_tokens(self) -> int | None:
        return self.used.manifest.max_tokens_seen

    @property
    def backend(self) -> str:
        return self.used.manifest.fingerprint[BACKEND]

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return self.used.manifest.fingerprint

    @property
    def computation(self) -> str:
        return "" if self._opened is None else self._opened.computation

    @property
    def notes(self) -> Sequence[str]:
        return () if self._opened is None else self._opened.notes

    @property
    def usage(self) -> Mapping[str, int]:
        return {} if self._opened is None else self._opened.usage

    @property
    def proof_status(self) -> ProofStatus:
        return self._proven.proof_status if self._proven else "not needed"

    @property
    def worst_cosine(self) -> float | None:
        return self._proven.worst_cosine if self._proven else None

    @property
    def proof_texts(self) -> int:
        return self._proven.proof_texts if self._proven else 0

    @property
    def _proven(self) -> TextEncoder[Any] | None:
        """The encoder itself, where a proof of its engine says something of the pack's backend."""
        return self._opened if self._opened is not None and self._opened.backend == self.backend else None

    def tokenise(self, texts: Sequence[str], role: Role) -> Sequence[tuple[Any, int, int]]:
        encoder = self._weights()
        for text in texts:
            self._proof_texts.offer(text)
        return encoder.tokenise(texts, role)

    def refuse_adding(self) -> None:
        if self._open is None:
            raise Blocked(
                f"the pack of {self.name} lacks a text of this run, and the weights are not here",
                expected=f"each text among the {self.used.manifest.texts} of {self.used.words}",
                found="another text, as a rewritten question is, or a vector that was changed since",
                remedy=f"recallbench fetch {self.name} where its weights can be had, or leave out what makes other "
                "texts; `recallbench vectors use` mends a changed pack",
            )
        self._adds = True
        self._refuse_other_backend(self._weights())

    def prepare(self, role: Role, texts: Sequence[str]) -> None:
        encoder = self._weights()
        encoder.prepare(role, texts or self._proof_texts.texts())
        self._refuse_other_backend(encoder)

    def _refuse_other_backend(self, encoder: TextEncoder[Any]) -> None:
        if self._adds and encoder.backend != self.backend:
            # Vectors of two backends never meet in one run.
            raise Blocked(
                f"the pack of {self.name} lacks a text of this run, and this machine would embed it otherwise",
                expected=f"{self.backend}, as in {self.used.words}",
                found=f"{encoder.backend} on this machine",
                remedy=f"--backend {encoder.backend.partition('/')[0]} embeds everything here, without the pack",
            )

    def embed(self, contents: Sequence[Any], role: Role) -> Matrix:
        return self._weights().embed(contents, role)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def _weights(self) -> TextEncoder[Any]:
        if self._opened is None:
            if self._open is None:
                raise Blocked(
                    f"a vector of {self.used.words} has to be compared, and the weights of {self.name} are not here",
                    expected="each vector as `recallbench vectors use` put it there",
                    found="one that was changed since, or an option that embeds again",
                    remedy="put the pack in order: recallbench vectors use FILE",
                )
            opened = self._open()
            refuse_other_encoder(opened.fingerprint, self.fingerprint, self.name)
            opened.stopwatch = self.stopwatch
            self.batch_size, self.tolerated, self.remedy = opened.batch_size, opened.tolerated, opened.remedy
            self._opened = opened
        return self._opened


def refuse_other_encoder(here: Mapping[str, str], packed: Mapping[str, str], name: str) -> None:
    """Raise InputError where the encoder on this machine is another than the one whose vectors are in a pack."""
    for fact in sorted({*here, *packed} - {BACKEND}):
        if here.get(fact) != packed.get(fact):
            raise InputError(
                f"the pack is of another encoder than the {name} on this machine",
                expected=f"{fact} {here.get(fact, 'not stated')}",
                found=packed.get(fact, "not stated"),
                remedy="ask for a pack of this one, or get the weights that the pack was made with",
            )
