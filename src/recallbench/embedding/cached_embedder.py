"""An encoder behind its cache: each distinct text is embedded once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recallbench.corpora.labelled_sets.set_name import folder_word
from recallbench.embedding.embedder import EmbeddingReport, Embeddings, Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.engines.proof import ProofTexts
from recallbench.embedding.fingerprint import fingerprint_digest, text_key
from recallbench.embedding.own_key import Seal, own_key
from recallbench.embedding.packs.record import PackRecord
from recallbench.embedding.packs.used_packs import UsedPack
from recallbench.embedding.spot_check import CachedText, SpotCheck, difference_from, worst_cosine
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.vector_agreement import useless_vector
from recallbench.embedding.vector_cache import RowState, VectorCache
from recallbench.errors import InputError, RecallBenchError
from recallbench.key_numbers import KeyNumbers
from recallbench.progress import Advance, Progress

STAGES: Mapping[Role, str] = {"passage": "embedding passages", "query": "embedding queries"}
POPULATIONS: Mapping[RowState, str] = {
    RowState.FOREIGN: "without the seal of your own key",
    RowState.OWN: "of your own",
}
WINDOW = 8192
"""Texts sorted by length at a time."""
LARGEST_WINDOW = WINDOW * 512
"""Token ids of these texts, or characters where an encoder tokenises itself, that are kept in memory: 16 MB."""
BLOCK = 256
"""Texts taken from the stream at a time."""


class NumberedText(NamedTuple):
    """A text with its place among those to embed."""

    position: int
    key: bytes
    text: str


class PendingText(NamedTuple):
    """A tokenised text that waits for its vector."""

    position: int
    key: bytes
    content: Any
    """The text as the encoder takes it."""
    tokens: int
    cut: int


@dataclass(slots=True)
class ShownTexts:
    """The texts of a role that were found in the cache before any is used."""

    checks: dict[RowState, SpotCheck]
    count: int = 0


class CachedEmbedder:
    """Embeds with one encoder and caches every vector."""

    def __init__(
        self,
        encoder: TextEncoder[Any],
        *,
        cache_dir: Path,
        progress: Progress,
        recheck_own: bool,
        pack: UsedPack | None = None,
    ) -> None:
        self.name = encoder.name
        self._used = pack
        self._encoder = encoder
        self._cache_dir = cache_dir
        self._progress = progress
        self._states_checked = (RowState.FOREIGN, RowState.OWN) if recheck_own else (RowState.FOREIGN,)
        self._vector_cache: VectorCache | None = None
        self._key_note = ""
        self._proof_texts = ProofTexts()
        self._tokens = KeyNumbers()
        """The number of tokens, before any cut, of every distinct text of this run that has its vector."""
        self._shown: dict[Role, ShownTexts] = {}
        self._computed = 0
        self._reused = 0
        self._packed = 0
        self._foreign = 0
        self._embedded_again = 0
        self._worst_again: float | None = None

    @property
    def pack(self) -> PackRecord | None:
        """The pack that the vectors are of; None where they were computed here, or kept from others."""
        return None if self._used is None else self._used.record

    @property
    def stored_dims(self) -> int:
        """Length of a stored vector."""
        return self._encoder.stored_dims

    @property
    def max_tokens(self) -> int | None:
        """Tokens of a text that the encoder sees; None where that can't be known."""
        return self._encoder.max_tokens

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """All that decides the vectors. Settled once every text was ensured: a failed proof changes the backend."""
        return self._encoder.fingerprint

    @property
    def fingerprint_sha256(self) -> str:
        """One hash over the fingerprint."""
        return fingerprint_digest(self.fingerprint)

    def ensure(self, texts: Iterable[str], role: Role, *, total: int | None = None) -> None:
        """Embed and cache every text that has no vector yet."""
        if total is None and isinstance(texts, Sequence):
            total = len(texts)
        self._cache.refresh()
        proof_needs_texts = self._encoder.needs_texts()
        shown = self._shown.pop(role, None)
        checks = shown.checks if shown is not None else self._new_checks()
        window: list[PendingText] = []
        window_size = 0
        window_keys: set[bytes] = set()
        stream = (NumberedText(n, self._key(text, role, n), text) for n, text in enumerate(texts))
        with self._progress.stage(STAGES[role], total, "texts") as advance:
            while block := list(islice(stream, BLOCK)):
                if proof_needs_texts:
                    for numbered in block:
                        self._proof_texts.offer(numbered.text)
                missing = self._find_missing(block, window_keys, checks)
                if missing:
                    self._encoder.refuse_adding()
                advance(len(block) - len(missing))
                pending = self._tokenise(missing, role)
                window.extend(pending)
                window_size += sum(len(text.content) for text in pending)
                if len(window) >= WINDOW or window_size >= LARGEST_WINDOW:
                    self._embed_window(window, role, advance)
                    window, window_size, window_keys = [], 0, set()
            for state, check in checks.items():
                self._recheck(state, check, role)
            if window:
                self._embed_window(window, role, advance)

    def reuse(self, texts: Sequence[str], role: Role) -> bool:
        """Return whether each of these texts has a vector already, which the next `ensure` of the role need not see.

        That must come before any use; once this was denied, it must see all texts of the role."""
        if self._encoder.needs_texts():
            return False
        shown = self._shown.setdefault(role, ShownTexts(self._new_checks()))
        try:
            keys = [self._key(text, role, shown.count + place) for place, text in enumerate(texts)]
        except InputError:
            return False  # `ensure` refuses it, once the whole corpus was read
        rows: dict[bytes, int] = {}
        for place, key in enumerate(keys):
            row = self._cache.row(key)
            if row is None:
                return False
            rows[key] = row
            self._offer(shown.checks, row, shown.count + place, texts[place])
        self._count_reused(rows)
        shown.count += len(texts)
        return True

    def lookup(self, texts: Sequence[str], role: Role) -> Embeddings:
        """Return the vectors of these texts; those that were not ensured are embedded now."""
        keys = [self._key(text, role, position) for position, text in enumerate(texts)]
        rows = self._usable_rows(keys)
        # Rows that replaced accepted ones count as never checked.
        if len(rows) < len(keys) or not all(key in self._tokens for key in keys):
            self.ensure(texts, role)
            rows = self._usable_rows(keys)
        if len(rows) < len(keys):
            raise RecallBenchError(
                f"vectors that were just written can't be read back: {self._cache.folder}",
                expected=f"{len(keys)} vectors",
                found=f"{len(rows)} as they were written",
                remedy="check the disk; the folder is only a cache and may be deleted",
            )
        return self._cached_embeddings(rows)

    def embed_afresh(self, texts: Sequence[str], role: Role) -> Embeddings:
        """Return vectors of these texts that are computed now, whatever the cache holds, and keep none of them.

        They are embedded as any others: the longest first, in batches.
        """
        if self._encoder.needs_texts():
            for text in texts:
                self._proof_texts.offer(text)
        pending = self._tokenise([NumberedText(place, b"", text) for place, text in enumerate(texts)], role)
        self._prepare(role)
        vectors = np.zeros((len(texts), self.stored_dims), np.float32)
        longest_first = sorted(pending, key=lambda text: (-text.tokens, text.position))
        batches = self._batches(longest_first)
        for batch, computed in zip(batches, self._compute(batches, role), strict=True):
            vectors[[text.position for text in batch]] = computed
        tokens, cuts = ([getattr(text, count) for text in pending] for count in ("tokens", "cut"))
        return Embeddings(vectors, np.array(tokens, np.int32), np.array(cuts, np.int32))

    def compare(self, kept: Embeddings, texts: Sequence[str], role: Role) -> tuple[float, str]:
        """Return the lowest cosine between kept vectors and those of the same texts now, and how they differ, if so."""
        return difference_from(self.embed_afresh(texts, role), kept, self._encoder.tolerated)

    def report(self) -> EmbeddingReport:
        """Return the vectors' origin so far."""
        encoder, cache, limit = self._encoder, self._vector_cache, self.max_tokens
        tokens = self._tokens.numbers()
        notes = list(encoder.notes)
        if self._key_note:
            notes.append(self._key_note)
        if cache is not None and cache.corrupt:
            notes.append(f"{cache.corrupt} damaged record(s) in the vector cache were computed anew")
        return EmbeddingReport(
            encoder=self.name,
            backend=encoder.backend,
            device=encoder.backend.partition("/")[2],
            proof=encoder.proof_status,
            worst_cosine=encoder.worst_cosine,
            proof_texts=encoder.proof_texts,
            distinct=len(tokens),
            computed=self._computed,
            reused=self._reused,
            tokens=int(tokens.sum(dtype=np.int64)),
            truncated=0 if limit is None else int(np.count_nonzero(tokens > limit)),
            seconds=dict(encoder.stopwatch.seconds),
            notes=tuple(notes),
            foreign=self._foreign,
            embedded_again=self._embedded_again,
            embedded_again_worst_cosine=self._worst_again,
            computed_with=cache.computed_with if cache is not None else (),
            usage=dict(encoder.usage),
            packed=self._packed,
            nodes=dict(encoder.nodes),
        )

    def close(self) -> None:
        """Release models and files. May be called twice."""
        self._encoder.close()
        if self._vector_cache is not None:
            self._vector_cache.close()
            self._vector_cache = None

    def _find_missing(
        self, block: Sequence[NumberedText], window_keys: set[bytes], checks: Mapping[RowState, SpotCheck]
    ) -> list[NumberedText]:
        """Return the first of each text that has no vector yet; count the others, and offer them to a spot check."""
        cache = self._cache
        missing = []
        rows: dict[bytes, int] = {}
        for text in block:
            key = text.key
            if key in window_keys or key in rows:
                continue
            row = cache.row(key)
            # One that was damaged meanwhile is not computed twice in a run: `lookup` refuses it.
            if key in self._tokens and (row is None or cache.state(row) != RowState.FOREIGN):
                continue
            if row is None:
                window_keys.add(key)
                missing.append(text)
                continue
            rows[key] = row
            self._offer(checks, row, text.position, text.text)
        self._count_reused(rows)
        return missing

    def _new_checks(self) -> dict[RowState, SpotCheck]:
        return {state: SpotCheck() for state in self._states_checked}

    def _offer(self, checks: Mapping[RowState, SpotCheck], row: int, position: int, text: str) -> None:
        """Let a row take part in the spot check of its kind, if there is one."""
        if check := checks.get(self._cache.state(row)):
            check.offer(CachedText(self._cache.seal(row), row, position, text))

    def _count_reused(self, rows: Mapping[bytes, int]) -> None:
        new = [row for key, row in rows.items() if key not in self._tokens]
        self._reused += len(new)
        if self._used is not None:
            # What was computed beside the pack stands behind it.
            self._packed += sum(row < self._used.manifest.texts for row in new)
        self._tokens.update(list(rows), self._cache.tokens(list(rows.values())).tolist())

    def _recheck(self, state: RowState, check: SpotCheck, role: Role) -> None:
        """Embed the drawn texts again, and accept the rows of the draw where they agree; else raise InputError."""
        if not check.drawn:
            return
        cache, count = self._cache, len(check.rows)
        population = f"{count} {'vector' if count == 1 else 'vectors'} {POPULATIONS[state]}"
        self._progress.note(
            f"{cache.folder} keeps {population}: before any is used, {len(check.drawn)} are embedded again"
        )
        rows = [drawn.row for drawn in check.drawn]
        computed = self.embed_afresh([drawn.text for drawn in check.drawn], role)
        worst = worst_cosine(self._cached_embeddings(rows), computed, cache.folder, population, self._encoder.tolerated)
        if state == RowState.FOREIGN:
            cache.accept(check.rows, rows)
            self._foreign += count
        self._embedded_again += len(rows)
        self._worst_again = worst if self._worst_again is None else min(worst, self._worst_again)

    def _embed_window(self, window: list[PendingText], role: Role, advance: Advance) -> None:
        """Compute and cache the vectors of one window, the longest texts first."""
        self._prepare(role)
        window.sort(key=lambda pending: (-pending.tokens, pending.key))
        batches = self._batches(window)
        for batch, vectors in zip(batches, self._compute(batches, role), strict=True):
            self._cache.computation = self._encoder.computation
            keys, tokens = [pending.key for pending in batch], [pending.tokens for pending in batch]
            self._cache.append(keys, tokens, [pending.cut for pending in batch], vectors)
            self._tokens.update(keys, tokens)
            self._computed += len(batch)
            advance(len(batch))

    def _batches(self, pending: Sequence[PendingText]) -> list[Sequence[PendingText]]:
        size = self._encoder.batch_size
        return [pending[start : start + size] for start in range(0, len(pending), size)]

    def _compute(self, batches: Sequence[Sequence[PendingText]], role: Role) -> Iterator[Matrix]:
        """Run the encoder over each batch; raises InputError for a vector that can't be compared with another."""
        embedded = self._encoder.embed_batches([[text.content for text in batch] for batch in batches], role)
        for batch in batches:
            with self._encoder.stopwatch.part("forward"):
                vectors = next(embedded)
            if (useless := useless_vector(vectors)) is not None:
                place, found = useless
                raise InputError(
                    f"{self._encoder.title} gave no usable vector for {role} text {batch[place].position} (from 0)",
                    expected="finite numbers, not all zero",
                    found=found,
                    remedy=self._encoder.remedy,
                )
            yield vectors

    def _tokenise(self, texts: Sequence[NumberedText], role: Role) -> list[PendingText]:
        if not texts:
            return []
        read = self._encoder.tokenise([text.text for text in texts], role)
        return [PendingText(text.position, text.key, *tokens) for text, tokens in zip(texts, read, strict=True)]

    def _key(self, text: str, role: Role, position: int) -> bytes:
        return text_key(text, role, position, one_sided=self._encoder.one_sided)

    def _usable_rows(self, keys: Sequence[bytes]) -> list[int]:
        return [row for row in map(self._cache.usable_row, keys) if row is not None]

    def _cached_embeddings(self, rows: Sequence[int]) -> Embeddings:
        return Embeddings(self._cache.vectors(rows), self._cache.tokens(rows), self._cache.cuts(rows))

    def _prepare(self, role: Role) -> None:
        """Load the engine of this role; where it turns out to be of another backend, that one's cache takes over."""
        encoder = self._encoder
        before = encoder.backend
        encoder.prepare(role, self._proof_texts.texts())
        if encoder.backend == before:
            return
        if self._tokens:
            # Vectors of two backends never meet in one run.
            raise RecallBenchError(
                f"{encoder.notes[-1]}, but vectors of {before} already went into this run",
                expected="one backend throughout a run",
                found=f"{len(self._tokens)} texts with vectors of {before}",
                remedy="run the same command again: this is remembered, and the other backend is used from the start",
            )
        if self._vector_cache is not None:
            self._vector_cache.close()
            self._vector_cache = None

    @property
    def _cache(self) -> VectorCache:
        """The cache of the backend that is used."""
        if self._vector_cache is None:
            name = f"{folder_word(self.name)}-{self.fingerprint_sha256[:16]}"
            folder = self._cache_dir / "vectors" / name if self._used is None else self._used.folder
            if not folder.resolve().is_relative_to(self._cache_dir.resolve()):
                raise InputError(
                    f"the vector cache leads elsewhere: {folder}",
                    expected=f"a folder below {self._cache_dir}",
                    found=str(folder.resolve()),
                    remedy="if the link is your own, name the folder it leads to with --cache-dir; else find out whose",
                )
            key, self._key_note = own_key(self._cache_dir)
            if self._key_note:
                self._progress.note(self._key_note)
            seal = Seal(key, self.fingerprint_sha256)
            self._vector_cache = VectorCache(folder, self.stored_dims, seal, self.fingerprint)
        return self._vector_cache
