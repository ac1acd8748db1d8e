"""A pack that is written: the vectors of a corpus, in the order in which a run uses them first."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from recallbench.corpora.records import Haystack
from recallbench.embedding.embedder import Embedder, Embeddings
from recallbench.embedding.encoders import Role
from recallbench.embedding.fingerprint import is_one_sided, text_key
from recallbench.embedding.packs.layout import UNKNOWN, header_length, header_of, rows_at_once
from recallbench.embedding.packs.manifest import PackManifest, TensorHashes
from recallbench.errors import InputError
from recallbench.progress import Progress
from recallbench.whole_file import draft_of

Haystacks = Callable[[], Iterable[Haystack]]


@dataclass(frozen=True, slots=True)
class PackedCorpus:
    """What a pack is made of, and who makes it."""

    corpus: str
    dataset_sha256: str
    max_tokens: int | None
    """The length that was asked for."""
    maker: str
    machine: str
    made: str
    release: str


def texts_by_role(haystack: Haystack) -> tuple[tuple[Role, list[str]], ...]:
    """Return the texts of a haystack as a run embeds them: its segments, then its questions."""
    passages = [segment.text for segment in haystack.segments]
    return ("passage", passages), ("query", [question.text for question in haystack.questions])


def write_pack(
    path: Path, haystacks: Haystacks, embedder: Embedder, of: PackedCorpus, progress: Progress
) -> PackManifest:
    """Write the vectors of these haystacks, each of which was ensured, and return the manifest.

    The file is whole or absent. No more than a block of vectors is in memory.
    """
    one_sided = is_one_sided(embedder.fingerprint)
    rows = _numbered(haystacks(), one_sided)
    manifest = PackManifest(
        encoder=embedder.name,
        max_tokens=of.max_tokens,
        fingerprint=dict(embedder.fingerprint),
        fingerprint_sha256=embedder.fingerprint_sha256,
        corpus=of.corpus,
        dataset_sha256=of.dataset_sha256,
        texts=len(rows),
        dims=embedder.stored_dims,
        vectors_sha256="0" * 64,
        tensors=UNKNOWN,
        computed_with=list(embedder.report().computed_with),
        maker=of.maker,
        machine=of.machine,
        made=of.made,
        release=of.release,
    )
    if faults := list(manifest.faults()):
        raise InputError(
            f"vectors of {embedder.name} can't be packed",
            expected="a fingerprint that can be shown as it is",
            found="; ".join(faults),
            remedy="mend what the encoder states of itself, its settings for one",
        )
    with (
        draft_of(path, overwrite=False) as draft,
        draft.open("wb") as file,
        progress.stage("packing", len(rows), "texts") as advance,
    ):
        file.seek(header_length(manifest))
        at_once = rows_at_once(manifest.dims)
        writer = _Writer(file, rows, one_sided)
        for haystack in haystacks():
            for role, texts in texts_by_role(haystack):
                for start in range(0, len(texts), at_once):
                    block = texts[start : start + at_once]
                    advance(writer.take(block, role, embedder.lookup(block, role)))
        manifest = manifest.model_copy(update=writer.finish())
        file.seek(0)
        file.write(header_of(manifest))
        file.flush()
        os.fsync(file.fileno())
    return manifest


class _Writer:
    """Writes the vector of each text when the text is met first, and hashes them all as a run uses them."""

    def __init__(self, file: BinaryIO, rows: dict[bytes, int], one_sided: bool) -> None:
        self._file, self._rows, self._one_sided = file, rows, one_sided
        self._written = 0
        self._used, self._vectors = hashlib.sha256(), hashlib.sha256()
        self._tokens, self._cuts = np.zeros(len(rows), "<i4"), np.zeros(len(rows), "<i4")

    def take(self, texts: Sequence[str], role: Role, found: Embeddings) -> int:
        """Write those that are new, and return how many they are."""
        self._used.update(found.vectors.tobytes())
        new: list[int] = []
        for place, text in enumerate(texts):
            if self._rows[text_key(text, role, place, one_sided=self._one_sided)] == self._written + len(new):
                new.append(place)
        body = np.ascontiguousarray(found.vectors[new], "<f4").tobytes()
        rows = slice(self._written, self._written + len(new))
        self._tokens[rows], self._cuts[rows] = found.tokens[new], found.cut[new]
        self._vectors.update(body)
        self._file.write(body)
        self._written += len(new)
        return len(new)

    def finish(self) -> dict[str, object]:
        """Write what stands behind the vectors, and return the hashes of the manifest."""
        parts = {"texts": b"".join(self._rows), "tokens": self._tokens.tobytes(), "cuts": self._cuts.tobytes()}
        for part in parts.values():
            self._file.write(part)
        hashes = {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()}
        return {
            "vectors_sha256": self._used.hexdigest(),
            "tensors": TensorHashes(vectors=self._vectors.hexdigest(), **hashes),
        }


def _numbered(haystacks: Iterable[Haystack], one_sided: bool) -> dict[bytes, int]:
    """Return the row of each distinct text by its key, in the order in which they are met."""
    rows: dict[bytes, int] = {}
    for haystack in haystacks:
        for role, texts in texts_by_role(haystack):
            for place, text in enumerate(texts):
                rows.setdefault(text_key(text, role, place, one_sided=one_sided), len(rows))
    return rows
