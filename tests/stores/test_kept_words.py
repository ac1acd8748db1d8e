"""Words that are cut once, and weights that are those of bm25s."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from recallbench.protocol.lexical import K1, METHOD, B
from recallbench.stores import kept_words
from recallbench.stores.kept_words import KeptWords
from recallbench.stores.word_counts import WordCounts, count_words, words_in

TEXT = "The owl, the OWL: Ärger_1 a \N{GREEK CAPITAL LETTER SIGMA}igma."
COUNTED = {"the": 2, "owl": 2, "ärger_1": 1, "σigma": 1}


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are cut from now on."""
    texts: list[str] = []

    def counting(text: str) -> object:
        texts.append(text)
        return count_words(text)

    monkeypatch.setattr(kept_words, "count_words", counting)
    return texts


def counted(cache: Path, *texts: str) -> list[dict[str, int]]:
    with closing(KeptWords(cache)) as kept:
        return [dict(zip(found.words, found.counts.tolist(), strict=True)) for found in map(kept.count, texts)]


def test_each_distinct_text_is_cut_once(tmp_path: Path, cut: list[str]) -> None:
    assert counted(tmp_path, TEXT, "", TEXT, "fox") == [COUNTED, {}, COUNTED, {"fox": 1}]
    assert counted(tmp_path, TEXT, "fox", "") == [COUNTED, {"fox": 1}, {}]
    assert cut == [TEXT, "", "fox"]


def test_words_that_were_changed_on_disk_are_cut_anew(tmp_path: Path, cut: list[str]) -> None:
    counted(tmp_path, TEXT, "red fox")
    (file,) = (tmp_path / "words").iterdir()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE words SET words = 'red hen' WHERE words = 'red fox'")
    assert counted(tmp_path, TEXT, "red fox") == [COUNTED, {"red": 1, "fox": 1}]
    assert counted(tmp_path, TEXT, "red fox") == [COUNTED, {"red": 1, "fox": 1}]
    assert cut == [TEXT, "red fox", "red fox"]


def test_a_file_that_is_no_cache_costs_time_alone(tmp_path: Path) -> None:
    counted(tmp_path, TEXT)
    (file,) = (tmp_path / "words").iterdir()
    file.write_bytes(os.urandom(5000))
    assert counted(tmp_path, TEXT) == [COUNTED]


def test_weights_are_those_of_bm25s_to_the_last_digit() -> None:
    import bm25s

    drawn = random.Random(7)
    texts = [" ".join(drawn.choices([f"w{n}" for n in range(60)], k=drawn.randint(0, 90))) for _ in range(40)]
    words = [f"w{n}" for n in range(60)]
    for until in (1, 7, 40):
        index = bm25s.BM25(k1=K1, b=B, method=METHOD, dtype="float64")
        numbers = {word: number for number, word in enumerate(words)}
        cut = [[numbers[word] for word in words_in(text)] for text in texts[:until]]
        index.index((cut, numbers), create_empty_token=False, show_progress=False)
        expected = np.zeros((len(words), until))
        of_word = np.repeat(np.arange(len(words)), np.diff(index.scores["indptr"]))
        expected[of_word, index.scores["indices"]] = index.scores["data"]
        found = WordCounts([count_words(text) for text in texts]).weights([*words, "unknown", "w0"], until)
        assert np.array_equal(found, np.vstack([expected, np.zeros(until), expected[:1]]))
