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
from recallbench.stores import kept_words
from recallbench.stores.kept_words import KeptWords
from recallbench.stores.word_counts import FEW, TextWords, WordCounts, count_words, word_number, words_in
from recorded_progress import RecordedProgress

TEXT = "The owl, the OWL: Ärger_1 a \N{GREEK CAPITAL LETTER SIGMA}igma."


def numbers(**counts: int) -> dict[int, int]:
    return {word_number(word): count for word, count in counts.items()}


COUNTED = numbers(the=2, owl=2, ärger_1=1, σigma=1)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are cut from now on."""
    texts: list[str] = []

    def counting(text: str) -> object:
        texts.append(text)
        return count_words(text)

    monkeypatch.setattr(kept_words, "count_words", counting)
    return texts


def counted(cache: Path, *texts: str, progress: RecordedProgress | None = None) -> list[dict[int, int]]:
    with closing(KeptWords(cache, progress)) as kept:
        found = kept.count(texts[:1]) + kept.count(texts[1:])
        return [dict(zip(each.words.tolist(), each.counts.tolist(), strict=True)) for each in found]


def test_each_distinct_text_is_cut_once(tmp_path: Path, cut: list[str]) -> None:
    assert counted(tmp_path, TEXT, "", TEXT, "fox") == [COUNTED, {}, COUNTED, numbers(fox=1)]
    assert counted(tmp_path, TEXT, "fox", "") == [COUNTED, numbers(fox=1), {}]
    assert cut == [TEXT, "", "fox"]


def test_many_texts_are_looked_for_in_parts(tmp_path: Path, cut: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_words, "ASKED_TOGETHER", 2)
    texts = ["red fox", "hen", "fox", "hen", "red fox"]
    first = counted(tmp_path, *texts)
    assert (
        counted(tmp_path, "owl", *texts)[1:] == first == [numbers(**dict.fromkeys(text.split(), 1)) for text in texts]
    )
    assert cut == ["red fox", "hen", "fox", "owl"]


def test_words_that_were_changed_on_disk_are_cut_anew(tmp_path: Path, cut: list[str]) -> None:
    counted(tmp_path, TEXT, "red fox")
    (file,) = (tmp_path / "words").iterdir()
    with closing(sqlite3.connect(file)) as connection, connection:
        (longest,) = connection.execute("SELECT max(length(counts)) FROM counted").fetchone()
        connection.execute("UPDATE counted SET counts = zeroblob(24) WHERE length(counts) < ?", (longest,))
    assert counted(tmp_path, TEXT, "red fox") == [COUNTED, numbers(red=1, fox=1)]
    assert counted(tmp_path, TEXT, "red fox") == [COUNTED, numbers(red=1, fox=1)]
    assert cut == [TEXT, "red fox", "red fox"]


def test_a_sealed_record_of_other_lengths_is_cut_anew(tmp_path: Path, cut: list[str]) -> None:
    with closing(KeptWords(tmp_path)) as kept:
        (found,) = kept.count(["red fox"])
        (key,) = kept._unwritten
        kept._unwritten[key] = TextWords(found.words, np.array([1, 1, 1], "<u4"))
    assert counted(tmp_path, "red fox") == [numbers(red=1, fox=1)]
    assert cut == ["red fox", "red fox"]


def test_a_file_that_is_no_cache_costs_time_alone_and_is_told(tmp_path: Path) -> None:
    counted(tmp_path, TEXT)
    (file,) = (tmp_path / "words").iterdir()
    file.write_bytes(os.urandom(5000))
    told = RecordedProgress()
    assert counted(tmp_path, TEXT, "fox", progress=told) == [COUNTED, numbers(fox=1)]
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
            kept.count([text])
        assert time.monotonic() - begun < 3  # each wait is 0.2 s
    (note,) = told.notes
    assert "(database is locked)" in note
    assert counted(tmp_path, "red fox") == [numbers(red=1, fox=1)]
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
        counts = WordCounts([count_words(text) for text in texts])
        few = [counts.weights(words[start : start + 5], until) for start in range(0, 60, 5)]
        assert np.array_equal(np.vstack(few), expected[:60])


def test_a_scope_that_is_asked_little_is_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [count_words(text) for text in ("red hens, red", "", "a bored foxes' hen", "hen")]
    monkeypatch.setattr(WordCounts, "_sorted", None)
    counts = WordCounts(texts)
    for _ in range(5):
        found = counts.weights(["hen", "red", "", "foxes", "hens", "bore"], 4)
        assert np.count_nonzero(found, axis=1).tolist() == [2, 1, 0, 1, 1, 0]
    with pytest.raises(TypeError):
        counts.weights(["owl"] + [f"w{n}" for n in range(FEW - 30)], 4)


def test_the_size_of_a_scope_is_that_of_its_counts_and_of_the_places_of_its_words() -> None:
    assert WordCounts([count_words("red fox"), count_words("red hen, red owl")]).bytes == 5 * 8 + 5 * 8 + 2 * 8
    assert WordCounts([count_words("")]).bytes == 8 + 8


def test_words_that_an_earlier_release_kept_give_up_their_room(tmp_path: Path) -> None:
    counted(tmp_path, "red fox")
    (file,) = (tmp_path / "words").iterdir()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE words (text BLOB PRIMARY KEY, words TEXT, counts BLOB, seal BLOB)")
    assert counted(tmp_path, "red fox") == [numbers(red=1, fox=1)]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("counted",)]
