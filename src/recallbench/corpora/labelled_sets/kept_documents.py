"""The documents of a set, kept aside in a file without a name, so that a large set does not take its size in memory."""

from __future__ import annotations

import json
import os
import tempfile
from array import array
from collections.abc import Iterator, KeysView, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from hashlib import blake2b
from typing import Any

from recallbench.corpora.labelled_sets.labelled_records import Document, document_key
from recallbench.errors import RecallBenchError
from recallbench.key_numbers import KeyNumbers
from recallbench.whole_file import write_errors

AT_ONCE = 1 << 20
"""Bytes that are written, and read, at a time."""


class KeptDocuments:
    """Documents in the order in which they were added, by scope and by id."""

    def __init__(self) -> None:
        with _disk_errors():
            # It has no name, and is gone with its last user.
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._unwritten = bytearray()
        self._ends = array("Q", [0])
        """Where each line begins, and where the last one ends."""
        self._lines = KeyNumbers()
        """The number of each line, by its hash: what is there already is not written again."""
        self._scopes: dict[str, array[int]] = {}
        """Of each the numbers of its documents' lines."""
        self._none = array("i")
        self._places = KeyNumbers()
        self.empty = 0
        """How many have no text."""
        self.bytes = 0
        """What they take together, those that are in several scopes as often."""

    @property
    def written(self) -> int:
        """What they take in the file, each once."""
        return self._ends[-1]

    @property
    def scopes(self) -> KeysView[str]:
        """The scopes in the order in which they came."""
        return self._scopes.keys()

    def add(self, document: Document) -> None:
        """Keep a document; its id is one that no other of its scope has."""
        when = document.occurred_at.isoformat() if document.occurred_at is not None else None
        in_scope = self._scopes.setdefault(document.scope, array("i"))
        self._places.update([document_key(document.scope, document.id)], [len(in_scope)])
        in_scope.append(self._line(json.dumps([document.id, document.text, when, document.importance]).encode()))
        self.empty += not document.text

    def place(self, scope: str, id: str) -> int | None:
        """Return the position of a document in its scope; None where no document of the scope has this id."""
        place = self._places.get(document_key(scope, id))
        if place is None:
            return None
        # What has the same key by chance is another document.
        there = [own for own, *_ in self._read(self._scopes.get(scope, self._none)[place : place + 1])]
        return place if there == [id] else None

    def forget_keys(self) -> None:
        """Give up what adding and looking up takes: from here on scopes are read alone."""
        self._lines = self._places = KeyNumbers()

    def of(self, scope: str) -> Iterator[Document]:
        """Yield the documents of a scope."""
        for id, text, when, importance in self._read(self._scopes[scope]):
            yield Document(id, scope, text, datetime.fromisoformat(when) if when else None, importance)

    def _line(self, line: bytes) -> int:
        """Return the number of a line, which is written where there is none like it."""
        self.bytes += len(line)
        digest = blake2b(line, digest_size=8).digest()
        number = self._lines.get(digest)
        if number is not None and next(self._lines_of([number])) == line:
            return number
        number = len(self._ends) - 1
        self._lines.update([digest], [number])
        self._unwritten += line
        self._ends.append(self._ends[-1] + len(line))
        if len(self._unwritten) >= AT_ONCE:
            self._write()
        return number

    def _read(self, numbers: Sequence[int]) -> Iterator[list[Any]]:
        return map(json.loads, self._lines_of(numbers))

    def _lines_of(self, numbers: Sequence[int]) -> Iterator[bytes]:
        self._write()
        first = 0
        while first < len(numbers):
            # Lines that stand side by side are read together.
            last = first + 1
            start = self._ends[numbers[first]]
            while last < len(numbers) and numbers[last] == numbers[last - 1] + 1:
                if self._ends[numbers[last]] - start > AT_ONCE:
                    break
                last += 1
            block = os.pread(self._file.fileno(), self._ends[numbers[last - 1] + 1] - start, start)
            for number in numbers[first:last]:
                yield block[self._ends[number] - start : self._ends[number + 1] - start]
            first = last

    def _write(self) -> None:
        with _disk_errors():
            while self._unwritten:
                del self._unwritten[: self._file.write(self._unwritten)]


def _disk_errors() -> AbstractContextManager[None]:
    return write_errors(
        f"the documents can't be kept aside in {tempfile.gettempdir()}",
        remedy="free some space there, or name another folder in TMPDIR",
        kind=RecallBenchError,
    )
