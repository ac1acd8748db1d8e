"""The packs that lie in the vector cache, each in a folder of its own, and how one gets there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from recallbench.corpora.labelled_sets.set_name import folder_word
from recallbench.embedding.options import Backend
from recallbench.embedding.own_key import Seal, own_key
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.pack_file import PackFile
from recallbench.embedding.packs.record import NAME, AgreedTexts, PackRecord, PackSignature, read_record, write_record
from recallbench.embedding.vector_cache import RowState, VectorCache
from recallbench.errors import Blocked, RecallBenchError
from recallbench.progress import Progress
from recallbench.scratch import scratch
from recallbench.whole_file import write_errors, write_whole


@dataclass(frozen=True, slots=True)
class UsedPack:
    """A pack in the cache."""

    folder: Path
    record: PackRecord

    @property
    def manifest(self) -> PackManifest:
        return self.record.manifest

    @property
    def words(self) -> str:
        """The pack for whoever reads of it."""
        told = self.manifest
        return f"a pack that {told.maker} made on {told.made} ({told.machine}), sha256 {self.record.sha256[:12]}…"


def used_packs(cache_dir: Path, encoder: str, max_tokens: int | None) -> list[UsedPack]:
    """Return the packs of this encoder that this user put into the cache, the one that was used last first."""
    folders = [path.parent for path in (cache_dir / "vectors").glob(f"*/{NAME}")]
    if not folders:
        return []
    seal_of = partial(Seal, own_key(cache_dir)[0])
    found = [UsedPack(folder, record) for folder in folders if (record := read_record(folder, seal_of)) is not None]
    alike = [one for one in found if (one.manifest.encoder, one.manifest.max_tokens) == (encoder, max_tokens)]
    return sorted(alike, key=lambda one: -one.record.used)


def choose_pack(packs: Sequence[UsedPack], dataset_sha256: str, backend: Backend) -> UsedPack | None:
    """Return the pack of this corpus that was used last; none where its user asks for vectors of another engine."""
    for one in packs:
        runtime = one.manifest.fingerprint["backend"].partition("/")[0]
        asked_otherwise = backend != "auto" and runtime in get_args(Backend) and runtime != backend
        if one.manifest.dataset_sha256 == dataset_sha256 and not asked_otherwise:
            return one
    return None


def use_pack(
    pack: PackFile,
    cache_dir: Path,
    progress: Progress,
    examine: Callable[[], tuple[AgreedTexts | None, PackSignature | None]],
) -> UsedPack:
    """Put the vectors of a pack into the cache, with the record of what `examine` finds; all of it or nothing.

    `examine` is called once the file was hashed to its end, and raises what speaks against the pack.
    """
    key, note = own_key(cache_dir)
    if note:
        raise Blocked(
            "a pack can't be used without a key of your own",
            expected="a folder for settings that may be written to",
            found=note,
            remedy="make that folder writable, or name another one with XDG_CONFIG_HOME",
        )
    manifest = pack.manifest
    seal = Seal(key, manifest.fingerprint_sha256)
    vectors = cache_dir / "vectors"
    remedy = "free some space, make the folder writable, or name another one with --cache-dir"
    with write_errors(f"the vector cache can't be written: {vectors}", remedy=remedy, kind=RecallBenchError):
        vectors.mkdir(parents=True, exist_ok=True)
        with scratch(vectors) as room:
            draft = room / "pack"
            _fill(draft, pack, seal, progress)
            comparison, signature = examine()
            texts, cosine = comparison or (0, None)
            record = PackRecord(
                manifest=manifest,
                sha256=pack.sha256,
                compared=texts,
                cosine=cosine,
                signature=signature,
                used=time.time_ns(),
            )
            name = f"{folder_word(manifest.encoder)}-{manifest.fingerprint_sha256[:16]}-{pack.sha256[:16]}-{seal.owner}"
            place = vectors / name
            if _is_whole(place, pack, seal):
                write_record(place, record, seal)
            else:
                write_record(draft, record, seal)
                _put(draft, place, room)
    return UsedPack(place, record)


def _fill(folder: Path, pack: PackFile, seal: Seal, progress: Progress) -> None:
    manifest = pack.manifest
    with (
        closing(VectorCache(folder, manifest.dims, seal, manifest.fingerprint)) as cache,
        progress.stage("reading the pack", manifest.texts, "texts") as advance,
    ):
        write_whole(folder / "computed_with", "".join(f"{line}\n" for line in manifest.computed_with))
        for block in pack.blocks():
            cache.append(block.keys, block.tokens.tolist(), block.cuts.tolist(), block.vectors)
            advance(len(block.keys))


def _is_whole(folder: Path, pack: PackFile, seal: Seal) -> bool:
    """Whether the folder has the rows of the pack in their places, each with the user's seal."""
    if not (folder / NAME).is_file():
        return False
    with closing(VectorCache(folder, pack.manifest.dims, seal)) as cache:
        rows = (cache.row(key.tobytes()) for key in pack.keys)
        return all(row == place and cache.state(place) == RowState.OWN for place, row in enumerate(rows))


def _put(draft: Path, place: Path, room: Path) -> None:
    if place.exists():
        os.rename(place, room / "damaged")
    os.rename(draft, place)


def names_of(packs: Sequence[UsedPack]) -> str:
    """Return what these packs hold, in words."""
    told = [one.manifest for one in packs]
    return "; ".join(f"{of.corpus} ({of.fingerprint['backend']}), sha256 {of.dataset_sha256}" for of in told)
