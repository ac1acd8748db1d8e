"""Untrusted files, read carefully: regular, inside their folder, bounded, UTF-8, unchanged meanwhile."""

from __future__ import annotations

import json
import math
import os
import shlex
import stat
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from recallbench.errors import InputError

LONGEST_LINE = 1 << 25
"""32 MB: a ranking of 50 whole sessions with their text has less than one."""
LARGEST_DOCUMENT = 1 << 27
DEEPEST_TABLE = 50
"""Tables and lists inside each other; no settings of ours have more than five."""
NESTED = "brackets nested without end"

State = tuple[int, int, int]


def regular(path: Path, folder: Path | None = None) -> Path:
    """The path, if it is a file whose links stay inside `folder`; raises InputError otherwise, before it is opened."""
    folder = path.parent if folder is None else folder
    try:
        real = path.resolve(strict=True)
        if path.is_symlink() and not real.is_relative_to(folder.resolve()):
            raise _refusal(path, "a file of the folder", f"a link that leaves it, to {real.name}")
        if not stat.S_ISREG(real.stat().st_mode):
            # Opening a pipe would wait for ever.
            raise _refusal(path, "a regular file", "a folder" if real.is_dir() else "something else")
    except OSError as error:
        raise _unreadable(path, error) from None
    except RuntimeError:
        raise _refusal(path, "a readable file", "links that go round in a circle") from None
    return path


def state(path: Path) -> State:
    """Return facts of a file that change when it is written or replaced."""
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


def lines(
    path: Path, passed: Callable[[InputError], None] | None = None, watch: Callable[[bytes], None] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, without its end; raises InputError, naming the line, for one that is not text.

    With `passed`, that is called with the error instead, and the next line is read. `watch` is called with the bytes of
    each line.
    """
    number, before = 0, None
    try:
        with regular(path).open("rb") as file:
            before = state(path)
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if watch is not None:
                    watch(raw)
                try:
                    if len(raw) > LONGEST_LINE:
                        raise _refusal(path, f"lines of at most {LONGEST_LINE:,} bytes", "a longer one", number)
                    text = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    description = f"byte {error.object[error.start]:#04x} at {error.start}"
                    refusal = _refusal(path, "UTF-8", description, number)
                except InputError as error:
                    refusal = error
                    while passed is not None and raw and not raw.endswith(b"\n"):
                        raw = file.readline(LONGEST_LINE)
                else:
                    yield number, text.removesuffix("\n")
                    continue
                if passed is None:
                    raise refusal
                passed(refusal)
            _refuse_change(path, before, os.fstat(file.fileno()))
    except OSError as error:
        raise _unreadable(path, error, number) from None


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line as a JSON object, with its number; raises InputError for anything else, a blank line included."""
    for number, line in lines(path):
        yield number, parsed(line, path, number)


def document(path: Path) -> bytes:
    """A whole file of moderate size; raises InputError for one that is too large, or that changes meanwhile."""
    try:
        with regular(path).open("rb") as file:
            before = state(path)
            if before[0] > LARGEST_DOCUMENT:
                raise _refusal(path, f"at most {LARGEST_DOCUMENT:,} bytes", f"{before[0]:,}")
            content = file.read(before[0] + 1)
            _refuse_change(path, before, os.fstat(file.fileno()))
    except OSError as error:
        raise _unreadable(path, error) from None
    return content


def parsed(text: str | bytes, path: Path, number: int | None = None) -> dict[str, Any]:
    """Return one JSON object; raises InputError that says what it is instead, and where."""
    mend = "mend it there, or make it again" if number is None else "mend that line, or make the file again"
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")  # json would guess at other encodings
        value = json.loads(text, parse_constant=_constant, object_pairs_hook=_without_duplicates)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half a character can't be written anywhere again
    except UnicodeDecodeError as error:
        raise _refusal(path, "UTF-8", f"byte {error.object[error.start]:#04x} at {error.start}", number) from None
    except UnicodeEncodeError as error:
        raise _refusal(path, "whole characters", f"half a character, {error.object[error.start]!a}", number) from None
    except (ValueError, RecursionError) as error:
        expected = "a JSON object" + ("" if number is None else " a line")
        raise _refusal(path, expected, _explanation(error, alone=number is not None), number, mend) from None
    if not isinstance(value, dict):
        raise _refusal(path, "a JSON object", type(value).__name__, number, mend)
    return value


def is_finite(value: object) -> TypeGuard[int | float]:
    """Whether a value of JSON is a number that floats reach: no NaN, no whole number of 400 digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max


def finite_number(text: str) -> float | None:
    """Return the number that a text is; None for any other text, and for infinity and NaN."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def toml(text: str) -> dict[str, Any]:
    """Return a TOML document; raises ValueError for what is none, or is nested deeper than anyone means."""
    try:
        root = tomllib.loads(text)
    except RecursionError:
        raise ValueError(NESTED) from None
    level: list[Any] = [root]
    for _ in range(DEEPEST_TABLE):
        inner = (part for table in level for part in (table.values() if isinstance(table, dict) else table))
        level = [part for part in inner if isinstance(part, (dict, list))]
        if not level:
            return root
    raise ValueError(NESTED)


def entries(content: bytes, path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each field of one JSON object; an InputError, naming it, where its value alone can't be read.

    Raises InputError for what is no JSON object at all.
    """
    try:
        fields = parsed(content, path)
    except InputError as refused:
        try:
            rough = json.loads(content.decode("utf-8"), parse_constant=_Constant, object_pairs_hook=_Pairs)
        except (ValueError, RecursionError):
            rough = None
        if not isinstance(rough, _Pairs):
            raise refused from None
        for name, value in rough:
            yield name, _entry(name, value, path)
    else:
        yield from fields.items()


class _Constant(str):
    """NaN and the like, where JSON has a value."""


class _Pairs(list[tuple[str, Any]]):
    """The fields of an object as they stand there, repeated ones included."""


def _entry(name: str, value: Any, path: Path) -> Any:
    try:
        strict = _strict(value)
        json.dumps(strict, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        description = "half a character"
    except (ValueError, RecursionError) as error:
        description = _explanation(error)
    else:
        return strict
    shown = name.encode("utf-8", "backslashreplace").decode()[:60]
    return InputError(
        f"{path}, query `{shown}`: can't be read",
        expected="JSON, each field once",
        found=description,
        remedy="mend the file",
    )


def _strict(value: Any) -> Any:
    if isinstance(value, _Constant):
        _constant(value)
    if isinstance(value, _Pairs):
        return _without_duplicates([(name, _strict(item)) for name, item in value])
    return [_strict(item) for item in value] if isinstance(value, list) else value


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no JSON number")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError(f"the field {next(name for name in fields if [n for n, _ in pairs].count(name) > 1)} twice")
    return fields


def _explanation(error: Exception, *, alone: bool = False) -> str:
    """Return what is wrong with JSON, and where; a line that stands `alone` needs no number of its own."""
    if isinstance(error, json.JSONDecodeError):
        if error.msg == "Extra data":
            return f"something behind the object, from character {error.pos + 1} on: two rows on one line?"
        if not error.doc.strip():
            return "a blank line"
        if error.pos >= len(error.doc) - 1:
            return f"{error.msg} at its end: the file may be cut off"
        return f"{error.msg} at {'' if alone else f'line {error.lineno}, '}column {error.colno}"
    if "int_max_str_digits" in str(error):  # what json says of it is for programmers
        return "a number of too many digits"
    return NESTED if isinstance(error, RecursionError) else str(error)


def _refuse_change(path: Path, before: State, now: os.stat_result) -> None:
    if before != (now.st_size, now.st_mtime_ns, now.st_ino) or before != state(path):
        raise _refusal(path, "a file that nobody writes to", "it changed while it was being read")


def _unreadable(path: Path, error: OSError, line: int | None = None) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no file {path}", remedy="check the path")
    if isinstance(error, PermissionError):
        return InputError(f"no permission to read {path}", remedy=f"allow it, as by chmod u+r {shlex.quote(str(path))}")
    return _refusal(path, "a readable file", error.strerror or str(error), line)


def _refusal(
    path: Path,
    expected: str,
    found: str,
    line: int | None = None,
    remedy: str = "get the file again from where it was made, or make it again",
) -> InputError:
    where = f"{path}" + ("" if not line else f", line {line}")
    return InputError(
        f"{where}: can't be read",
        expected=expected,
        found=found,
        remedy=remedy,
    )
