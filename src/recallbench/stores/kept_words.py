"""The words of texts, kept between runs by content: what a run cut before, it does not cut again.

Each record is sealed with the user's own key: one of somebody else, or a damaged one, is cut anew. Nothing depends on
them but time, so that a file that can't be used, even for a moment, is told once and then left alone.
"""

from __future__ import annotations

import hashlib
import sqlite3
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from recallbench.embedding.own_key import Seal, own_key
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress, Silent
from recallbench.stores.word_counts import WORD, TextWords, count_words

FOLDER = "words"
"""The folder of kept words, in that of the vectors."""
RULE = hashlib.blake2b(f"{WORD.pattern} in lower case, Unicode {unicodedata.unidata_version}".encode()).digest()
"""What decides the words of a text."""
KEY = hashlib.sha256(RULE)
"""What every key begins with, hashed already."""
BYTES = 12
"""A word and its count: the number of eight bytes, that of four."""
TOGETHER = 1000
"""Texts that are written at a time: about 5 MB."""
ASKED_TOGETHER = 100
"""Texts that are looked for at a time: for each statement the file is locked and looked at anew."""
PATIENCE_S = 0.2
"""How long another process may keep the file to itself."""


class KeptWords:
    """The words of texts, from one file of the user's in a cache folder; new ones are written there."""

    def __init__(self, cache_dir: Path, progress: Progress | None = None) -> None:
        self._progress = progress or Silent()
        self._unwritten: dict[bytes, TextWords] = {}
        self._file: sqlite3.Connection | None = None
        # Without a key that can be kept, or a place to write to, every text is cut.
        with suppress(RecallBenchError, OSError):
            key, without = own_key(cache_dir)
            if without:
                return
            self._seal = Seal(key, RULE.hex())
            self._path = path = cache_dir / FOLDER / f"{self._seal.owner}.sqlite"
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or not path.resolve().is_relative_to(cache_dir.resolve()):
                return
            self._open(path)

    def count(self, texts: Sequence[str]) -> list[TextWords]:
        """Return the words of each text, and how often it has each."""
        keys = [_key(text) for text in texts]
        known: dict[bytes, TextWords] = {}
        for start in range(0, len(keys), ASKED_TOGETHER):
            known |= self._find([key for key in keys[start : start + ASKED_TOGETHER] if key not in self._unwritten])
        return [self._known(key, text, known) for key, text in zip(keys, texts, strict=True)]

    def close(self) -> None:
        """Write what is new, and close the file. May be called twice."""
        if self._file is not None:
            self._write()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, path: Path) -> None:
        try:
            self._file = sqlite3.connect(path, timeout=PATIENCE_S)
            self._file.execute("PRAGMA trusted_schema = OFF")
            # The words of a text fit into such a page.
            self._file.execute("PRAGMA page_size = 8192")
            self._file.execute("CREATE TABLE IF NOT EXISTS counted (text BLOB PRIMARY KEY, counts BLOB, seal BLOB)")
            # An earlier release kept the words themselves.
            self._file.execute("DROP TABLE IF EXISTS words")
        except sqlite3.Error as error:
            self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        """Do without the file from here on: whatever is wrong with it, each further try might wait as long."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._unwritten.clear()
        self._progress.note(
            f"{self._path}: not used any more by this run ({error}), which costs time alone; if no other run uses it, "
            "delete it: it is made anew"
        )

    def _known(self, key: bytes, text: str, known: dict[bytes, TextWords]) -> TextWords:
        """Return the words of a text: those that are known, or from now on."""
        found = known.get(key) or self._unwritten.get(key)
        if found is None:
            found = known[key] = count_words(text)
            if self._file is not None:
                self._unwritten[key] = found
            if len(self._unwritten) >= TOGETHER:
                self._write()
        return found

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, TextWords]:
        """Return the words that the file has of these texts."""
        if self._file is None:
            return {}
        try:
            rows = self._file.execute(
                f"SELECT text, counts, seal FROM counted WHERE text IN ({','.join('?' * len(keys))})", keys
            ).fetchall()
        except sqlite3.Error as error:
            self._give_up(error)
            return {}
        found = {}
        for key, counts, seal in rows:
            if not (isinstance(counts, bytes) and isinstance(seal, bytes)):
                continue
            number, rest = divmod(len(counts), BYTES)
            if not rest and seal == self._seal.of(key, counts):
                words = np.frombuffer(counts, "<u8", number)
                found[key] = TextWords(words, np.frombuffer(counts, "<u4", number, 8 * number))
        return found

    def _write(self) -> None:
        assert self._file is not None
        rows = []
        for key, found in self._unwritten.items():
            counts = found.words.astype("<u8").tobytes() + found.counts.astype("<u4").tobytes()
            rows.append((key, counts, self._seal.of(key, counts)))
        self._unwritten.clear()
        try:
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO counted VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            self._give_up(error)


def _key(text: str) -> bytes:
    key = KEY.copy()
    key.update(text.encode("utf-8", "surrogatepass"))
    return key.digest()
