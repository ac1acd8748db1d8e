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


@pytest.mark.parametrize("word", ["path:model@7", "path:model@0", "hash@256"])
def test_a_window_that_can_not_be_kept_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        read_encoders([word])


def test_neighbours_are_windows_of_one_encoder_by_their_length() -> None:
    encoders = [("a", 512), ("b", 128), ("a", 128), ("c", None), ("a", 256), ("b", 128), ("c", None)]
    # Two of the same length are no neighbours: they read the same.
    assert neighbouring_windows(encoders) == [(2, 4), (4, 0)]
