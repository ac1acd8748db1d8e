"""A pinned encoder behind its cache: nothing heavy is loaded until a text must be embedded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from recallbench.embedding.backend import OPENVINO, absence, choose_backend, failure_note
from recallbench.embedding.cache import VectorCache
from recallbench.embedding.embedder import Backend, Embedded, EmbeddingReport, Matrix
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engine import Clock, Engine, Row, device_found
from recallbench.embedding.identity import Identity, digest_of, key_of
from recallbench.embedding.memo import Memo
from recallbench.embedding.proof import TEXTS, Proof, Proofs, spread
from recallbench.embedding.tokens import Tokens
from recallbench.embedding.weights import Shelf
from recallbench.errors import InputError, RecallBenchError
from recallbench.progress import Advance, Progress

WINDOW = 8192
"""Texts sorted by length at a time; only their ids are held, at most 16 MB."""
BLOCK = 256
"""Texts taken from the stream at a time."""


class Item(NamedTuple):
    """A text that waits for its vector."""

    position: int
    key: bytes
    ids: Row
    tokens: int
    cut: int


class CachedEmbedder:
    """Embeds with one encoder and keeps every vector."""

    def __init__(
        self, spec: EncoderSpec, *, cache_dir: Path, backend: Backend, environ: Mapping[str, str], progress: Progress
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.stored_dims = spec.stored_dims
        self.max_tokens = spec.max_tokens
        self._cache_dir = cache_dir
        self._asked: Backend = backend
        self._environ = environ
        self._progress = progress
        self._memo = Memo(cache_dir / "memo")
        self._shelf = Shelf(spec.name, environ, self._memo, progress)
        self._clock = Clock()
        self._backend = ""
        self._notes: list[str] = []
        self._identity: Identity | None = None
        self._cache: VectorCache | None = None
        self._tokens: Tokens | None = None
        self._engines: dict[str, Engine] = {}
        self._proof: Proof | None = None
        self._proof_status: Literal["equal", "cached", "failed", "not needed"] = "not needed"
        self._seen: dict[bytes, int] = {}
        """True tokens of every distinct text of this run."""
        self._computed = 0
        self._reused = 0

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """What decides the vectors. Settled once `ensure` returned: a failed proof changes the backend."""
        return self._identified().fingerprint(self._backend)

    @property
    def fingerprint_sha256(self) -> str:
        """One hash over the fingerprint."""
        return digest_of(self.fingerprint)

    def ensure(self, texts: Iterable[str], role: Role, *, total: int | None = None) -> None:
        """Embed and keep whatever is not kept yet."""
        if total is None and isinstance(texts, Sequence):
            total = len(texts)
        self._store().refresh()
        stream = enumerate(texts)
        window: list[Item] = []
        waiting: set[bytes] = set()
        stage = self._stage(role, total) if total is not None else nullcontext(None)
        with stage as advance:
            while block := list(islice(stream, BLOCK)):
                missing = self._missing(block, role, waiting)
                if advance:
                    advance(len(block) - len(missing))
                window.extend(self._tokenised(missing, role))
                if len(window) >= WINDOW:
                    self._embed(window, role, advance)
                    window, waiting = [], set()
            if window:
                self._embed(window, role, advance)

    def lookup(self, texts: Sequence[str], role: Role) -> Embedded:
        """The vectors of these texts; what was not ensured is embedded now."""
        store = self._store()
        keys = [key_of(self.spec, text, role, position) for position, text in enumerate(texts)]
        found = [store.row(key) for key in keys]
        if None in found:
            self.ensure(texts, role)
            store = self._store()
            found = [store.row(key) for key in keys]
        rows = [row for row in found if row is not None]
        if len(rows) < len(keys):
            raise RecallBenchError(
                f"vectors that were just written can't be read back: {store.folder}",
                expected=f"{len(keys)} vectors",
                found=f"{len(rows)} with a right checksum",
                remedy="check the disk; the folder is only a cache and may be deleted",
            )
        return Embedded(store.vectors(rows), store.tokens(rows), store.cuts(rows))

    def report(self) -> EmbeddingReport:
        """What happened so far."""
        self._identified()
        notes = list(self._notes)
        if self._cache is not None and self._cache.corrupt:
            notes.append(f"{self._cache.corrupt} damaged record(s) in the vector cache were computed anew")
        return EmbeddingReport(
            encoder=self.name,
            backend=self._backend,
            device=self._backend.partition("/")[2],
            proof=self._proof_status,
            worst_cosine=self._proof.worst_cosine if self._proof else None,
            proof_texts=self._proof.texts if self._proof else 0,
            distinct=len(self._seen),
            computed=self._computed,
            reused=self._reused,
            tokens=sum(self._seen.values()),
            truncated=sum(tokens > self.max_tokens for tokens in self._seen.values()),
            seconds=dict(self._clock.seconds),
            notes=tuple(notes),
        )

    def close(self) -> None:
        """Release models and files. May be called twice."""
        self._engines.clear()
        self._tokens = None
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _missing(
        self, block: Sequence[tuple[int, str]], role: Role, waiting: set[bytes]
    ) -> list[tuple[int, bytes, str]]:
        """Of these texts the first of each that has no vector yet; the others are counted."""
        store = self._store()
        missing = []
        for position, text in block:
            key = key_of(self.spec, text, role, position)
            if key in waiting:
                continue
            row = store.row(key)
            if row is None:
                waiting.add(key)
                missing.append((position, key, text))
            elif key not in self._seen:
                self._seen[key] = int(store.tokens([row])[0])
                self._reused += 1
        return missing

    def _tokenised(self, missing: Sequence[tuple[int, bytes, str]], role: Role) -> list[Item]:
        if not missing:
            return []
        with self._clock.part("tokenise"):
            if self._tokens is None:
                self._tokens = Tokens(self._shelf.verified(self.spec.tokenizer), self.max_tokens)
            read = self._tokens.read([text for _, _, text in missing], self.spec.prefix(role))
            return [Item(position, key, *one) for (position, key, _), one in zip(missing, read, strict=True)]

    def _embed(self, window: list[Item], role: Role, advance: Advance | None) -> None:
        """Compute and keep one window, the longest texts first."""
        window.sort(key=lambda item: (-item.tokens, item.key))
        engine = self._engine(role, window)
        size = self.spec.batch_size
        # Without a total for all texts, the time left is told for each window.
        with nullcontext(advance) if advance else self._stage(role, len(window)) as tell:
            for start in range(0, len(window), size):
                items = window[start : start + size]
                with self._clock.part("forward"):
                    vectors = engine.forward(engine.batch([item.ids for item in items]))
                self._refuse_useless(vectors, items, role)
                keys, tokens = [item.key for item in items], [item.tokens for item in items]
                self._store().append(keys, tokens, [item.cut for item in items], vectors)
                self._seen.update(zip(keys, tokens, strict=True))
                self._computed += len(items)
                tell(len(items))

    def _stage(self, role: Role, total: int) -> AbstractContextManager[Advance]:
        return self._progress.stage(f"embedding {role}s", total, "texts")

    def _refuse_useless(self, vectors: Matrix, items: Sequence[Item], role: Role) -> None:
        with np.errstate(all="ignore"):
            lengths = np.linalg.norm(vectors, axis=1)
        useless = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
        if len(useless):
            first = int(useless[0])
            raise InputError(
                f"{self.spec.title} gave no usable vector for {role} text {items[first].position} (counted from 0)",
                expected="finite numbers, not all zero",
                found="zeros" if lengths[first] == 0 else "NaN or infinity",
                remedy=f"recallbench fetch {self.name} verifies the weights; --backend torch rules out OpenVINO",
            )

    def _engine(self, role: Role, window: Sequence[Item]) -> Engine:
        """The loaded weights of this role, proven on texts of the window where that is due."""
        weights = self.spec.weights(role)
        place = f"{weights.repo}@{weights.revision}"
        engine = self._engines.get(place)
        if engine is None:
            paths = self._shelf.verified(weights)
            device = self._backend.partition("/")[2]
            if device_found(device) != device:
                self._memo.keep(absence(device), {"found": False})
                self._switch(self._choose(), f"torch finds no {device} device: the CPU was used")
            engine = self._engines[place] = Engine(self.spec, weights, paths, self._backend, self._clock)
        if engine.backend == OPENVINO:
            self._prove(engine, role, window)
        return engine

    def _prove(self, engine: Engine, role: Role, window: Sequence[Item]) -> None:
        proofs = Proofs(self._memo)
        identity = self._identified().of_module(role)
        proof = proofs.recall(identity)
        # A proof on fewer texts than are at hand now is made again.
        if proof and proof.equal and proof.texts >= min(TEXTS, len(window)):
            if self._proof_status == "not needed":
                self._proof, self._proof_status = proof, "cached"
            if proof.texts >= TEXTS:
                engine.release()
            return
        rows = [window[place].ids for place in spread(len(window))]
        with self._progress.stage("proving OpenVINO equal to torch", len(rows), "texts") as advance:
            proof = engine.prove(rows, advance)
        proofs.keep(identity, proof)
        self._proof, self._proof_status = proof, "equal" if proof.equal else "failed"
        if proof.equal and proof.texts >= TEXTS:
            engine.release()
        if not proof.equal:
            self._switch("torch/cpu", failure_note(proof.worst_cosine))

    def _switch(self, backend: str, note: str) -> None:
        """Go on with another backend, and so with another cache; never with vectors of both in one run."""
        if self._seen:
            raise RecallBenchError(
                f"{note}, but vectors of {self._backend} already went into this run",
                expected="one backend throughout a run",
                found=f"{len(self._seen)} texts from the cache of {self._backend}",
                remedy="run the same command again: this is remembered, and the other backend is used from the start",
            )
        self._notes.append(note)
        self._progress.note(note)
        self._backend = backend
        for engine in self._engines.values():
            if engine.backend != backend:
                engine.use(backend)
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _identified(self) -> Identity:
        """Know the hash of every file, and the backend."""
        if self._identity is None:
            self._identity = Identity(self.spec, self._shelf)
            self._backend = self._choose()
        return self._identity

    def _choose(self) -> str:
        modules = [self._identified().of_module("passage"), self._identified().of_module("query")]
        backend, note = choose_backend(self._asked, self._environ, self._memo, modules)
        if note:
            self._notes.append(note)
        return backend

    def _store(self) -> VectorCache:
        if self._cache is None:
            folder = self._cache_dir / "vectors" / f"{self.name}-{self.fingerprint_sha256[:16]}"
            self._cache = VectorCache(folder, self.stored_dims, self.fingerprint)
        return self._cache
