"""A pinned encoder behind its cache: nothing heavy is loaded until a text must be embedded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recallbench.embedding import machine
from recallbench.embedding.cache import FOREIGN, OWN, VectorCache
from recallbench.embedding.embedder import Backend, Counts, Embedded, EmbeddingReport, Matrix
from recallbench.embedding.encoders import EncoderSpec, Role
from recallbench.embedding.engine import Clock, Engine, Row
from recallbench.embedding.engines import Engines
from recallbench.embedding.identity import digest_of, key_of
from recallbench.embedding.memo import Memo
from recallbench.embedding.own_key import own_key
from recallbench.embedding.sample import ProofTexts
from recallbench.embedding.seal import Seal
from recallbench.embedding.spot_check import Draw, Ticket, worst_cosine
from recallbench.embedding.tokens import Tokens
from recallbench.embedding.weights import Shelf
from recallbench.errors import InputError, RecallBenchError
from recallbench.progress import Advance, Progress

NAMES: Mapping[Role, str] = {"passage": "passages", "query": "queries"}
WHOSE: Mapping[int, str] = {
    FOREIGN: "without the seal of your own key",
    OWN: "of your own",
}
WINDOW = 8192
"""Texts sorted by length at a time; only their ids are held, at most 16 MB."""
BLOCK = 256
"""Texts taken from the stream at a time."""


class PendingText(NamedTuple):
    """A text that waits for its vector."""

    position: int
    key: bytes
    ids: Row
    tokens: int
    cut: int


def counts(numbers: Iterable[int]) -> Counts:
    """Counts, one per text."""
    return np.fromiter(numbers, np.int32)


class CachedEmbedder:
    """Embeds with one encoder and keeps every vector."""

    def __init__(
        self,
        spec: EncoderSpec,
        *,
        cache_dir: Path,
        backend: Backend,
        environ: Mapping[str, str],
        progress: Progress,
        recheck_own: bool,
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.stored_dims = spec.stored_dims
        self.max_tokens = spec.max_tokens
        self._cache_dir = cache_dir
        # Importing torch makes a folder for compiled kernels, by itself under the system's temporary one.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache_dir / "torch"))
        self._asked: Backend = backend
        self._environ = environ
        self._progress = progress
        self._watched = (FOREIGN, OWN) if recheck_own else (FOREIGN,)
        self._memo = Memo(cache_dir / "memo")
        self._shelf = Shelf(spec.name, environ, self._memo, progress)
        self._clock = Clock()
        self._cache: VectorCache | None = None
        self._tokens: Tokens | None = None
        self._engines: Engines | None = None
        self._sample = ProofTexts()
        self._seen: dict[bytes, int] = {}
        """True tokens of every distinct text of this run."""
        self._computed = 0
        self._reused = 0
        self._given = 0
        """Vectors that went into the run."""
        self._draws = self._new_draws()
        self._foreign = 0
        self._embedded_again = 0
        self._worst_again: float | None = None
        self._key: bytes | None = None
        self._key_note = ""

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """What decides the vectors. Settled once every text was ensured: a failed proof changes the backend."""
        return self._settled().identity.fingerprint(self._settled().backend)

    @property
    def fingerprint_sha256(self) -> str:
        """One hash over the fingerprint."""
        return digest_of(self.fingerprint)

    def ensure(self, texts: Iterable[str], role: Role, *, total: int | None = None) -> None:
        """Embed and keep whatever is not kept yet."""
        if total is None and isinstance(texts, Sequence):
            total = len(texts)
        self._store().refresh()
        proving = self._settled().lacks_proof()
        stream = enumerate(texts)
        self._draws = self._new_draws()
        window: list[PendingText] = []
        waiting: set[bytes] = set()
        stage = self._stage(role, total) if total is not None else nullcontext(None)
        with stage as advance:
            while block := list(islice(stream, BLOCK)):
                missing = self._missing(block, role, waiting, proving)
                if advance:
                    advance(len(block) - len(missing))
                window.extend(self._tokenised(missing, role))
                if len(window) >= WINDOW:
                    self._embed(window, role, advance)
                    window, waiting = [], set()
            self._recheck(role)
            if window:
                self._embed(window, role, advance)

    def lookup(self, texts: Sequence[str], role: Role) -> Embedded:
        """The vectors of these texts; what was not ensured is embedded now."""
        store = self._store()
        keys = [key_of(self.spec, text, role, position) for position, text in enumerate(texts)]
        found = [store.row(key) for key in keys]
        # Texts that were ensured under a backend since given up count as never seen, and rows that somebody put in the
        # place of those that were accepted as never checked.
        if any(not self._usable(store, row) for row in found) or any(key not in self._seen for key in keys):
            self.ensure(texts, role)
            store = self._store()
            found = [store.row(key) for key in keys]
        rows = [row for row in found if row is not None and self._usable(store, row)]
        if len(rows) < len(keys):
            raise RecallBenchError(
                f"vectors that were just written can't be read back: {store.folder}",
                expected=f"{len(keys)} vectors",
                found=f"{len(rows)} as they were written",
                remedy="check the disk; the folder is only a cache and may be deleted",
            )
        self._given += len(rows)
        return Embedded(store.vectors(rows), store.tokens(rows), store.cuts(rows))

    def report(self) -> EmbeddingReport:
        """What happened so far."""
        engines = self._settled()
        notes = list(engines.notes)
        if self._key_note:
            notes.append(self._key_note)
        if self._cache is not None and self._cache.corrupt:
            notes.append(f"{self._cache.corrupt} damaged record(s) in the vector cache were computed anew")
        return EmbeddingReport(
            encoder=self.name,
            backend=engines.backend,
            device=engines.backend.partition("/")[2],
            proof=engines.status,
            worst_cosine=engines.worst_cosine,
            proof_texts=engines.proof_texts,
            distinct=len(self._seen),
            computed=self._computed,
            reused=self._reused,
            tokens=sum(self._seen.values()),
            truncated=sum(tokens > self.max_tokens for tokens in self._seen.values()),
            seconds=dict(self._clock.seconds),
            notes=tuple(notes),
            foreign=self._foreign,
            embedded_again=self._embedded_again,
            embedded_again_worst_cosine=self._worst_again,
            computed_with=self._cache.computed_with if self._cache is not None else (),
        )

    def close(self) -> None:
        """Release models and files. May be called twice."""
        if self._engines is not None:
            self._engines.close()
        self._tokens = None
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _missing(
        self, block: Sequence[tuple[int, str]], role: Role, waiting: set[bytes], proving: bool
    ) -> list[tuple[int, bytes, str]]:
        """Of these texts the first of each that has no vector yet; the others are counted, and offered to a draw."""
        store = self._store()
        missing = []
        kept: dict[bytes, int] = {}
        for position, text in block:
            key = key_of(self.spec, text, role, position)
            if key in waiting or key in kept:
                continue
            row = store.row(key)
            if key in self._seen and (row is None or self._usable(store, row)):
                continue
            if row is None:
                waiting.add(key)
                missing.append((position, key, text))
            else:
                kept[key] = row
                if (draw := self._draws.get(store.state(row))) is not None:
                    draw.offer(Ticket(store.lot(row), row, position, text))
            if proving:
                self._sample.offer(text)
        self._reused += sum(key not in self._seen for key in kept)
        self._seen.update(zip(kept, store.tokens(list(kept.values())).tolist(), strict=True))
        return missing

    def _tokenised(self, missing: Sequence[tuple[int, bytes, str]], role: Role) -> list[PendingText]:
        if not missing:
            return []
        with self._clock.part("tokenise"):
            read = self._tokenizer().read([text for _, _, text in missing], self.spec.prefix(role))
            return [PendingText(position, key, *one) for (position, key, _), one in zip(missing, read, strict=True)]

    def _new_draws(self) -> dict[int, Draw]:
        return {state: Draw() for state in self._watched}

    @staticmethod
    def _usable(store: VectorCache, row: int | None) -> bool:
        return row is not None and store.state(row) != FOREIGN

    def _recheck(self, role: Role) -> None:
        """Embed again what was drawn, and accept all that took part where it agrees; raises InputError otherwise."""
        for state, draw in self._draws.items():
            if not draw.drawn:
                continue
            engine, store = self._engine(role), self._store()
            if self._draws.get(state) is not draw:
                return  # another backend is used from now on, and none of these rows
            drawn, count = draw.drawn, len(draw.rows)
            whose = f"{count} {'vector' if count == 1 else 'vectors'} {WHOSE[state]}"
            self._progress.note(f"{store.folder} keeps {whose}: before any is used, {len(drawn)} are embedded again")
            items = self._tokenised([(one.position, b"", one.text) for one in drawn], role)
            with self._clock.part("forward"):
                vectors = engine.forward(engine.batch([item.ids for item in items]))
            self._refuse_useless(vectors, items, role)
            rows = [one.row for one in drawn]
            made = Embedded(vectors, counts(item.tokens for item in items), counts(item.cut for item in items))
            kept = Embedded(store.vectors(rows), store.tokens(rows), store.cuts(rows))
            worst = worst_cosine(kept, made, store.folder, whose)
            if state == FOREIGN:
                store.accept(draw.rows, rows)
                self._foreign += len(draw.rows)
            self._embedded_again += len(rows)
            self._worst_again = worst if self._worst_again is None else min(worst, self._worst_again)

    def _engine(self, role: Role) -> Engine:
        """The engine of this role; where it turns out to be another backend's, that one's cache takes over."""
        engines = self._settled()
        before = engines.backend
        engine = engines.ready(role, self._sample.texts(), self._ids)
        if engines.backend != before:
            self._start_over(before)
        return engine

    def _embed(self, window: list[PendingText], role: Role, advance: Advance | None) -> None:
        """Compute and keep one window, the longest texts first."""
        engine = self._engine(role)
        # Another backend's cache may have some.
        window = [item for item in window if self._store().row(item.key) is None]
        window.sort(key=lambda item: (-item.tokens, item.key))
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
        return self._progress.stage(f"embedding {NAMES[role]}", total, "texts")

    def _refuse_useless(self, vectors: Matrix, items: Sequence[PendingText], role: Role) -> None:
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

    def _tokenizer(self) -> Tokens:
        if self._tokens is None:
            self._tokens = Tokens(self._shelf.verified(self.spec.tokenizer), self.max_tokens)
        return self._tokens

    def _ids(self, texts: Sequence[str], role: Role) -> list[Row]:
        return [one.ids for one in self._tokenizer().read(texts, self.spec.prefix(role))]

    def _start_over(self, left: str) -> None:
        """Go on with another backend's cache, so that vectors of two backends never meet in one run."""
        engines = self._settled()
        if self._given:
            raise RecallBenchError(
                f"{engines.notes[-1]}, but vectors of {left} already went into this run",
                expected="one backend throughout a run",
                found=f"{self._given} vectors of {left} were looked up",
                remedy="run the same command again: this is remembered, and the other backend is used from the start",
            )
        # What was ensured so far counts for nothing; `lookup` embeds it where this backend's cache lacks it.
        self._seen.clear()
        self._computed = self._reused = self._foreign = self._embedded_again = 0
        self._worst_again = None
        self._draws = self._new_draws()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _settled(self) -> Engines:
        """Know the hash of every file, and the backend."""
        if self._engines is None:
            self._engines = Engines(self.spec, self._shelf, self._memo, self._asked, self._environ, self._clock)
        return self._engines

    def _store(self) -> VectorCache:
        if self._cache is None:
            folder = self._cache_dir / "vectors" / f"{self.name}-{self.fingerprint_sha256[:16]}"
            if not folder.resolve().is_relative_to(self._cache_dir.resolve()):
                raise InputError(
                    f"the vector cache leads elsewhere: {folder}",
                    expected=f"a folder below {self._cache_dir}",
                    found=str(folder.resolve()),
                    remedy="if the link is your own, name the folder it leads to with --cache-dir; else find out whose",
                )
            line = machine.computing_with(self._settled().backend)
            if self._key is None:
                self._key, self._key_note = own_key(self._cache_dir)
                if self._key_note:
                    self._progress.note(self._key_note)
            seal = Seal(self._key, self.fingerprint_sha256)
            self._cache = VectorCache(folder, self.stored_dims, seal, self.fingerprint, line)
        return self._cache
