"""Vectors of a pack in a run: the weights are asked for only where it has none, or to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pack_makers import haystack, made_up_pack
from recallbench.embedding import own_key as keys
from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.forms.outside_encoder import OutsideEncoder
from recallbench.embedding.own_key import Seal
from recallbench.embedding.packs.pack_file import PackFile
from recallbench.embedding.packs.packed_encoder import PackedEncoder
from recallbench.embedding.packs.used_packs import UsedPack, use_pack
from recallbench.embedding.packs.verification import TextDraw, check_texts, compare_again
from recallbench.errors import Blocked, InputError
from recallbench.progress import Silent

HAYSTACKS = (haystack("a", ["we met", "it rained"], ["who met?"]),)


class Letters(OutsideEncoder):
    """Counts letters; `off` makes it another one."""

    name, title, batch_size = "python:letters:embed", "letters", 2

    def __init__(self, backend: str = "function/its own", off: float = 0.0, version: str = "1") -> None:
        super().__init__(Silent())
        self._backend, self._off, self._version = backend, off, version
        self.embedded: list[str] = []

    @property
    def backend(self) -> str:
        return self._backend

    @property
    def fingerprint(self) -> Mapping[str, str]:
        return {"encoder": "letters", "version": self._version, "stored_dims": "26", "backend": self._backend}

    @property
    def computation(self) -> str:
        return "letters, numpy on this machine"

    def vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        self.embedded += texts
        rows = [
            [text.lower().count(chr(97 + place)) + 0.5 + self._off * place for place in range(26)] for text in texts
        ]
        return np.array(rows, np.float32)


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "key_path", lambda: tmp_path / "settings" / "vectors.key")


def cached(encoder: Any, cache: Path, pack: UsedPack | None = None, **more: Any) -> CachedEmbedder:
    return CachedEmbedder(encoder, cache_dir=cache, progress=Silent(), **{"recheck_own": False, "pack": pack, **more})


@pytest.fixture
def pack(tmp_path: Path) -> PackFile:
    made_up_pack(tmp_path / "p", HAYSTACKS, embedder=cached(Letters(), tmp_path / "maker"))
    return PackFile(tmp_path / "p")


@pytest.fixture
def used(pack: PackFile, tmp_path: Path) -> UsedPack:
    return use_pack(pack, tmp_path / "c", Silent(), lambda: (None, None))


Opened = Callable[..., CachedEmbedder]


@pytest.fixture
def opened(used: UsedPack, tmp_path: Path) -> Opened:
    def open_(weights: Letters | None = None, **more: Any) -> CachedEmbedder:
        encoder = PackedEncoder(used, None if weights is None else lambda: weights, Silent())
        return cached(encoder, tmp_path / "c", used, **more)

    return open_


def test_everything_a_run_asks_for_is_in_the_pack(opened: Opened, used: UsedPack) -> None:
    weights = Letters()
    embedder = opened(weights)
    assert (embedder.name, embedder.stored_dims, embedder.max_tokens) == (Letters.name, 26, None)
    assert embedder.fingerprint == Letters().fingerprint
    assert embedder.pack == used.record
    assert embedder.reuse(["we met", "it rained"], "passage")
    embedder.ensure(["who met?"], "query")
    found = embedder.lookup(["it rained", "we met"], "passage")
    assert (found.vectors == Letters().vectors(["it rained", "we met"], "passage")).all()
    assert weights.embedded == []
    told = embedder.report()
    assert (told.distinct, told.computed, told.reused, told.packed, told.backend) == (3, 0, 3, 3, "function/its own")
    assert told.document()["packed"] == 3
    embedder.close()


def test_a_text_that_it_lacks_is_embedded_beside_it_by_the_same_engine(opened: Opened) -> None:
    embedder = opened(Letters())
    embedder.ensure(["we met", "Ann sang"], "passage")
    told = embedder.report()
    assert (told.computed, told.reused, told.packed) == (1, 1, 1)
    assert told.computed_with[-1] == "letters, numpy on this machine"
    embedder.close()
    # What was computed beside it is kept, and does not become the pack's.
    embedder = opened(None)
    embedder.ensure(["we met", "Ann sang"], "passage")
    told = embedder.report()
    assert (told.computed, told.reused, told.packed) == (0, 2, 1)
    embedder.close()


def test_without_weights_a_text_that_it_lacks_ends_the_run(opened: Opened) -> None:
    with pytest.raises(Blocked, match="the pack of python:letters:embed lacks a text of this run") as error:
        opened(None).ensure(["we met", "Ann sang"], "passage")
    assert error.value.expected.startswith("each text among the 3 of a pack that Ann (a lab) made on 2026-11-20")


def test_another_engine_never_embeds_beside_it(opened: Opened) -> None:
    weights = Letters(backend="function/another")
    with pytest.raises(Blocked, match="and this machine would embed it otherwise") as error:
        opened(weights).ensure(["we met", "Ann sang"], "passage")
    assert (error.value.found, weights.embedded) == ("function/another on this machine", [])
    assert error.value.remedy == "--backend function embeds everything here, without the pack"


def test_other_weights_never_embed_beside_it(opened: Opened) -> None:
    with pytest.raises(InputError, match="the pack is of another encoder than the python:letters:embed") as error:
        opened(Letters(version="2")).ensure(["Ann sang"], "passage")
    assert (error.value.expected, error.value.found) == ("version 2", "1")


def test_a_run_that_may_be_cited_compares_some_again_whatever_the_engine(opened: Opened) -> None:
    weights = Letters(backend="function/another")
    embedder = opened(weights, recheck_own=True)
    embedder.ensure(["we met", "it rained"], "passage")
    told = embedder.report()
    assert (told.embedded_again, told.packed, told.proof) == (2, 2, "not needed")
    assert {"we met", "it rained"} <= set(weights.embedded)
    with pytest.raises(InputError, match="vectors in the cache are not the encoder's"):
        opened(Letters(off=9.0), recheck_own=True).ensure(["we met"], "passage")


def test_vectors_that_were_changed_since_are_not_used(opened: Opened, used: UsedPack) -> None:
    vectors = used.folder / "vectors.f32"
    whole = vectors.read_bytes()
    vectors.write_bytes(whole[:1] + b"\7" + whole[2:])
    with pytest.raises(Blocked, match="lacks a text of this run"):
        opened(None).ensure(["we met", "it rained"], "passage")


def test_the_texts_that_are_compared_are_drawn_by_the_users_own_key(tmp_path: Path) -> None:
    haystacks = [haystack("a", [f"text {place}" for place in range(50)], [f"question {place}" for place in range(9)])]
    made_up_pack(tmp_path / "many", haystacks, embedder=cached(Letters(), tmp_path / "maker"))

    def drawn(key: bytes, most: int = 32) -> dict[str, list[str]]:
        draw = TextDraw(Seal(key, "pack"), most)
        found = check_texts(PackFile(tmp_path / "many"), haystacks, draw)
        return {role: [text.text for text in texts] for role, texts in found.items()}

    first = drawn(b"1" * 32)
    assert {role: len(texts) for role, texts in first.items()} == {"passage": 23, "query": 9}
    assert drawn(b"1" * 32) == first != drawn(b"2" * 32)
    assert {role: len(texts) for role, texts in drawn(b"1" * 32, 8).items()} == {"passage": 4, "query": 4}


@pytest.mark.parametrize(
    ("haystacks", "found"),
    [
        ([haystack("a", ["we met", "it poured"], ["who met?"])], "text 2 of the corpus, in a, is not there"),
        ([haystack("a", ["it rained", "we met"], ["who met?"])], "text 1 of the corpus, in a, is not there"),
        ([haystack("a", ["we met", "it rained"], [])], "3 texts, the corpus has 2"),
        ([*HAYSTACKS, haystack("b", ["and more"], [])], "text 4 of the corpus, in b, is not there"),
    ],
)
def test_other_texts_are_told(pack: PackFile, haystacks: Any, found: str) -> None:
    with pytest.raises(InputError, match="is a pack of other texts") as error:
        check_texts(pack, haystacks, TextDraw(Seal(b"1" * 32, "pack"), 32))
    assert error.value.found == found


def test_vectors_of_something_else_are_told(pack: PackFile, tmp_path: Path) -> None:
    drawn = check_texts(pack, HAYSTACKS, TextDraw(Seal(b"1" * 32, "pack"), 32))
    agreed = compare_again(pack, drawn, cached(Letters(), tmp_path / "x"))
    assert agreed == (3, 1.0)
    with pytest.raises(InputError, match="are not those of python:letters:embed") as error:
        compare_again(pack, drawn, cached(Letters(off=9.0), tmp_path / "x"))
    assert error.value.expected == "what it gives for the same texts now, in each of 2 drawn from the segments"
