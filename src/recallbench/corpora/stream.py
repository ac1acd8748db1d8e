"""A corpus file on disk: hashed once, then read as a stream of items, again and again."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson

from recallbench.corpora.field_reader import registered_file_hint
from recallbench.corpora.nesting import check_nesting
from recallbench.errors import InputError
from recallbench.reading import document, parsed

NOT_JSON = (ijson.JSONError, UnicodeDecodeError)
"""What the parser raises; the second where it takes the bytes of half a character for text."""
_CHUNK = 1 << 18


class Stream:
    """A JSON file that holds one list. One whose size or time of change differs from when it was hashed is refused."""

    def __init__(self, path: Path, corpus: str, known: str = "") -> None:
        """`known` is the sha256 of a file that is known to be harmless."""
        self.path = path
        self._known = known
        registered = registered_file_hint(corpus)
        self._remedy = f"use the registered file: {registered}" if registered else "mend the file"
        self._hashed: tuple[str, tuple[int, int]] | None = None

    @property
    def sha256(self) -> str:
        """sha256 of the file, computed once."""
        return self._identity()[0]

    def items(self, field: str = "") -> Iterator[Any]:
        """Each item of the list, one in memory at a time: the file is that list, or an object with it in a field."""
        _, state = self._identity()
        count = 0
        try:
            with self.path.open("rb") as file:
                self._refuse_if_changed(state)
                if (shape := _shape(self.path)) == "an object" and not field:
                    raise self._not_a_list(shape)
                for item in ijson.items(file, f"{field}.item" if field else "item", use_float=True, buf_size=_CHUNK):
                    yield item
                    count += 1
        except NOT_JSON as error:
            raise self._malformed(error, count) from None
        except OSError as error:
            raise self._unreadable(error) from None
        if not count:
            raise self._not_a_list(_shape(self.path))
        self._refuse_if_changed(state)

    def plain_fields(self, until: str) -> dict[str, Any]:
        """The texts, numbers and truths of the one object that stand before this field of it."""
        _, state = self._identity()
        fields: dict[str, Any] = {}
        try:
            with self.path.open("rb") as file:
                for place, event, value in ijson.parse(file, use_float=True, buf_size=_CHUNK):
                    if event == "map_key" and place == "" and value == until:
                        break
                    if place and "." not in place and event in ("string", "number", "boolean"):
                        fields[place] = value
        except NOT_JSON as error:
            raise self._malformed(error, 0) from None
        except OSError as error:
            raise self._unreadable(error) from None
        self._refuse_if_changed(state)
        return fields

    def entries(self) -> Iterator[tuple[str, Any]]:
        """Each field of the one object with its value, one in memory at a time."""
        _, state = self._identity()
        count = 0
        try:
            with self.path.open("rb") as file:
                for name, value in ijson.kvitems(file, "", use_float=True, buf_size=_CHUNK):
                    yield name, value
                    count += 1
        except NOT_JSON as error:
            raise self._malformed(error, count) from None
        except OSError as error:
            raise self._unreadable(error) from None
        self._refuse_if_changed(state)

    def object(self) -> dict[str, Any]:
        """The file as a whole, where it holds one object."""
        _, state = self._identity()
        whole = parsed(document(self.path), self.path)
        self._refuse_if_changed(state)
        return whole

    def _identity(self) -> tuple[str, tuple[int, int]]:
        if self._hashed is None:
            try:
                state = _state(self.path)
                sha256 = sha256_of(self.path)
                if sha256 != self._known:
                    check_nesting(self.path, self._remedy)
                self._hashed = sha256, state
            except OSError as error:
                raise self._unreadable(error) from None
        return self._hashed

    def _refuse_if_changed(self, state: tuple[int, int]) -> None:
        if _state(self.path) != state:
            raise InputError(
                f"{self.path}: changed while it was being read",
                expected="the file whose sha256 was taken",
                found="another size or time of change",
                remedy="run again once nothing writes to it",
            )

    def _not_a_list(self, found: str) -> InputError:
        expected = "a JSON list with at least one item"
        return InputError(f"{self.path}: no items", expected=expected, found=found, remedy=self._remedy)

    def _unreadable(self, error: OSError) -> InputError:
        return InputError(
            f"{self.path}: can't be read",
            expected="a readable corpus file",
            found=error.strerror or str(error),
            remedy=f"check the path and its permissions, or {self._remedy}",
        )

    def _malformed(self, error: Exception, count: int) -> InputError:
        where = f"{self.path}: item {count + 1}"
        offset = _first_foreign_byte(self.path)
        if offset is not None:
            return InputError(
                f"{where}: not UTF-8",
                expected="UTF-8",
                found=f"another encoding from byte {offset} on",
                remedy=self._remedy,
            )
        message = str(error).splitlines()[0].removeprefix("parse error: ").removeprefix("lexical error: ")
        if "premature EOF" in message:
            size = self.path.stat().st_size
            message = f"the file ends inside the list, after {count} whole items and {size} bytes"
        return InputError(f"{where}: not JSON", expected="a JSON list, complete", found=message, remedy=self._remedy)


def sha256_of(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _first_foreign_byte(path: Path) -> int | None:
    """Return the place where the file stops being UTF-8; a character cut by the file's end doesn't count."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return done - pending + error.start
            done += len(chunk)
    return None


def _shape(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(_CHUNK).lstrip()[:1]
    return {b"[": "an empty list", b"{": "an object"}.get(start, "a single value")
