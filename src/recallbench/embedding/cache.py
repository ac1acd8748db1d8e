"""Vectors kept on disk: append-only, checksummed, sealed, memory-mapped, shared by processes that run at once.

Two files in a folder that belongs to one encoder fingerprint. `vectors.f32` holds rows of `dims` float32; `index` holds
one record per row, in the same order: 32 bytes key, true tokens, cut, CRC-32 of all of that and the row. A row counts
once both files hold it whole, so whatever a killed process left half-written at the end is overwritten by the next
append. A third file, `computed_with`, has a line for each set of library versions that rows were computed with.

A checksum tells damage, and no more: anyone who may write here can write a right one. So each user has a file of
seals too, `seals-<owner>`, 16 bytes per row in the same order, zeros where a row is not the user's: a keyed hash of
record and vector, which only who has the key can make. A row with its seal is the user's own. Any other is foreign, and
it is for the embedder to hold some of them against new ones before it uses any (`accept`).

Opening reads index and seals alone; a row is verified when it is first asked for, and what is handed out is verified
again, since whoever shares the folder may write to it at any moment.
"""

from __future__ import annotations

import errno
import fcntl
import hmac
import json
import mmap
import os
import stat
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Counts, Matrix
from recallbench.embedding.seal import SIZE, Seal
from recallbench.errors import InputError, RecallBenchError
from recallbench.scratch import replacing

RECORD = np.dtype([("key", "V32"), ("tokens", "<i4"), ("cut", "<i4"), ("crc", "<u4")])
KEY_BYTES = 32
HEAD_BYTES = RECORD.itemsize - 4
UNSEEN, OWN, FOREIGN, ACCEPTED = range(4)
UNRECORDED = "versions not recorded"
RELEASE_AFTER = 32 << 20
"""Mapped bytes read after which the pages are given back, so that a large cache doesn't count as the run's memory."""


class VectorCache:
    """The vectors of one encoder fingerprint by key (32 bytes)."""

    def __init__(
        self, folder: Path, dims: int, seal: Seal, about: Mapping[str, str] | None = None, computing_with: str = ""
    ) -> None:
        """`seal` makes and knows the rows of this user. `about` is written beside the vectors, for people: the
        fingerprint that the folder's name abbreviates. `computing_with` is what the rows appended here are computed
        with."""
        self.folder = folder
        self.corrupt = 0
        """Records met whose checksum did not hold; they are computed anew."""
        self._row_bytes = dims * 4
        self._dims = dims
        self._seal = seal
        self._computing_with = computing_with
        self._rows: dict[bytes, int] = {}
        self._records = np.zeros(0, RECORD)
        self._count = 0
        self._states = bytearray()
        self._seals = bytearray()
        """As the file has them; once a row was verified, what its seal is by this user's key."""
        self._map: mmap.mmap | None = None
        self._matrix: Matrix = np.zeros((0, dims), np.float32)
        self._touched = 0
        self._index = self._vectors = self._sealed = -1
        with self._closing(), self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            if about and not os.path.lexists(folder / "fingerprint.json"):
                with replacing(folder / "fingerprint.json") as draft:
                    draft.write_text(json.dumps(dict(about), indent=1) + "\n", encoding="utf-8")
            self._index = _opened(folder / "index")
            self._vectors = _opened(folder / "vectors.f32")
            self._sealed = _opened(folder / f"seals-{seal.owner}")
        self.refresh()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def computed_with(self) -> tuple[str, ...]:
        """What the rows of this folder were computed with, oldest first."""
        try:
            handle = _opened(self.folder / "computed_with", os.O_RDONLY)
        except FileNotFoundError:
            return (UNRECORDED,) if self._count else ()
        with os.fdopen(handle, encoding="utf-8", errors="replace") as file:
            return tuple(file.read().splitlines())

    def refresh(self) -> None:
        """Take in what other processes appended since."""
        # Not in the middle of an append: its rows may yet be taken back.
        with self._explained(), self._locked(fcntl.LOCK_SH):
            self._take_in()

    def _take_in(self) -> None:
        whole = self._whole()
        if whole < self._count:
            # Somebody cut the files: rows are numbered by their place, so what is known of them holds no longer.
            self._rows.clear()
            self._states.clear()
            self._seals.clear()
            self._matrix, self._map = np.zeros((0, self._dims), np.float32), None
            self._count = 0
        start = self._count * RECORD.itemsize
        tail = np.frombuffer(_read(self._index, start, whole * RECORD.itemsize - start), RECORD)
        self._adopt(tail, _read(self._sealed, self._count * SIZE, len(tail) * SIZE))

    def row(self, key: bytes) -> int | None:
        """The row kept under this key, own or foreign, verified; None if there is none or it is damaged."""
        row = self._rows.get(key)
        if row is None or self._states[row]:
            return row
        head, vector = self._records[row].tobytes(), self._mapped()[row].tobytes()
        seal = self._seal.of(head[:HEAD_BYTES], vector)
        place = slice(row * SIZE, (row + 1) * SIZE)
        own = hmac.compare_digest(seal, bytes(self._seals[place]))
        # A right seal says all that a checksum says.
        if not own and _checksum(head[:HEAD_BYTES], vector) != int(self._records[row]["crc"]):
            del self._rows[key]
            self.corrupt += 1
            return None
        self._states[row] = OWN if own else FOREIGN
        self._seals[place] = seal
        self._release(1)
        return row

    def state(self, row: int) -> int:
        """What a row that `row` gave is: OWN, FOREIGN, or ACCEPTED, which is foreign but good to use."""
        return self._states[row]

    def lot(self, row: int) -> bytes:
        """A number for drawing among rows that `row` gave: the same every time for this user and this row, and nothing
        that can be foreseen without the user's key."""
        return bytes(self._seals[row * SIZE : (row + 1) * SIZE])

    def accept(self, rows: Collection[int], proven: Sequence[int]) -> None:
        """Let these foreign rows be used as long as this cache is open; from now on the `proven` of them are own."""
        for row in rows:
            self._states[row] = ACCEPTED
        with self._explained(), self._locked(fcntl.LOCK_EX):
            if self._whole() < self._count:
                return  # cut meanwhile: these places may soon be other rows'
            for row in proven:
                _write(self._sealed, self.lot(row), row * SIZE)
                self._states[row] = OWN

    def tokens(self, rows: Sequence[int]) -> Counts:
        """True token count of each row's text."""
        return self._records["tokens"][np.asarray(rows, np.intp)].astype(np.int32)

    def cuts(self, rows: Sequence[int]) -> Counts:
        """The character of each row's text at which the encoder stops reading."""
        return self._records["cut"][np.asarray(rows, np.intp)].astype(np.int32)

    def vectors(self, rows: Sequence[int]) -> Matrix:
        """A copy of these rows, which `row` gave; refuses what was changed since it was verified."""
        places = np.asarray(rows, np.intp)
        taken: Matrix = self._mapped()[places]
        heads, vectors = self._records[places].tobytes(), taken.tobytes()
        for i, row in enumerate(rows):
            record, size = i * RECORD.itemsize, self._row_bytes
            head, vector = heads[record : record + HEAD_BYTES], vectors[i * size : (i + 1) * size]
            if self._seal.of(head, vector) != self.lot(row):
                raise RecallBenchError(
                    f"vectors changed in the cache while they were in use: {self.folder}",
                    expected="rows as they were when they were verified",
                    found=f"row {row} with other numbers",
                    remedy="find out what writes there, or name another folder with --cache-dir; "
                    "the folder is only a cache and may be deleted",
                )
        self._release(len(rows))
        return taken

    def append(self, keys: Sequence[bytes], tokens: Sequence[int], cuts: Sequence[int], vectors: Matrix) -> None:
        """Keep these as own rows; one that is own already, or accepted, stays as it is."""
        with self._explained(), self._locked(fcntl.LOCK_EX):
            self._take_in()
            new = [i for i, key in enumerate(keys) if (row := self.row(key)) is None or self._states[row] == FOREIGN]
            if not new:
                return
            block = np.ascontiguousarray(vectors[new], np.float32)
            records = np.zeros(len(new), RECORD)
            records["key"] = np.frombuffer(b"".join(keys[i] for i in new), "V32")
            records["tokens"] = [tokens[i] for i in new]
            records["cut"] = [cuts[i] for i in new]
            heads, rows = [one.tobytes()[:HEAD_BYTES] for one in records], [one.tobytes() for one in block]
            records["crc"] = [_checksum(head, row) for head, row in zip(heads, rows, strict=True)]
            seals = b"".join(self._seal.of(head, row) for head, row in zip(heads, rows, strict=True))
            self._record()
            whole = self._whole()
            # What a killed process left at the end of the index must not come to stand beside the new rows.
            os.ftruncate(self._index, whole * RECORD.itemsize)
            try:
                _write(self._vectors, block.tobytes(), whole * self._row_bytes)
                _write(self._sealed, seals, whole * SIZE)
                _write(self._index, records.tobytes(), whole * RECORD.itemsize)
            except BaseException:
                # Also on Ctrl-C: the next reader must not take half a block for whole rows.
                os.ftruncate(self._index, whole * RECORD.itemsize)
                raise
            self._adopt(records, seals)

    def close(self) -> None:
        """Let go of the files. May be called twice."""
        self._matrix = np.zeros((0, self._dims), np.float32)
        self._map = None
        for descriptor in (self._index, self._vectors, self._sealed):
            if descriptor >= 0:
                os.close(descriptor)
        self._index = self._vectors = self._sealed = -1

    def _record(self) -> None:
        known = self.computed_with
        if self._computing_with and self._computing_with not in known:
            # Before the rows, so that none is ever there without it; renamed, so that no line is ever torn.
            with replacing(self.folder / "computed_with") as draft:
                draft.write_text("".join(f"{line}\n" for line in (*known, self._computing_with)), encoding="utf-8")

    def _whole(self) -> int:
        """Rows that both files hold completely."""
        return min(os.fstat(self._index).st_size // RECORD.itemsize, os.fstat(self._vectors).st_size // self._row_bytes)

    def _adopt(self, records: npt.NDArray[np.void], seals: bytes) -> None:
        if self._count + len(records) > len(self._records):
            grown = np.zeros(max(1024, 2 * (self._count + len(records))), RECORD)
            grown[: self._count] = self._records[: self._count]
            self._records = grown
        self._records[self._count : self._count + len(records)] = records
        keys = records["key"].tobytes()
        for i in range(len(records)):
            # The last record of a key wins: it is there because an earlier one was found damaged, or was foreign.
            self._rows[keys[i * KEY_BYTES : (i + 1) * KEY_BYTES]] = self._count + i
        self._count += len(records)
        self._states.extend(bytes(len(records)))
        # Whoever has sealed no row behind these has a shorter file.
        self._seals.extend(seals.ljust(len(records) * SIZE, b"\0"))

    def _mapped(self) -> Matrix:
        if len(self._matrix) < self._count:
            self._map = mmap.mmap(self._vectors, self._count * self._row_bytes, prot=mmap.PROT_READ)
            self._matrix = np.frombuffer(self._map, np.float32).reshape(self._count, self._dims)
        return self._matrix

    def _release(self, rows: int) -> None:
        self._touched += rows * self._row_bytes
        if self._touched > RELEASE_AFTER and self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)
            self._touched = 0

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        fcntl.flock(self._index, how)
        try:
            yield
        finally:
            fcntl.flock(self._index, fcntl.LOCK_UN)

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecallBenchError(
                f"the vector cache can't be written: {self.folder}",
                found=str(error),
                remedy="free some space, make the folder writable, or name another folder with --cache-dir; "
                "what was embedded so far is kept",
            ) from error


def _opened(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """A file of the cache. Whoever shares it may put a link there to what is not theirs, or a pipe to wait for ever."""
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _no_file(path, "a link") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_file(path, "a pipe, device or folder")
    return handle


def _no_file(path: Path, found: str) -> InputError:
    return InputError(
        f"the vector cache is not as RecallBench makes it: {path}",
        expected="a file",
        found=found,
        remedy=f"find out who put it there; delete {path.parent}, which is only a cache, or name another one with "
        "--cache-dir",
    )


def _checksum(head: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(head))


def _read(descriptor: int, start: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.pread(descriptor, size, start)):
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


def _write(descriptor: int, body: bytes, start: int) -> None:
    view = memoryview(body)
    while view:
        written = os.pwrite(descriptor, view, start)
        view, start = view[written:], start + written
