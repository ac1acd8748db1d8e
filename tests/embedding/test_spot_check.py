"""Cached vectors of others are compared with new ones before any of them is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import sentence

from forged_rows import forge, turn
from recallbench.embedding.own_key import Seal
from recallbench.embedding.spot_check import CachedText, SpotCheck
from recallbench.embedding.vector_agreement import Difference
from recallbench.errors import InputError

TEXTS = [sentence(3 + seed, seed) for seed in range(20)]


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Switch to a user of this name, who has settings, and so a key, of their own."""
    return lambda name: monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / name))


def fill_cache_as(user: Any, opened: Any, name: str, texts: list[str] = TEXTS) -> None:
    user(name)
    embedder = opened()
    embedder.ensure(texts, "passage")
    embedder.close()


def folder(tmp_path: Path) -> Path:
    [cache] = (tmp_path / "cache" / "vectors").iterdir()
    return cache


def test_another_users_vectors_are_used_once_eight_of_them_agree(user: Any, opened: Any, tmp_path: Path) -> None:
    fill_cache_as(user, opened, "ann")
    before = (folder(tmp_path) / "vectors.f32").read_bytes()
    user("bob")
    embedder = opened()
    embedder.ensure(TEXTS, "passage")
    report = embedder.report()
    assert (report.computed, report.reused, report.foreign, report.embedded_again) == (0, 20, 20, 8)
    assert 0.999999 < (report.embedded_again_worst_cosine or 0) <= 1
    embedder.lookup(TEXTS, "passage")
    assert embedder.report().embedded_again == 8
    # The rows embedded again are Bob's own now; the next check adds eight more.
    again = opened()
    again.ensure(TEXTS, "passage")
    assert (again.report().foreign, again.report().embedded_again) == (12, 8)
    # None of that changes a vector, and all are still Ann's own.
    assert (folder(tmp_path) / "vectors.f32").read_bytes() == before
    user("ann")
    embedder = opened()
    embedder.ensure(TEXTS, "passage")
    assert (embedder.report().foreign, embedder.report().embedded_again) == (0, 0)


def test_vectors_from_before_there_were_seals_are_checked_too(user: Any, opened: Any, tmp_path: Path) -> None:
    fill_cache_as(user, opened, "ann", TEXTS[:3])
    for seals in folder(tmp_path).glob("seals-*"):
        seals.unlink()
    for foreign, again in ((3, 3), (0, 0)):
        embedder = opened()
        embedder.ensure([TEXTS[1], TEXTS[0], TEXTS[1], TEXTS[2]], "passage")
        assert (embedder.report().foreign, embedder.report().embedded_again) == (foreign, again)


def test_queries_are_checked_apart_from_passages(user: Any, opened: Any) -> None:
    fill_cache_as(user, opened, "ann")
    user("bob")
    embedder = opened()
    embedder.ensure(TEXTS[:10], "passage")
    embedder.ensure(TEXTS[10:], "query")
    assert (embedder.report().foreign, embedder.report().embedded_again) == (20, 16)


def other_tokens(record: Any, vector: Any) -> None:
    record["tokens"] += 1


def other_cut(record: Any, vector: Any) -> None:
    record["cut"] -= 1


def longer(record: Any, vector: Any) -> None:
    vector *= 1.001


def nothing(record: Any, vector: Any) -> None:
    vector[:] = np.nan


@pytest.mark.parametrize(
    ("change", "whose"),
    [(turn, "mine"), (turn, "theirs"), *((change, "mine") for change in (longer, nothing, other_tokens, other_cut))],
)
def test_forged_vectors_are_refused_and_none_is_used(
    user: Any, opened: Any, tmp_path: Path, change: Any, whose: str
) -> None:
    fill_cache_as(user, opened, whose)
    forge(folder(tmp_path), None, change)
    user("mine")
    embedder = opened()
    with pytest.raises(InputError, match="vectors in the cache are not the encoder's") as caught:
        embedder.ensure([*TEXTS, "rain again"], "passage")
    assert str(folder(tmp_path)) in caught.value.problem
    assert caught.value.expected.endswith("in each of 8 drawn from 20 vectors without the seal of your own key")
    assert f"delete {folder(tmp_path)}" in caught.value.remedy
    # Going on all the same does not use one either.
    with pytest.raises(InputError, match="vectors in the cache are not the encoder's"):
        embedder.lookup(TEXTS[:1], "passage")
    assert embedder.report().computed == 0


def test_vectors_that_are_put_there_during_a_run_are_checked_before_they_are_used(
    user: Any, opened: Any, tmp_path: Path
) -> None:
    fill_cache_as(user, opened, "mine")
    fill_cache_as(user, opened, "theirs", [])
    user("mine")
    embedder = opened()
    embedder.ensure(TEXTS, "passage")
    where = folder(tmp_path)
    index, vectors = (where / "index").read_bytes(), (where / "vectors.f32").read_bytes()
    # The same texts once more, with other vectors: of several rows the last counts.
    (where / "index").write_bytes(index * 2)
    (where / "vectors.f32").write_bytes(vectors * 2)
    forge(where, range(20, 40), turn)
    with pytest.raises(InputError, match="vectors in the cache are not the encoder's"):
        embedder.lookup([*TEXTS, "rain again"], "passage")


def test_own_vectors_are_checked_with_recheck_own(user: Any, opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_cache_as(user, opened, "ann")
    embedder = opened(recheck_own=True)
    embedder.ensure([*TEXTS, "rain again"], "passage")
    report = embedder.report()
    assert (report.reused, report.computed, report.foreign, report.embedded_again) == (20, 1, 0, 8)
    # Vectors that this run computed are not checked again.
    embedder.lookup([*TEXTS, "rain again"], "passage")
    assert embedder.report().embedded_again == 8
    user("bob")
    both = opened(recheck_own=True)
    both.ensure(TEXTS, "passage")
    assert (both.report().foreign, both.report().embedded_again) == (20, 8)
    monkeypatch.setattr("recallbench.embedding.spec_encoder.TOLERATED", Difference(1.1, 1e-4))
    with pytest.raises(InputError, match="vectors in the cache are not the encoder's") as caught:
        opened(recheck_own=True).ensure(TEXTS, "passage")
    assert "8 drawn from 12 vectors without the seal of your own key" in caught.value.expected


@pytest.mark.parametrize("shown", [len(TEXTS), 10])
def test_the_texts_that_were_reused_are_checked_by_the_next_ensure(
    user: Any, opened: Any, tmp_path: Path, shown: int
) -> None:
    fill_cache_as(user, opened, "ann")
    for name, foreign in (("ann", 0), ("bob", 20)):
        user(name)
        plain, embedder = opened(recheck_own=True), opened(recheck_own=True)
        assert all(embedder.reuse(TEXTS[start : start + 5], "passage") for start in range(0, shown, 5))
        assert embedder.report().embedded_again == 0
        embedder.ensure(TEXTS if shown < len(TEXTS) else (), "passage")
        assert (embedder.report().foreign, embedder.report().embedded_again) == (foreign, 8)
        if name == "ann":
            plain.ensure(TEXTS, "passage")
            assert plain.report() == replace(embedder.report(), seconds=plain.report().seconds)
    user("carl")
    forge(folder(tmp_path), None, turn)
    embedder = opened()
    assert embedder.reuse(TEXTS, "passage")
    with pytest.raises(InputError, match="in each of 8 drawn from 20 vectors without the seal of your own key"):
        embedder.ensure((), "passage")
    with pytest.raises(InputError, match="vectors in the cache are not the encoder's"):
        embedder.lookup(TEXTS[:1], "passage")


def drawn(seals: dict[int, bytes], order: list[int]) -> list[int]:
    check = SpotCheck()
    for row in order:
        check.offer(CachedText(seals[row], row, row, ""))
    return [text.row for text in check.drawn]


def test_a_draw_is_of_eight_distinct_rows_whatever_their_order() -> None:
    seal = Seal(b"k" * 32, "fingerprint")
    seals = {row: seal.of(b"", bytes([row])) for row in range(30)}
    first = drawn(seals, list(range(30)))
    assert len(set(first)) == 8
    assert drawn(seals, [*range(29, -1, -1), *range(30)]) == first
    assert drawn(seals, [5, 5, 3]) == sorted([3, 5], key=lambda row: seals[row])


def test_forging_a_quarter_of_the_rows_is_detected_nine_times_in_ten() -> None:
    # 10 of 40 rows, and 400 users who each have a key that the forger does not know: 1 - C(30, 8) / C(40, 8) = .9239.
    met = 0
    for user in range(400):
        seal = Seal(user.to_bytes(32, "big"), "fingerprint")
        seals = {row: seal.of(b"", bytes([row])) for row in range(40)}
        met += any(row < 10 for row in drawn(seals, list(range(40))))
    assert met / 400 == pytest.approx(0.9239, abs=0.04)
