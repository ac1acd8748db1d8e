"""A pack that is read: the header at once, the vectors as a stream, and nothing of it trusted until all was hashed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recallbench.embedding.cache_files import read_at
from recallbench.embedding.embedder import Counts, Embeddings, Matrix
from recallbench.embedding.packs.layout import LARGEST_HEADER, header_of, read_header, refusal, rows_at_once, tensors_of
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.vector_cache import KEY_BYTES
from recallbench.errors import InputError
from recallbench.reading import regular, state


@dataclass(frozen=True, slots=True)
class PackBlock:
    """Some rows of a pack, one for each text."""

    first: int
    """The number of the first, from 0."""
    keys: list[bytes]
    tokens: Counts
    cuts: Counts
    vectors: Matrix


class PackFile:
    """An open pack; that it is as it was made is proven once `blocks` was read to its end."""

    def __init__(self, path: Path) -> None:
        """Raises InputError for a file that does not begin as a pack, or is not as long as its manifest says."""
        self.path = path
        try:
            # Links are for whoever keeps packs to set: the file they lead to is what is read.
            self._file = regular(path.resolve()).open("rb", buffering=0)
        except OSError as error:
            raise InputError(f"{path} can't be read", found=error.strerror or str(error)) from error
        try:
            self._state = os.fstat(self._file.fileno())
            beginning = os.pread(self._file.fileno(), LARGEST_HEADER + 8, 0)
            self.manifest: PackManifest = read_header(path, beginning, self._state.st_size)
            header = header_of(self.manifest)
            self._start = len(header)
            self._hash = hashlib.sha256(header)
            texts, tokens, cuts = self._small_tensors()
            self.keys: npt.NDArray[np.uint8] = np.frombuffer(texts, np.uint8).reshape(-1, KEY_BYTES)
            """The hash of each text, a row each."""
            self._behind = texts + tokens + cuts
            self._tokens, self._cuts = (np.frombuffer(part, "<i4").astype(np.int32) for part in (tokens, cuts))
            self._check_counts()
        except BaseException:
            self._file.close()
            raise
        self.sha256 = ""
        """Of the whole file, once `blocks` came to its end."""

    def __enter__(self) -> PackFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. May be called twice."""
        self._file.close()

    def blocks(self) -> Iterator[PackBlock]:
        """Yield all rows in order, once; raises InputError at the end where the file is not as its manifest has it."""
        manifest, hashed = self.manifest, hashlib.sha256()
        vectors, *_ = tensors_of(manifest.texts, manifest.dims)
        at_once = rows_at_once(manifest.dims)
        for first in range(0, manifest.texts, at_once):
            count = min(at_once, manifest.texts - first)
            body = self._read(vectors.start + first * manifest.dims * 4, count * manifest.dims * 4)
            hashed.update(body)
            self._hash.update(body)
            block = np.frombuffer(body, "<f4").reshape(count, manifest.dims)
            with np.errstate(all="ignore"):
                lengths = np.linalg.norm(block, axis=1)
            if not (np.isfinite(lengths) & (lengths > 0)).all():
                raise refusal(self.path, "a vector that can't be compared with another: zeros, NaN or infinity")
            rows = slice(first, first + count)
            keys = [key.tobytes() for key in self.keys[rows]]
            yield PackBlock(first, keys, self._tokens[rows], self._cuts[rows], block)
        if hashed.hexdigest() != manifest.tensors.vectors:
            raise refusal(self.path, f"vectors with the sha256 {hashed.hexdigest()}, the manifest has another")
        self.refuse_change()
        self._hash.update(self._behind)
        self.sha256 = self._hash.hexdigest()

    def refuse_change(self) -> None:
        """Raise InputError where the file is no longer the one that was opened."""
        with suppress(OSError):
            if state(self.path.resolve()) == (self._state.st_size, self._state.st_mtime_ns, self._state.st_ino):
                return
        raise refusal(self.path, "it changed while it was being read")

    def embeddings(self, rows: Sequence[int]) -> Embeddings:
        """Return what the pack has of these texts."""
        size = self.manifest.dims * 4
        bodies = b"".join(self._read(row * size, size) for row in rows)
        vectors = np.frombuffer(bodies, "<f4").reshape(len(rows), self.manifest.dims)
        return Embeddings(vectors, self._tokens[list(rows)], self._cuts[list(rows)])

    def _small_tensors(self) -> Iterator[bytes]:
        for tensor in tensors_of(self.manifest.texts, self.manifest.dims)[1:]:
            body = self._read(tensor.start, tensor.end - tensor.start)
            found = hashlib.sha256(body).hexdigest()
            if found != getattr(self.manifest.tensors, tensor.name):
                raise refusal(self.path, f"{tensor.name} with the sha256 {found}, the manifest has another")
            yield body

    def _check_counts(self) -> None:
        # The hashes hold: whoever made the pack made it so.
        if len({key.tobytes() for key in self.keys}) != self.manifest.texts:
            raise refusal(self.path, "texts that are there twice")
        if min(self._tokens.min(), self._cuts.min()) < 0:
            raise refusal(self.path, "a count below 0")

    def _read(self, start: int, size: int) -> bytes:
        body = read_at(self._file.fileno(), self._start + start, size)
        if len(body) != size:
            raise refusal(self.path, "fewer bytes than a moment ago")
        return body
