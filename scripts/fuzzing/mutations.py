"""Seeded changes to the bytes of a file: to its bytes, its lines, its words, and what its JSON says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

DEEP = 20_000
SCALARS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"nan", b"inf", b"1e999", b"-1e999", b"1e-999", b"9" * 400, b"-0.0", b"0"),
    *(b"-1", b"1", b"2147483648", b"9223372036854775808", b"0.1", b"true", b"false", b"null", b'""', b"''", b"{}"),
    *(
        b"[]",
        b'"\\ud800"',
        b'"\\u0000"',
        b'"\xff"',
        b'"../../etc/passwd"',
        b'"/dev/zero"',
        b"9999-12-31",
        b"0001-01-01",
    ),
    *(b'"2026-13-45"', b'"24:00 on 31 February, 2023"', b'"\xe2\x80\xae\x1b[2J"', b"#", b"=", b'"a\\nb"', b"1_000"),
)
"""What may stand where a value stands."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", "a", "\x00", "\ud800", "\x1b[2J", "../x", "/dev/zero", "1", "2026-01-01", "9999-12-31T23:59:59Z", "x" * 5000),
    *([], [[]], [None], ["a", "a"], {}, {"": None}, {"a": {"b": []}}, [1, "a", None, {}]),
)
TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|[A-Za-z_][\w@./:-]*')


def mutated(data: bytes, rng: Random) -> bytes:
    """Return the bytes with one to three changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(CHANGES)
        data = change(data, rng)
    return data


def _flip(data: bytes, rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 40))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _span(data: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 1024)))


def _delete(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _double(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: Random) -> bytes:
    start, _ = _span(data, rng)
    what = rng.choice(
        (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\t", b'"', b"\\")
    )
    return data[:start] + what + data[start:]


def _whole(data: bytes, rng: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return rng.choice(
        (
            lambda: b"",
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: data.rstrip(b"\n"),
            lambda: data + data,
            lambda: text.encode("utf-16"),
            lambda: data.replace(b"\n", b" "),
            lambda: b"\n" * 1000,
            lambda: bytes(rng.randrange(256) for _ in range(200)),
            lambda: rng.choice(
                (b"[]", b"{}", b"null", b"0", b'""', b"[" * DEEP, b'{"a":' * DEEP, b"a = " + b"[" * DEEP)
            ),
        )
    )()


def _lines(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[first]
    elif kind == 1:
        lines.insert(second, lines[first])
    elif kind == 2:
        lines[first], lines[second] = lines[second], lines[first]
    elif kind == 3:
        lines.insert(first, b"\n")
    else:
        lines[first] = b"x" * 100_000 + b"\n"
    return b"".join(lines)


def _token(data: bytes, rng: Random) -> bytes:
    found = list(TOKEN.finditer(data[:200_000]))
    if not found:
        return data
    chosen = rng.choice(found)
    other = rng.choice((rng.choice(SCALARS), rng.choice(SCALARS), rng.choice(found)[0], b"[" * DEEP, b"x" * 70_000))
    return data[: chosen.start()] + other + data[chosen.end() :]


def _field(data: bytes, rng: Random) -> bytes:
    """Change a field of a line whose fields stand behind each other, as in TREC, TSV and CSV."""
    lines = data.splitlines()
    if not lines:
        return data
    number = rng.randrange(len(lines))
    parts = re.split(rb"([\t ,;]+)", lines[number])
    place = rng.randrange(len(parts))
    parts[place] = rng.choice((b"", rng.choice(SCALARS), rng.choice(parts), b"\t", b" ", b'"'))
    lines[number] = b"".join(parts)
    return b"\n".join(lines) + b"\n"


def _key_twice(data: bytes, rng: Random) -> bytes:
    found = list(re.finditer(rb'"[^"\\\n]*"\s*:\s*', data[:200_000]))
    if not found:
        return data
    chosen = rng.choice(found)
    return data[: chosen.start()] + chosen[0] + rng.choice(SCALARS) + b", " + data[chosen.start() :]


def _json(data: bytes, rng: Random) -> bytes:
    """Change what a document, or one line of it, says: another value, a field gone, renamed or moved."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        return _said(_altered(json.loads(text), rng))
    except (ValueError, RecursionError, OverflowError):
        pass
    lines = text.splitlines()
    if not lines:
        return data
    number = rng.randrange(len(lines))
    try:
        lines[number] = _said(_altered(json.loads(lines[number]), rng)).decode("utf-8", "surrogateescape")
    except (ValueError, RecursionError, OverflowError):
        return _token(data, rng)
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _said(value: Any) -> bytes:
    return json.dumps(value).encode()


def _altered(document: Any, rng: Random) -> Any:
    places = list(_places(document))
    if not places:
        return rng.choice(VALUES)
    inside, key = rng.choice(places)
    kind = rng.randrange(8)
    if kind == 0 and isinstance(inside, (dict, list)):
        del inside[key]
    elif kind == 1 and isinstance(inside, dict):
        inside[f"{key}{rng.choice(('', ' ', 'x', '@10'))}x"] = inside.pop(key)
    elif kind == 2:
        other, place = rng.choice(places)
        if other is not inside and other[place] is not inside and not _holds(inside[key], other):
            inside[key], other[place] = other[place], inside[key]
            if _endless(document):
                return None
    elif kind == 3 and isinstance(inside, list):
        inside.insert(key, inside[key])
    elif kind == 4 and isinstance(inside[key], (int, float)) and not isinstance(inside[key], bool):
        inside[key] = rng.choice((-inside[key], inside[key] + 1, inside[key] * 1e6, str(inside[key]), [inside[key]]))
    else:
        inside[key] = rng.choice(VALUES)
    return document


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    pending = [document]
    while pending:
        inside = pending.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
        for key in keys:
            yield inside, key
            pending.append(inside[key])


def _holds(value: Any, part: Any) -> bool:
    return value is part or any(inside is part for inside, _ in _places(value))


def _endless(document: Any) -> bool:
    try:
        json.dumps(document)
    except (ValueError, RecursionError, OverflowError):
        return True
    return False


CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_flip, _delete, _double, _truncate, _insert, _whole, _lines, _key_twice),
    *(_token, _token, _field, _field),
    *(_json, _json, _json, _json, _json),
)
