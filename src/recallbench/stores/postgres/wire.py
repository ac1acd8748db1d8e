"""Postgres' binary format of bulk data: COPY rows, array parameters, arrays of hits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import repeat
from struct import Struct, pack
from typing import Any

import numpy as np

from recallbench.stores.store import Hit, Item, Matrix

HEADER = b"PGCOPY\n\xff\r\n\0" + pack(">ii", 0, 0)
TRAILER = pack(">h", -1)
NULL = pack(">i", -1)
INT4, INT8, TEXT, TIMESTAMPTZ = 23, 20, 25, 1184
INT4_ARRAY, INT8_ARRAY, TEXT_ARRAY, TIMESTAMPTZ_ARRAY = 1007, 1016, 1009, 1185
LARGEST = (1 << 63) - 1
"""The largest number of eight bytes."""
ARRAY_HEADER = 20
NUMBER_SIZE = 12
"""A value of eight bytes and its size before it."""
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
BLOCK = 1 << 20
PACKED = 256
"""Vectors that are brought into the server's form at a time."""

_FRONT = Struct(">hiqii")  # fields; size and value of id; size and value of scope
_NUMBER = Struct(">id")
_MOMENT = Struct(">iq")


def copy_blocks(items: Iterable[Item], matrix: Matrix) -> Iterator[bytes]:
    """COPY data of (id, scope, occurred_at, importance, text, embedding), in blocks of about a megabyte."""
    block = bytearray(HEADER)
    # Packed a few at a time: a scope of any size takes no more memory than its own matrix.
    vectors = (
        value for start in range(0, len(matrix), PACKED) for value in vector_values(matrix[start : start + PACKED])
    )
    for item, vector in zip(items, vectors, strict=True):
        block += _FRONT.pack(6, 8, item.id, 4, item.scope)
        block += NULL if item.occurred_at is None else _MOMENT.pack(8, microseconds(item.occurred_at))
        block += _NUMBER.pack(8, item.importance)
        block += _sized(_text(item.text))
        block += _sized(vector)
        if len(block) > BLOCK:
            yield bytes(block)
            block.clear()
    yield bytes(block + TRAILER)


def microseconds(moment: datetime) -> int:
    """Microseconds since 2000; a time without a zone is taken as UTC."""
    past = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH
    return (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds


def vector_values(matrix: Matrix) -> list[bytes]:
    """Each row as a value of pgvector's type."""
    rows, dims = matrix.shape
    packed = np.empty((rows, 4 + 4 * dims), np.uint8)
    packed[:, :4] = np.frombuffer(pack(">hh", dims, 0), np.uint8)
    packed[:, 4:] = np.ascontiguousarray(matrix, ">f4").view(np.uint8).reshape(rows, -1)
    return [row.tobytes() for row in packed]


def vector_array(matrix: Matrix, oid: int) -> bytes:
    """The rows as an array of vectors."""
    return _array(oid, vector_values(matrix))


def int4_array(numbers: Sequence[int]) -> bytes:
    """Return whole numbers as int4[]."""
    return _array(INT4, [pack(">i", number) for number in numbers])


def int8_array(numbers: Sequence[int]) -> bytes:
    """Return whole numbers as int8[]."""
    return _array(INT8, [pack(">q", number) for number in numbers])


def text_array(texts: Sequence[str]) -> bytes:
    """Texts as text[]; what Postgres can't hold (NUL, half a surrogate pair) becomes a space or a question mark."""
    return _array(TEXT, [_text(text) for text in texts])


def timestamp_array(moments: Sequence[datetime | None]) -> bytes:
    """Moments as timestamptz[]."""
    return _array(TIMESTAMPTZ, [None if at is None else pack(">q", microseconds(at)) for at in moments])


def hits(ids: bytes, scores: bytes) -> list[Hit]:
    """Two arrays as ranked hits."""
    # Every hit of every question passes here; as a loop it would take as long as the search itself.
    return list(map(tuple.__new__, repeat(Hit), zip(_values(ids, "q"), _values(scores, "d"), strict=True)))


def _text(text: str) -> bytes:
    return text.replace("\0", " ").encode("utf-8", "replace")


def _values(array: bytes, code: str) -> tuple[Any, ...]:
    # An empty array has no dimensions and so no elements; its header is shorter.
    number = max(0, len(array) - ARRAY_HEADER) // NUMBER_SIZE
    return _numbers(number, code).unpack_from(array, ARRAY_HEADER) if number else ()


@lru_cache(maxsize=1024)
def _numbers(number: int, code: str) -> Struct:
    return Struct(">" + f"4x{code}" * number)


def _array(oid: int, values: Sequence[bytes | None]) -> bytes:
    holes = any(value is None for value in values)
    parts = [pack(">iiIii", 1, holes, oid, len(values), 1)]
    parts += [NULL if value is None else _sized(value) for value in values]
    return b"".join(parts)


def _sized(value: bytes) -> bytes:
    return len(value).to_bytes(4, "big") + value
