"""A corpus file that is cut, garbled, no list, or changed while it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recallbench.corpora.longmemeval import LongMemEval
from recallbench.corpora.stream import Stream
from recallbench.errors import InputError

Make = Callable[..., LongMemEval]


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (b"", ["item 1", "ends inside the list", "0 whole items and 0 bytes"]),
        (b'[{"a": 1}, {"b": ', ["item 2", "ends inside the list", "1 whole items and 17 bytes"]),
        (b'[{"a": 1}', ["item 2", "ends inside the list"]),
        (b"[1, 2,]", ["item 3", "not JSON", "unallowed token"]),
        (b"[1] trailing", ["item 2", "not JSON", "trailing garbage"]),
        (b"[NaN]", ["item 1", "not JSON", "invalid char"]),
        (b'["caf\xe9"]', ["item 1", "not UTF-8", "from byte 5"]),
        (b'["\xed\xa0\x80"]', ["item 1", "not UTF-8", "from byte 2"]),
        ('["é"]'.encode("utf-16"), ["item 1", "not UTF-8", "from byte 0"]),
        (b'{"item": [1]}', ["no items", "a JSON list", "an object"]),
        (b"[]", ["no items", "an empty list"]),
        (b'"text"', ["no items", "a single value"]),
    ],
)
def test_a_file_that_is_no_list_of_items_is_refused(tmp_path: Path, body: bytes, parts: list[str]) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(body)
    with pytest.raises(InputError) as refused:
        list(Stream(path, "locomo").items())
    for part in [str(path), *parts, "`recallbench fetch locomo`"]:
        assert part in str(refused.value)


def test_complete_items_come_before_the_refusal(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(b'[{"a": 1}, {"b": ')
    items = Stream(path, "locomo").items()
    assert next(items) == {"a": 1}
    with pytest.raises(InputError):
        next(items)


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none.json", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError, match=message):
            _ = Stream(path, "locomo").sha256


def test_the_hash_is_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(b"[1]")
    assert Stream(path, "locomo").sha256 == "080a9ed428559ef602668b4c00f114f1a11c3f6b02a435f0bdc154578e4d7f22"


def test_a_file_that_changed_after_it_was_hashed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_bytes(b"[1]")
    stream = Stream(path, "locomo")
    assert list(stream.items()) == [1]
    path.write_bytes(b"[1, 2]")
    with pytest.raises(InputError, match="changed while it was being read"):
        list(stream.items())


def test_the_plain_fields_before_a_list_are_read_without_it(tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    path.write_text('{"a": "x", "b": 2, "c": true, "d": {"e": 1}, "f": null, "list": [1], "g": 3}')
    assert Stream(path, "").plain_fields("list") == {"a": "x", "b": 2, "c": True}
    path.write_text('{"a": "x", "b"')
    with pytest.raises(InputError, match="not JSON"):
        Stream(path, "").plain_fields("list")


def test_the_fields_of_an_object_come_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    path.write_text('{"0": [1, 2], "1": {"a": 0.5}, "2": [')
    entries = Stream(path, "").entries()
    assert [next(entries), next(entries)] == [("0", [1, 2]), ("1", {"a": 0.5})]
    with pytest.raises(InputError, match="item 3: not JSON"):
        next(entries)


def test_the_registered_file_with_other_counts_is_refused(longmemeval: Make) -> None:
    corpus = longmemeval()
    corpus.facts = replace(corpus.facts, sha256=corpus.sha256)
    with pytest.raises(InputError, match="the registered file, but not the registered counts") as refused:
        corpus.survey()
    assert "segments 23867" in refused.value.expected
    assert "segments 2" in refused.value.found


def test_a_long_file_is_streamed(tmp_path: Path) -> None:
    """60 MB of items pass through; only one is there at a time."""
    import tracemalloc

    path = tmp_path / "corpus.json"
    item = json.dumps({"text": "x" * 100_000})
    path.write_text("[" + ",".join([item] * 600) + "]")
    tracemalloc.start()
    assert sum(1 for _ in Stream(path, "locomo").items()) == 600
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000
