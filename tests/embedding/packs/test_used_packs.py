"""A pack in the cache: whole or absent, its user's own, and the last one that was used counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from killing import killed_at
from pack_makers import MadeUpEmbedder, haystack, made_up_pack
from recallbench.embedding import own_key as keys
from recallbench.embedding.packs.pack_file import PackFile
from recallbench.embedding.packs.record import NAME, AgreedTexts
from recallbench.embedding.packs.used_packs import UsedPack, choose_pack, use_pack, used_packs
from recallbench.errors import Blocked, InputError
from recallbench.progress import Silent

HAYSTACKS = (haystack("a", ["we met", "it rained"], ["who met?"]),)


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "key_path", lambda: tmp_path / "settings" / "vectors.key")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    made_up_pack(tmp_path / "p.safetensors", HAYSTACKS)
    return tmp_path / "p.safetensors"


def use(pack: Path, cache: Path, examine: Callable[[], Any] = lambda: (None, None)) -> UsedPack:
    with PackFile(pack) as opened:
        return use_pack(opened, cache, Silent(), examine)


def listed(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_it_is_found_by_encoder_length_and_texts(pack: Path, tmp_path: Path) -> None:
    cache = tmp_path / "c"
    assert used_packs(cache, "dragon-plus", None) == []
    used = use(pack, cache, lambda: (AgreedTexts(32, 0.9999999), None))
    assert used_packs(cache, "dragon-plus", None) == [used]
    assert used_packs(cache, "dragon-plus", 128) == used_packs(cache, "bge-m3", None) == []
    assert used.record.comparison == (AgreedTexts(32, 0.9999999), "whoever used it")
    assert used.words.startswith("a pack that Ann (a lab) made on 2026-11-20 (EPYC), sha256 ")
    assert choose_pack([used], "c" * 64, "auto") == used
    assert choose_pack([used], "c" * 64, "torch") == used
    assert choose_pack([used], "c" * 64, "openvino") is None
    assert choose_pack([used], "d" * 64, "auto") is None


def test_the_one_that_was_used_last_counts(pack: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    made_up_pack(other, HAYSTACKS, embedder=MadeUpEmbedder(backend="openvino/cpu"))
    first, second = use(pack, tmp_path / "c"), use(other, tmp_path / "c")
    assert used_packs(tmp_path / "c", "dragon-plus", None) == [second, first]
    again = use(pack, tmp_path / "c")
    assert again.folder == first.folder
    assert choose_pack(used_packs(tmp_path / "c", "dragon-plus", None), "c" * 64, "auto") == again


def test_it_belongs_to_who_used_it_and_to_nobody_who_edits_it(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = use(pack, tmp_path / "c")
    record = used.folder / NAME
    body = record.read_text()
    told = json.loads(body.splitlines()[0])
    record.write_text(body.replace(json.dumps(told["compared"]) + ',"cosine":null', '32,"cosine":1.0', 1))
    assert record.read_text() != body
    assert used_packs(tmp_path / "c", "dragon-plus", None) == []
    record.write_text(body)
    assert used_packs(tmp_path / "c", "dragon-plus", None) == [used]
    monkeypatch.setattr(keys, "key_path", lambda: tmp_path / "another" / "vectors.key")
    assert used_packs(tmp_path / "c", "dragon-plus", None) == []
    assert use(pack, tmp_path / "c").folder != used.folder


@pytest.mark.parametrize("body", [b"", b"{}\n", b"{}\nab\n", b"\xff\n\n", b"[" * 9999])
def test_a_record_that_is_none_counts_as_none(pack: Path, tmp_path: Path, body: bytes) -> None:
    (use(pack, tmp_path / "c").folder / NAME).write_bytes(body)
    assert used_packs(tmp_path / "c", "dragon-plus", None) == []


def test_a_refusal_leaves_nothing(pack: Path, tmp_path: Path) -> None:
    def refuse() -> Any:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        use(pack, tmp_path / "c", refuse)
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-1500] + b"\1" + whole[-1499:])
    with pytest.raises(InputError, match="is not a pack as it was made"):
        use(pack, tmp_path / "c")
    assert listed(tmp_path / "c") == []


def test_damaged_rows_are_put_in_order_by_using_it_again(pack: Path, tmp_path: Path) -> None:
    used = use(pack, tmp_path / "c")
    vectors = used.folder / "vectors.f32"
    whole = vectors.read_bytes()
    vectors.write_bytes(b"\1" + whole[1:])
    assert use(pack, tmp_path / "c").folder == used.folder
    assert vectors.read_bytes() == whole
    assert [path.name for path in (tmp_path / "c" / "vectors").iterdir()] == [used.folder.name]


def test_without_a_key_of_ones_own_it_is_refused(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(keys, "key_path", lambda: tmp_path / "file" / "vectors.key")
    with pytest.raises(Blocked, match="a pack can't be used without a key of your own"):
        use(pack, tmp_path / "c")


def test_whenever_it_is_killed_there_is_a_whole_pack_or_none(pack: Path, tmp_path: Path) -> None:
    """At every step on disk; and the next use leaves nothing of what was unfinished."""
    use(pack, tmp_path / "first")  # makes the key, which is another test's matter
    reached, cache = 0, tmp_path / "c0"
    while killed_at(reached, partial(use, pack, cache)):
        found = used_packs(cache, "dragon-plus", None)
        if found:
            with PackFile(pack) as opened:
                [block] = opened.blocks()
            assert (found[0].folder / "vectors.f32").read_bytes() == block.vectors.tobytes()
        after = use(pack, cache)
        assert used_packs(cache, "dragon-plus", None) == [after]
        assert [path.name for path in (cache / "vectors").iterdir()] == [after.folder.name]
        reached += 1
        cache = tmp_path / f"c{reached}"
    assert reached > 10


def test_packing_that_is_killed_leaves_a_whole_file_or_none(tmp_path: Path) -> None:
    reached, path = 0, tmp_path / "0" / "p"
    while killed_at(reached, partial(made_up_pack, path, HAYSTACKS)):
        if not path.exists():
            made_up_pack(path, HAYSTACKS)
        with PackFile(path) as opened:
            assert len(list(opened.blocks())) == 1
        # Of what was unfinished the next one leaves nothing.
        made_up_pack(path.with_name("q"), HAYSTACKS)
        assert listed(path.parent) == ["p", "q"]
        reached += 1
        path = tmp_path / str(reached) / "p"
    assert reached > 5
