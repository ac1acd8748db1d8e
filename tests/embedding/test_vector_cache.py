"""The cache survives kills, damage, full disks and a second writer."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from recallbench.embedding.cache import RECORD, VectorCache
from recallbench.errors import RecallBenchError

DIMS = 5


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def fill(cache: VectorCache, *numbers: int) -> None:
    cache.append(
        [key(number) for number in numbers],
        [100 + number for number in numbers],
        [200 + number for number in numbers],
        np.array([[number] * DIMS for number in numbers], np.float32),
    )


def values(cache: VectorCache, *numbers: int) -> list[float | None]:
    rows = [cache.row(key(number)) for number in numbers]
    return [None if row is None else float(cache.vectors([row])[0, 0]) for row in rows]


def test_what_was_kept_is_found_by_the_next_process(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "c", DIMS)
    fill(cache, 1, 2, 3)
    fill(cache, 4)
    cache.close()
    again = VectorCache(tmp_path / "c", DIMS)
    assert len(again) == 4
    assert values(again, 1, 2, 3, 4, 5) == [1.0, 2.0, 3.0, 4.0, None]
    rows = [again.row(key(number)) or 0 for number in (4, 1)]
    assert again.tokens(rows).tolist() == [104, 101]
    assert again.cuts(rows).tolist() == [204, 201]
    assert again.vectors(rows).dtype == np.float32


def test_a_key_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "c", DIMS)
    fill(cache, 1)
    cache.append([key(1)], [0], [0], np.full((1, DIMS), 9, np.float32))
    assert values(cache, 1) == [1.0]
    assert (tmp_path / "c" / "vectors.f32").stat().st_size == DIMS * 4


@pytest.mark.parametrize("name", ["index", "vectors.f32"])
@pytest.mark.parametrize("lost", [1, 7, 19])
def test_a_torn_tail_costs_its_record_alone(tmp_path: Path, name: str, lost: int) -> None:
    cache = VectorCache(tmp_path / "c", DIMS)
    fill(cache, 1, 2, 3)
    cache.close()
    file = tmp_path / "c" / name
    os.truncate(file, file.stat().st_size - lost)
    torn = VectorCache(tmp_path / "c", DIMS)
    assert values(torn, 1, 2, 3) == [1.0, 2.0, None]
    fill(torn, 4, 3)
    torn.close()
    mended = VectorCache(tmp_path / "c", DIMS)
    assert values(mended, 1, 2, 3, 4) == [1.0, 2.0, 3.0, 4.0]
    assert mended.corrupt == 0
    assert (tmp_path / "c" / "index").stat().st_size == 4 * RECORD.itemsize
    assert (tmp_path / "c" / "vectors.f32").stat().st_size == 4 * DIMS * 4


@pytest.mark.parametrize(("name", "place"), [("vectors.f32", DIMS * 4 + 3), ("index", RECORD.itemsize + 33)])
def test_a_damaged_record_is_noticed_and_replaced(tmp_path: Path, name: str, place: int) -> None:
    cache = VectorCache(tmp_path / "c", DIMS)
    fill(cache, 1, 2, 3)
    cache.close()
    file = tmp_path / "c" / name
    body = bytearray(file.read_bytes())
    body[place] ^= 16
    file.write_bytes(bytes(body))
    damaged = VectorCache(tmp_path / "c", DIMS)
    assert values(damaged, 1, 2, 3) == [1.0, None, 3.0]
    assert damaged.corrupt == 1
    fill(damaged, 2)
    damaged.close()
    assert values(VectorCache(tmp_path / "c", DIMS), 1, 2, 3) == [1.0, 2.0, 3.0]


def test_a_reader_takes_in_what_another_appended(tmp_path: Path) -> None:
    reader, writer = VectorCache(tmp_path / "c", DIMS), VectorCache(tmp_path / "c", DIMS)
    fill(writer, 1, 2)
    assert values(reader, 1) == [None]
    reader.refresh()
    assert values(reader, 1, 2) == [1.0, 2.0]
    fill(reader, 3)
    fill(writer, 4)
    assert values(writer, 1, 2, 3, 4) == [1.0, 2.0, 3.0, 4.0]


WRITER = """
import hashlib, sys
from pathlib import Path
import numpy as np
from recallbench.embedding.cache import VectorCache
start, stop = int(sys.argv[2]), int(sys.argv[3])
cache = VectorCache(Path(sys.argv[1]), 5)
print("ready", flush=True)
sys.stdin.readline()
for first in range(start, stop, 3):
    numbers = list(range(first, min(first + 3, stop)))
    keys = [hashlib.sha256(str(n).encode()).digest() for n in numbers]
    cache.append(keys, numbers, numbers, np.array([[n] * 5 for n in numbers], np.float32))
"""


def writer(folder: Path, start: int, stop: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(start), str(stop)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    writers = [writer(tmp_path / "c", 0, 900), writer(tmp_path / "c", 600, 1500)]
    for process in writers:
        go(process)
    assert [process.wait(60) for process in writers] == [0, 0]
    cache = VectorCache(tmp_path / "c", DIMS)
    assert values(cache, *range(1500)) == [float(number) for number in range(1500)]
    assert cache.corrupt == 0
    # What both wanted to keep is kept once.
    assert (tmp_path / "c" / "index").stat().st_size == 1500 * RECORD.itemsize


@pytest.mark.marked
def test_kill_9_at_any_moment_leaves_whole_records(tmp_path: Path) -> None:
    for attempt in range(8):
        process = writer(tmp_path / "c", attempt * 100_000, (attempt + 1) * 100_000)
        go(process)
        time.sleep(0.02 + 0.013 * attempt)
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
        cache = VectorCache(tmp_path / "c", DIMS)
        kept = [number for number in range(attempt * 100_000, attempt * 100_000 + 20_000) if cache.row(key(number))]
        assert values(cache, *kept) == [float(number) for number in kept]
        assert cache.corrupt == 0
        assert len(cache) > 0
        cache.close()


def test_a_write_the_disk_refuses_is_an_error_and_leaves_whole_records(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import resource, sys
        from pathlib import Path
        import numpy as np
        from recallbench.embedding.cache import VectorCache
        from recallbench.errors import RecallBenchError
        cache = VectorCache(Path(sys.argv[1]), 5)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
        done = 0
        try:
            for n in range(20):
                cache.append([bytes([n]) * 32], [n], [n], np.full((1, 5), n, np.float32))
                done += 1
        except RecallBenchError as error:
            print(done, len(VectorCache(Path(sys.argv[1]), 5)), str(error).splitlines()[0])
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "c")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"3 3 the vector cache can't be written: {tmp_path / 'c'}"


def test_a_folder_that_can_not_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecallBenchError, match="the vector cache can't be written"):
        VectorCache(tmp_path / "file" / "c", DIMS)
