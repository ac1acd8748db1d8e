"""Words that are cut once, and weights that are those of bm25s."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from recallbench.protocol.lexical import K1, METHOD, B
from recallbench.stores import kept_words, word_counts
from recallbench.stores.kept_words import KeptWords
from recallbench.stores.word_counts import FEW, TextWords, WordCounts, count_words, words_in
from recorded_progress import RecordedProgress

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


def counted(cache: Path, *texts: str, progress: RecordedProgress | None = None) -> list[dict[str, int]]:
    with closing(KeptWords(cache, progress)) as kept:
        return [dict(zip(found.words.split(), found.counts.tolist(), strict=True)) for found in map(kept.count, texts)]


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


def test_bytes_that_were_moved_from_words_to_counts_are_cut_anew(tmp_path: Path, cut: list[str]) -> None:
    expected = counted(tmp_path, "abcd red fox fox")
    (file,) = (tmp_path / "words").iterdir()
    with closing(sqlite3.connect(file)) as connection, connection:
        (words, counts) = connection.execute("SELECT words, counts FROM words").fetchone()
        connection.execute("UPDATE words SET words = ?, counts = ?", (words[4:], counts + words[:4].encode()))
    assert counted(tmp_path, "abcd red fox fox") == expected == [{"abcd": 1, "red": 1, "fox": 2}]
    assert len(cut) == 2


def test_a_sealed_record_of_other_lengths_is_cut_anew(tmp_path: Path, cut: list[str]) -> None:
    with closing(KeptWords(tmp_path)) as kept:
        kept.count("red fox")
        (key,) = kept._unwritten
        kept._unwritten[key] = TextWords("red fox", np.array([1, 1, 1], "<u4"))
    assert counted(tmp_path, "red fox") == [{"red": 1, "fox": 1}]
    assert cut == ["red fox", "red fox"]


def test_a_file_that_is_no_cache_costs_time_alone_and_is_told(tmp_path: Path) -> None:
    counted(tmp_path, TEXT)
    (file,) = (tmp_path / "words").iterdir()
    file.write_bytes(os.urandom(5000))
    told = RecordedProgress()
    assert counted(tmp_path, TEXT, "fox", progress=told) == [COUNTED, {"fox": 1}]
    (note,) = told.notes
    assert note.startswith(f"{file}: not used any more by this run (file is not a database), which costs time alone")


def test_a_file_that_is_locked_is_waited_for_once(tmp_path: Path, cut: list[str]) -> None:
    counted(tmp_path, "red fox")
    (file,) = (tmp_path / "words").iterdir()
    told = RecordedProgress()
    with closing(sqlite3.connect(file)) as other, closing(KeptWords(tmp_path, told)) as kept:
        other.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        for text in (TEXT, "fox", *map(str, range(30))):
            kept.count(text)
        assert time.monotonic() - begun < 3  # each wait is 0.2 s
    (note,) = told.notes
    assert "(database is locked)" in note
    assert counted(tmp_path, "red fox") == [{"red": 1, "fox": 1}]
    assert cut.count("red fox") == 1


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
        expected = np.vstack([expected, np.zeros(until), expected[:1]])
        found = WordCounts([count_words(text) for text in texts]).weights([*words, "unknown", "w0"], until)
        assert np.array_equal(found, expected)
        lazy = WordCounts([count_words(text) for text in texts], lazy=True)
        few = [lazy.weights(words[start : start + 5], until) for start in range(0, 60, 5)]
        assert np.array_equal(np.vstack(few), expected[:60])


def test_a_scope_that_is_asked_little_is_not_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [count_words(text) for text in ("red hens, red", "", "a bored foxes' hen", "hen")]
    made = WordCounts(texts)
    monkeypatch.setattr(word_counts, "_Index", None)
    lazy = WordCounts(texts, lazy=True)
    asked = ["hen", "red", "", "foxes", "hens", "bore"]
    assert np.array_equal(lazy.weights(asked, 4), made.weights(asked, 4))
    assert np.count_nonzero(lazy.weights(asked, 4), axis=1).tolist() == [2, 1, 0, 1, 1, 0]
    with pytest.raises(TypeError):  # there is no index to be made
        lazy.weights([f"w{n}" for n in range(FEW)], 4)


def test_what_a_lazy_scope_holds_is_that_of_its_index() -> None:
    texts = [count_words(text) for text in ("red fox", "red hen, red owl")]
    assert WordCounts(texts, lazy=True).bytes == WordCounts(texts).bytes == 5 * 8 + 5 * 8 + 2 * 8
