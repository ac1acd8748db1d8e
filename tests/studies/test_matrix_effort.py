"""What an encoder takes for texts and leaves unread of them, and whether that is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recallbench.corpora.records import Haystack, Segment
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.machine import cpu_model
from recallbench.studies.matrix.effort import keep_effort, kept_effort, measure_effort


def haystack(scope: str, *lengths: int) -> Haystack:
    """Segments of so many words each."""
    texts = [" ".join(["word"] * length) for length in lengths]
    return Haystack(scope, tuple(Segment(scope, place, text) for place, text in enumerate(texts)), ())


def test_tokens_behind_the_limit_are_counted_over_all_segments() -> None:
    effort = measure_effort(HashEmbedder(), [haystack("a", 600, 512), haystack("b", 5, 513)], timed=False)
    assert (effort.segments, effort.tokens, effort.tokens_cut) == (4, 600 + 512 + 5 + 513, 88 + 1)
    assert effort.lost == pytest.approx(89 / 1630)
    assert (effort.probed, effort.seconds, effort.per_1000) == (0, None, None)


def test_a_probe_embeds_at_most_64_segments_until_it_took_long_enough() -> None:
    effort = measure_effort(HashEmbedder(), [haystack("a", *range(100))], timed=True)
    assert (effort.probed, effort.segments) == (64, 100)
    assert effort.seconds is not None
    assert effort.passes * effort.seconds >= 0.199
    assert effort.per_1000 == pytest.approx(1000 * effort.seconds / 64)


def test_the_effort_of_another_processor_is_measured_anew(tmp_path: Path) -> None:
    effort = measure_effort(HashEmbedder(), [haystack("a", 3)], timed=False)
    assert (effort.cpu, effort.cores) == (cpu_model(), os.cpu_count())
    cell = tmp_path / "cells/cell"
    cell.mkdir(parents=True)
    assert kept_effort(cell) is None
    keep_effort(cell, effort)
    assert kept_effort(cell) == effort
    assert list((tmp_path / "cells").iterdir()) == [cell]  # so that `recallbench table cells/*` takes results alone
    keep_effort(cell, effort.model_copy(update={"cpu": "Slow 1"}))
    assert kept_effort(cell) is None
    (tmp_path / "efforts/cell.json").write_text("{}")
    assert kept_effort(cell) is None
