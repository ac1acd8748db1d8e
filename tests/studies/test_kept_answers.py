"""The kept answers of a sweep, where somebody else may have put a file."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

from recallbench.studies.sweep.kept import FOLDER, LARGEST, Answers, SweepCache

ADDRESS = "ab" * 32


def planted(cache_dir: Path, content: bytes) -> None:
    cache = SweepCache(cache_dir)
    cache.keep(ADDRESS, Answers("x", {"q1": (1, 0)}))
    assert cache.find(ADDRESS) == Answers("x", {"q1": (1, 0)})
    (cache_dir / FOLDER / "ab" / f"{ADDRESS}.json.gz").write_bytes(content)


def test_a_small_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    cache = SweepCache(tmp_path)
    planted(tmp_path, gzip.compress(b"[" + b" " * (4 * LARGEST), 1))
    tracemalloc.start()
    assert cache.find(ADDRESS) is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * LARGEST


def test_what_is_no_answer_is_none(tmp_path: Path) -> None:
    beyond = [gzip.compress(f'{{"version": "x", "deep": {{"q1": [{place}]}}}}'.encode()) for place in (2**31, -1)]
    for content in (b"", b"no gzip", gzip.compress(b"[]"), gzip.compress(b"{}")[:-4], *beyond):
        planted(tmp_path, content)
        assert SweepCache(tmp_path).find(ADDRESS) is None
