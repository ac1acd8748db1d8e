"""The words of texts, kept between runs by content: what a run cut before, it does not cut again.

Each record is sealed with the user's own key: one of somebody else, or a damaged one, is cut anew. Nothing depends on
them but time, so that a cache that can't be used is none.
"""

from __future__ import annotations

import hashlib
import sqlite3
import unicodedata
from contextlib import suppress
from pathlib import Path

import numpy as np

from recallbench.embedding.own_key import Seal, own_key
from recallbench.errors import RecallBenchError
from recallbench.stores.word_counts import WORD, TextWords, count_words

FOLDER = "words"
"""The folder of kept words, in that of the vectors."""
RULE = hashlib.blake2b(f"{WORD.pattern} in lower case, Unicode {unicodedata.unidata_version}".encode()).digest()
"""What decides the words of a text."""
TOGETHER = 1000
"""Texts that are written at a time: about 5 MB."""


class KeptWords:
    """The words of texts, from one file of the user's in a cache folder; new ones are written there."""

    def __init__(self, cache_dir: Path) -> None:
        self._unwritten: dict[bytes, TextWords] = {}
        self._file: sqlite3.Connection | None = None
        # Without a key that can be kept, or a place to write to, every text is cut.
        with suppress(RecallBenchError, OSError, sqlite3.Error):
            key, without = own_key(cache_dir)
            if without:
                return
            self._seal = Seal(key, RULE.hex())
            path = cache_dir / FOLDER / f"{self._seal.owner}.sqlite"
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or not path.resolve().is_relative_to(cache_dir.resolve()):
                return
            file = sqlite3.connect(path)
            file.execute("PRAGMA trusted_schema = OFF")
            file.execute("CREATE TABLE IF NOT EXISTS words (text BLOB PRIMARY KEY, words TEXT, counts BLOB, seal BLOB)")
            self._file = file

    def count(self, text: str) -> TextWords:
        """Return the words of a text, and how often it has each."""
        if self._file is None:
            return count_words(text)
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=RULE, digest_size=32).digest()
        found = self._unwritten.get(key) or self._find(key)
        if found is None:
            found = self._unwritten[key] = count_words(text)
            if len(self._unwritten) >= TOGETHER:
                self._write()
        return found

    def close(self) -> None:
        """Write what is new, and close the file. May be called twice."""
        if self._file is not None:
            self._write()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _find(self, key: bytes) -> TextWords | None:
        assert self._file is not None
        try:
            row = self._file.execute("SELECT words, counts, seal FROM words WHERE text = ?", (key,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None or not all(map(isinstance, row, (str, bytes, bytes))):
            return None
        words, counts, seal = row
        if seal != self._seal.of(key + counts, words.encode()):
            return None
        return TextWords(words.split(), np.frombuffer(counts, "<u4"))

    def _write(self) -> None:
        assert self._file is not None
        rows = []
        for key, found in self._unwritten.items():
            words, counts = " ".join(found.words), found.counts.astype("<u4").tobytes()
            rows.append((key, words, counts, self._seal.of(key + counts, words.encode())))
        self._unwritten.clear()
        try:
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO words VALUES (?, ?, ?, ?)", rows)
        except sqlite3.Error:
            self._file.close()
            self._file = None
