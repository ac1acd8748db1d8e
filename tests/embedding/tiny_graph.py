"""A graph as ONNX, written byte by byte: the package that writes such files is not among those that are installed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FLOAT, INT64 = 1, 7
"""Element types of ONNX."""


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    body = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _value(name: str, element: int, dims: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"{name}_{axis}")) for axis in range(dims))
    return _field(1, name) + _field(2, _field(1, _field(1, element) + _field(2, shape)))


def _node(kind: str, inputs: list[str], output: str) -> bytes:
    return b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind)


def graph(table: npt.NDArray[np.float32], *, inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """Return a model of two outputs: the mask as it was given, and the row of the table for each token."""
    raw = table.astype("<f4").tobytes()
    tensor = b"".join(_field(1, size) for size in table.shape) + _field(2, FLOAT) + _field(8, "table")
    body = [
        _field(1, _node("Identity", [inputs[1]], "seen")),
        _field(1, _node("Gather", ["table", inputs[0]], "states")),
        _field(2, "tiny"),
        _field(5, tensor + _field(9, raw)),
        *(_field(11, _value(name, INT64, 2)) for name in inputs),
        _field(12, _value("seen", INT64, 2)),
        _field(12, _value("states", FLOAT, 3)),
    ]
    return _field(1, 8) + _field(7, b"".join(body)) + _field(8, _field(1, "") + _field(2, 17))
