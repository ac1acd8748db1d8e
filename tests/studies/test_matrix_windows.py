"""Encoders with windows: how they are named, and which windows are neighbours."""

from __future__ import annotations

import pytest

from recallbench.errors import UsageError
from recallbench.studies.matrix.windows import WindowedEncoder, neighbouring_windows, read_encoders

HUB = f"hub:team/model@{'1234567890' * 4}"


def test_a_window_stands_behind_the_last_at_and_a_revision_is_none() -> None:
    read = read_encoders(["minilm", "path:models/a@b@64", HUB, f"{HUB}@128"])
    assert read == [
        WindowedEncoder("minilm"),
        WindowedEncoder("path:models/a@b", 64),
        WindowedEncoder(HUB),
        WindowedEncoder(HUB, 128),
    ]
    assert [each.name for each in read[1:]] == ["path:a-b@64", HUB, f"{HUB}@128"]


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("path:model@7", "write @8 or more, or path:model alone for its own length"),
        ("path:model@0", "write @8 or more, or path:model alone for its own length"),
        ("minilm@513", "write @512 or less, or minilm alone for its own length"),
        ("hash@256", "write hash alone for its own length"),
        ("bge-m3@64", "write bge-m3 alone for its own length"),
    ],
)
def test_a_window_that_can_not_be_kept_is_refused_in_its_own_words(word: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_encoders([word])
    assert refused.value.remedy == remedy
    assert "--" not in str(refused.value)


@pytest.mark.parametrize("words", [["hash", "hash"], ["minilm", "minilm@512"], ["path:model@64", "path:model@64"]])
def test_one_encoder_of_one_length_is_refused_twice(words: list[str]) -> None:
    with pytest.raises(UsageError, match="is named twice"):
        read_encoders(words)


def test_neighbours_are_windows_of_one_encoder_by_their_length() -> None:
    encoders = [("a", 512), ("b", 128), ("a", 128), ("c", None), ("a", 256), ("b", 128), ("c", None)]
    # Two of the same length are no neighbours: they read the same.
    assert neighbouring_windows(encoders) == [(2, 4), (4, 0)]
