"""Brackets inside each other are counted as JSON has them, and no file of them fills the memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from recallbench.corpora import nesting
from recallbench.corpora.nesting import DEEPEST, check_nesting
from recallbench.corpora.stream import Stream
from recallbench.errors import InputError


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def nested(path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    try:
        check_nesting(path, "mend the file")
    except InputError:
        return True
    return False


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "refused"),
    [
        (b"", False),
        (deep(DEEPEST), False),
        (deep(DEEPEST + 1), True),
        (b'{"a": ' * DEEPEST, False),
        (b'{"a": ' * (DEEPEST + 1), True),
        (b"[" + b"[], " * 500, False),
        (b'["' + b"[" * 500 + b'"]', False),
        (b'["' + b"]" * 500 + b'", ' + deep(DEEPEST), True),
        (rb'["\"' + b"[" * 500 + b'"]', False),
        (rb'["\\", ' + deep(DEEPEST), True),
        (rb'["\\\"' + b"]" * 500 + b'", ' + deep(DEEPEST), True),
        (rb'["\\\\\"' + b"[" * 500 + rb'\n"]', False),
    ],
)
def test_what_counts_is_outside_of_texts(
    content: bytes, refused: bool, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nesting, "_CHUNK", chunk)
    assert nested(tmp_path / "corpus.json", content) is refused


def test_a_small_file_of_brackets_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(b"[" * 20_000)
    tracemalloc.start()
    with pytest.raises(InputError) as refused:
        list(Stream(path, "locomo").items())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused.value.expected == "at most 100 levels"
    assert refused.value.found == "brackets nested without end"
    assert peak < 20_000_000


def test_a_file_that_is_known_is_not_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(b"[1]")
    looked: list[Path] = []
    monkeypatch.setattr("recallbench.corpora.stream.check_nesting", lambda path, remedy: looked.append(path))
    known = Stream(path, "locomo").sha256
    assert looked == [path]
    assert list(Stream(path, "locomo", known).items()) == [1]
    assert looked == [path]
    assert list(Stream(path, "locomo", "0" * 64).items()) == [1]
    assert looked == [path, path]
