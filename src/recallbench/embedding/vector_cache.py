"""Vectors on disk: append-only, checksummed, sealed, shared by processes that run at once.

Two files in a folder that belongs to one encoder fingerprint. `vectors.f32` holds rows of `dims` float32; `index` holds
one record per row, in the same order: 32 bytes key, true tokens, cut, CRC-32 of all of that and the row. A row counts
once both files hold it whole, so whatever a killed process left half-written at the end is overwritten by the next
append. A third file, `computed_with`, has a line for each set of library versions that rows were computed with.

A checksum tells damage, and no more: anyone who may write here can write a right one. So each user has a file of
seals too, `seals-<owner>`, 16 bytes per row in the same order, zeros where a row is not the user's: a keyed hash of
record and vector, which only who has the key can make. A row with its seal is the user's own. Any other is foreign, and
the embedder compares some of them with new ones before it uses any (`accept`).

Opening reads the index alone; a row is verified when it is first looked up, and what is returned is verified again,
since whoever shares the folder may write to it at any moment. Of each row a few bytes are held: where it stands, its
counts, and once it was verified enough of its seal to know it again. A corpus of 100,000 texts takes 3 MB.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recallbench.embedding.cache_files import open_cache_file, read_at, write_at
from recallbench.embedding.embedder import Counts, Matrix
from recallbench.embedding.own_key import SEAL_LENGTH, Seal
from recallbench.errors import RecallBenchError
from recallbench.key_numbers import KeyNumbers
from recallbench.whole_file import write_errors, write_whole

RECORD = np.dtype([("key", "V32"), ("tokens", "<i4"), ("cut", "<i4"), ("crc", "<u4")])
KEY_BYTES = 32
HEAD_BYTES = RECORD.itemsize - 4
HELD_SEAL = 8
"""Bytes of a verified row's seal that are held: by chance one of 2**64 other rows has them, and nobody can look for
one without the key."""
UNRECORDED = "versions not recorded"
AT_ONCE = 16_384
"""Records that are read at a time."""


class RowState(IntEnum):
    """The trust in a cached row."""

    UNVERIFIED = 0
    OWN = 1
    FOREIGN = 2
    ACCEPTED = 3
    """Foreign, but good to use in this run."""


class VectorCache:
    """The vectors of one encoder fingerprint by key (32 bytes)."""

    def __init__(
        self, folder: Path, dims: int, seal: Seal, about: Mapping[str, str] | None = None, computation: str = ""
    ) -> None:
        """`seal` makes and knows the rows of this user. `about` is written beside the vectors, for people: the
        fingerprint that the folder's name abbreviates."""
        self.folder = folder
        self.corrupt = 0
        """Records with a wrong checksum; they are computed anew."""
        self._row_bytes = dims * 4
        self._dims = dims
        self._seal = seal
        self.computation = computation
        """What the rows appended from now on are computed with; empty where that is written down already."""
        self._rows = KeyNumbers()
        self._tokens, self._cuts = array("i"), array("i")
        self._states = bytearray()
        self._seals = bytearray()
        """How the seal of each verified row begins, as this user's key makes it."""
        self._index = self._vectors = self._sealed = -1
        with self._disk_errors():
            folder.mkdir(parents=True, exist_ok=True)
            if about and not os.path.lexists(folder / "fingerprint.json"):
                write_whole(folder / "fingerprint.json", json.dumps(dict(about), indent=1) + "\n")
            self._index = open_cache_file(folder / "index")
            self._vectors = open_cache_file(folder / "vectors.f32")
            self._sealed = open_cache_file(folder / f"seals-{seal.owner}")
        self.refresh()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _count(self) -> int:
        return len(self._states)

    @property
    def computed_with(self) -> tuple[str, ...]:
        """The computations that gave the rows of this folder, oldest first."""
        try:
            descriptor = open_cache_file(self.folder / "computed_with", os.O_RDONLY)
        except FileNotFoundError:
            return (UNRECORDED,) if self._count else ()
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            return tuple(file.read().splitlines())

    def refresh(self) -> None:
        """Read what other processes appended since."""
        # Not in the middle of an append: its rows may yet be taken back.
        with self._disk_errors(), self._locked(fcntl.LOCK_SH):
            self._read_appended()

    def _read_appended(self) -> None:
        count = self._complete_rows()
        while self._count < count:
            rows = min(count - self._count, AT_ONCE)
            tail = read_at(self._index, self._count * RECORD.itemsize, rows * RECORD.itemsize)
            self._index_rows(np.frombuffer(tail, RECORD))

    def row(self, key: bytes) -> int | None:
        """Return the row of this key, own or foreign, verified; None if there is none or it is damaged."""
        row = self._rows.get(key)
        if row is None:
            return None
        head, crc = self._record(row)
        if head[:KEY_BYTES] != key:
            return None
        if self._states[row]:
            return row
        vector = self._vector(row)
        seal = self._seal.of(head, vector)
        # Whoever has sealed no row behind this one has a shorter file.
        own = hmac.compare_digest(seal, os.pread(self._sealed, SEAL_LENGTH, row * SEAL_LENGTH))
        # A right seal says all that a checksum says.
        if not own and _checksum(head, vector) != int.from_bytes(crc, "little"):
            self._rows.remove(key)
            self.corrupt += 1
            return None
        self._states[row] = RowState.OWN if own else RowState.FOREIGN
        self._tokens[row], self._cuts[row] = np.frombuffer(head, "<i4", offset=KEY_BYTES).tolist()
        self._seals[row * HELD_SEAL : (row + 1) * HELD_SEAL] = seal[:HELD_SEAL]
        return row

    def usable_row(self, key: bytes) -> int | None:
        """Return the row of this key if it is own or accepted."""
        row = self.row(key)
        return None if row is None or self._states[row] == RowState.FOREIGN else row

    def state(self, row: int) -> RowState:
        """Return the trust in a row that `row` gave."""
        return RowState(self._states[row])

    def seal(self, row: int) -> bytes:
        """Return how the seal of a row that `row` gave begins: the same every time for this user and this row, and
        nothing that can be foreseen without the user's key."""
        return bytes(self._seals[row * HELD_SEAL : (row + 1) * HELD_SEAL])

    def accept(self, rows: Collection[int], proven: Sequence[int]) -> None:
        """Let these foreign rows be used as long as this cache is open; from now on the `proven` of them are own."""
        for row in rows:
            self._states[row] = RowState.ACCEPTED
        with self._disk_errors(), self._locked(fcntl.LOCK_EX):
            self._complete_rows()
            for row in proven:
                write_at(self._sealed, self._unchanged(row)[1], row * SEAL_LENGTH)
                self._states[row] = RowState.OWN

    def tokens(self, rows: Sequence[int]) -> Counts:
        """Return the true token count of each row's text."""
        return np.asarray(self._tokens, np.int32)[np.asarray(rows, np.intp)]

    def cuts(self, rows: Sequence[int]) -> Counts:
        """Return the character of each row's text at which the encoder stops reading."""
        return np.asarray(self._cuts, np.int32)[np.asarray(rows, np.intp)]

    def vectors(self, rows: Sequence[int]) -> Matrix:
        """Return a copy of these rows, which `row` gave; refuses what was changed since it was verified."""
        copied: Matrix = np.empty((len(rows), self._dims), np.float32)
        for place, row in enumerate(rows):
            copied[place] = np.frombuffer(self._unchanged(row)[0], np.float32)
        return copied

    def _unchanged(self, row: int) -> tuple[bytes, bytes]:
        """Return the vector of a row and its seal; refuses what was changed since it was verified."""
        vector = self._vector(row)
        seal = self._seal.of(self._record(row)[0], vector)
        if seal[:HELD_SEAL] != self.seal(row):
            raise self._changed_error(f"row {row} with other numbers")
        return vector, seal

    def _record(self, row: int) -> tuple[bytes, bytes]:
        """Return the record of a row, as it is now: what the seal is over, and the checksum."""
        record = self._part(self._index, row, RECORD.itemsize)
        return record[:HEAD_BYTES], record[HEAD_BYTES:]

    def _vector(self, row: int) -> bytes:
        return self._part(self._vectors, row, self._row_bytes)

    def _part(self, descriptor: int, row: int, size: int) -> bytes:
        # Mapped, the pages around each row would count as the run's memory, and a file that is cut would end it.
        part = os.pread(descriptor, size, row * size)
        if len(part) < size:
            raise self._changed_error(f"row {row} cut off")
        return part

    def append(self, keys: Sequence[bytes], tokens: Sequence[int], cuts: Sequence[int], vectors: Matrix) -> None:
        """Append these as own rows; one that is own already, or accepted, stays as it is."""
        with self._disk_errors(), self._locked(fcntl.LOCK_EX):
            self._read_appended()
            new = [
                i
                for i, key in enumerate(keys)
                if (row := self.row(key)) is None or self._states[row] == RowState.FOREIGN
            ]
            if not new:
                return
            block = np.ascontiguousarray(vectors[new], np.float32)
            records = np.zeros(len(new), RECORD)
            records["key"] = np.frombuffer(b"".join(keys[i] for i in new), "V32")
            records["tokens"] = [tokens[i] for i in new]
            records["cut"] = [cuts[i] for i in new]
            heads, rows = [record.tobytes()[:HEAD_BYTES] for record in records], [vector.tobytes() for vector in block]
            records["crc"] = [_checksum(head, row) for head, row in zip(heads, rows, strict=True)]
            seals = b"".join(self._seal.of(head, row) for head, row in zip(heads, rows, strict=True))
            self._note_computation()
            count = self._count
            # What a killed process left at the end of the index must not come to stand beside the new rows.
            os.ftruncate(self._index, count * RECORD.itemsize)
            try:
                write_at(self._vectors, block.tobytes(), count * self._row_bytes)
                write_at(self._sealed, seals, count * SEAL_LENGTH)
                write_at(self._index, records.tobytes(), count * RECORD.itemsize)
            except BaseException:
                # Also on Ctrl-C: the next reader must not take half a block for whole rows.
                os.ftruncate(self._index, count * RECORD.itemsize)
                raise
            self._index_rows(records)

    def close(self) -> None:
        """Release the files. May be called twice."""
        for descriptor in (self._index, self._vectors, self._sealed):
            if descriptor >= 0:
                os.close(descriptor)
        self._index = self._vectors = self._sealed = -1

    def _note_computation(self) -> None:
        known = self.computed_with
        if self.computation and self.computation not in known:
            # Before the rows, so that none is ever there without it; renamed, so that no line is ever torn.
            write_whole(self.folder / "computed_with", "".join(f"{line}\n" for line in (*known, self.computation)))

    def _complete_rows(self) -> int:
        """Count the rows that both files hold completely; refuses files that were cut, whose rows are renumbered."""
        records, vectors = os.fstat(self._index).st_size, os.fstat(self._vectors).st_size
        count = min(records // RECORD.itemsize, vectors // self._row_bytes)
        if count < self._count:
            raise self._changed_error(f"{count} of {self._count} rows")
        return count

    def _index_rows(self, records: npt.NDArray[np.void]) -> None:
        # The last record of a key wins: it is there because an earlier one was found damaged, or was foreign.
        if len(records) < AT_ONCE:
            self._rows.update([key.tobytes() for key in records["key"]], range(self._count, self._count + len(records)))
        else:
            beginnings = np.ascontiguousarray(records["key"]).view("<u8").reshape(len(records), -1)[:, 0]
            self._rows.update_many(beginnings, self._count)
        self._states.extend(bytes(len(records)))
        self._seals.extend(bytes(len(records) * HELD_SEAL))
        for counts in (self._tokens, self._cuts):
            counts.frombytes(bytes(len(records) * counts.itemsize))

    def _changed_error(self, found: str) -> RecallBenchError:
        return RecallBenchError(
            f"vectors changed in the cache while they were in use: {self.folder}",
            expected="rows as they were when they were verified",
            found=found,
            remedy="find out what writes there, or name another folder with --cache-dir; "
            "the folder is only a cache and may be deleted",
        )

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        fcntl.flock(self._index, how)
        try:
            yield
        finally:
            fcntl.flock(self._index, fcntl.LOCK_UN)

    def _disk_errors(self) -> AbstractContextManager[None]:
        return write_errors(
            f"the vector cache can't be written: {self.folder}",
            remedy="free some space, make the folder writable, or name another folder with --cache-dir; "
            "what was embedded so far is kept",
            kind=RecallBenchError,
        )


def _checksum(head: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(head))
