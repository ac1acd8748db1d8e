"""The bytes of a pack: what a reader of safetensors finds, and that no byte can be another."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pack_makers import MadeUpEmbedder, haystack, made_up_pack
from recallbench.embedding.fingerprint import text_key
from recallbench.embedding.packs.layout import LARGEST_HEADER
from recallbench.embedding.packs.manifest import as_words, is_words
from recallbench.embedding.packs.pack_file import PackFile
from recallbench.errors import InputError

HAYSTACKS = (
    haystack("a", ["we met", "it rained", "we met"], ["who met?"]),
    haystack("b", ["it rained", "Ann sang"], ["who met?", "who sang?"]),
)
TEXTS = [
    ("passage", "we met"),
    ("passage", "it rained"),
    ("query", "who met?"),
    ("passage", "Ann sang"),
    ("query", "who sang?"),
]
"""Each text once, in the order in which a run uses them first."""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    made_up_pack(tmp_path / "p.safetensors", HAYSTACKS)
    return tmp_path / "p.safetensors"


def read(path: Path) -> None:
    with PackFile(path) as opened:
        for _ in opened.blocks():
            pass


def refused(path: Path) -> str:
    with pytest.raises(InputError, match="is not a pack as it was made") as error:
        read(path)
    assert error.value.problem.startswith(str(path))
    return error.value.found


def test_it_holds_each_text_once_in_the_order_of_its_use(pack: Path) -> None:
    embedder = MadeUpEmbedder()
    with PackFile(pack) as opened:
        [block] = opened.blocks()
        again = opened.embeddings([4, 1])
        assert opened.sha256 == hashlib.sha256(pack.read_bytes()).hexdigest()
    assert block.keys == [text_key(text, role, 0, one_sided=False) for role, text in TEXTS]  # type: ignore[arg-type]
    for row, (role, text) in enumerate(TEXTS):
        vectors, tokens, cut = embedder.lookup([text], role)  # type: ignore[arg-type]
        assert (block.vectors[row] == vectors[0]).all()
        assert (block.tokens[row], block.cuts[row]) == (tokens[0], cut[0])
    assert (again.vectors == block.vectors[[4, 1]]).all()
    assert (again.tokens.tolist(), again.cut.tolist()) == ([2, 2], [9, 9])


def test_it_states_what_a_run_states_of_its_vectors(pack: Path) -> None:
    embedder, used = MadeUpEmbedder(), hashlib.sha256()
    for one in HAYSTACKS:
        used.update(embedder.lookup([segment.text for segment in one.segments], "passage").vectors.tobytes())
        used.update(embedder.lookup([question.text for question in one.questions], "query").vectors.tobytes())
    with PackFile(pack) as opened:
        assert opened.manifest.vectors_sha256 == used.hexdigest()
        assert (opened.manifest.texts, opened.manifest.dims, opened.manifest.maker) == (5, 1024, "Ann (a lab)")


def test_any_reader_of_safetensors_reads_it(pack: Path) -> None:
    from safetensors import safe_open

    with safe_open(str(pack), framework="np") as opened:
        told = json.loads(opened.metadata()["recallbench"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - it is no mapping
    with PackFile(pack) as own:
        assert told == own.manifest.model_dump()
        [block] = own.blocks()
    assert {name: (str(one.dtype), one.shape) for name, one in tensors.items()} == {
        "vectors": ("float32", (5, 1024)),
        "texts": ("uint8", (5, 32)),
        "tokens": ("int32", (5,)),
        "cuts": ("int32", (5,)),
    }
    assert (tensors["vectors"] == block.vectors).all()
    assert [row.tobytes() for row in tensors["texts"]] == block.keys


def regions(pack: Path) -> Iterator[int]:
    """Yield places of the file: every byte of header, hashes and counts, and some of the vectors."""
    size, header = pack.stat().st_size, 8 + struct.unpack("<Q", pack.read_bytes()[:8])[0]
    yield from range(header)
    yield from range(header, size - 5 * 40, 997)
    yield from range(size - 5 * 40, size)


def test_a_changed_byte_is_refused_wherever_it_is(pack: Path) -> None:
    whole = pack.read_bytes()
    for place in regions(pack):
        # A tab in place of a blank is the same JSON.
        changed = 0x09 if whole[place] == 0x20 else whole[place] ^ 1
        pack.write_bytes(whole[:place] + bytes([changed]) + whole[place + 1 :])
        refused(pack)
    pack.write_bytes(whole)
    read(pack)


@pytest.mark.parametrize("left", [0, 3, 8, 100, 2000, -1, -4096])
def test_a_file_that_was_cut_off_is_refused(pack: Path, left: int) -> None:
    pack.write_bytes(pack.read_bytes()[:left])
    refused(pack)


def test_bytes_behind_the_end_are_refused(pack: Path) -> None:
    with pack.open("ab") as file:
        file.write(b"\0")
    assert "it may be cut off" in refused(pack)


def rewritten(pack: Path, change: dict[str, object]) -> Path:
    """The pack with another manifest, and the hash that goes with it: what somebody would do who means to."""
    whole = pack.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    fields = json.loads(whole[8 : 8 + length])
    told = json.dumps(
        {**json.loads(fields["__metadata__"]["recallbench"]), **change}, sort_keys=True, separators=(",", ":")
    )
    fields["__metadata__"] = {"recallbench": told, "recallbench_sha256": hashlib.sha256(told.encode()).hexdigest()}
    text = json.dumps(fields, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    pack.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])
    return pack


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"format": "recallbench vectors 2"}, "a manifest of another kind or release: format: "),
        ({"more": 1}, "a manifest of another kind or release: more: "),
        ({"texts": 6}, "a header with other bytes than its manifest has"),
        ({"texts": 1 << 62}, "a header with other bytes than its manifest has"),
        ({"dims": 0}, "a manifest of another kind or release: dims: "),
        ({"fingerprint": {}}, "a fingerprint_sha256 that is not the fingerprint's"),
        ({"maker": "<b>"}, "a manifest of another kind or release: maker: "),
        ({"made": "today"}, "a manifest of another kind or release: made: "),
        ({"computed_with": ["\x1b[2J"]}, "a text that can't be shown as it is: "),
    ],
)
def test_a_manifest_that_says_what_none_can_is_refused(pack: Path, change: dict[str, object], found: str) -> None:
    assert found in refused(rewritten(pack, change))


def test_another_maker_makes_another_file_which_only_a_signature_tells(pack: Path) -> None:
    before = hashlib.sha256(pack.read_bytes()).hexdigest()
    with PackFile(rewritten(pack, {"maker": "Bob"})) as opened:
        for _ in opened.blocks():
            pass
        assert (opened.manifest.maker, opened.sha256 == before) == ("Bob", False)


@pytest.mark.parametrize(
    "header",
    [b"", b"{}", b"[]", b"\xff" * 30, b"[" * 5000, b'{"__metadata__":{}}', b'{"__metadata__":{"recallbench":"[1]"}}'],
)
def test_what_is_no_pack_at_all_is_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    refused(path)
    path.write_bytes(struct.pack("<Q", LARGEST_HEADER + 1) + b" " * (LARGEST_HEADER + 64))
    assert refused(path) == "no header of safetensors"


def test_pipes_folders_and_nothing_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "absent"):
        with pytest.raises(InputError):
            PackFile(tmp_path / name)


def test_a_file_that_changes_meanwhile_is_refused(pack: Path) -> None:
    with PackFile(pack) as opened:
        blocks = opened.blocks()
        next(blocks)
        os.utime(pack, ns=(1, 1))
        with pytest.raises(InputError, match="is not a pack as it was made") as error:
            list(blocks)
    assert error.value.found == "it changed while it was being read"


def test_vectors_that_nothing_can_be_compared_with_are_refused(tmp_path: Path) -> None:
    class Zeros(MadeUpEmbedder):
        def lookup(self, texts, role):  # type: ignore[no-untyped-def]
            found = super().lookup(texts, role)
            return found._replace(vectors=np.zeros_like(found.vectors))

    made_up_pack(tmp_path / "z", HAYSTACKS, embedder=Zeros())
    assert refused(tmp_path / "z").startswith("a vector that can't be compared")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("AMD EPYC 7B13", "AMD EPYC 7B13"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel(R) Xeon(R) CPU @ 2.20GHz"),
        ("<b>x</b>\n| y", "b x /b y"),
        ("\u202eevil", "evil"),
        ("--maker", "maker"),
        ("\u3164", ""),
    ],
)
def test_names_are_made_fit_to_be_shown(text: str, words: str) -> None:
    assert as_words(text) == words
    assert is_words(text) == (text == words)
