"""The cache survives kills, damage, full disks and a second writer."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cache_rows import DIMS, SEAL, fill, key, values

from recallbench.embedding import vector_cache
from recallbench.embedding.vector_cache import RECORD, VectorCache
from recallbench.errors import InputError, RecallBenchError


def test_vectors_outlive_their_process(opened_cache: Any) -> None:
    cache = opened_cache()
    fill(cache, 1, 2, 3)
    fill(cache, 4)
    cache.close()
    again = opened_cache()
    assert len(again) == 4
    assert values(again, 1, 2, 3, 4, 5) == [1.0, 2.0, 3.0, 4.0, None]
    rows = [again.row(key(number)) or 0 for number in (4, 1)]
    assert again.tokens(rows).tolist() == [104, 101]
    assert again.cuts(rows).tolist() == [204, 201]
    assert again.vectors(rows).dtype == np.float32


def test_a_vector_in_the_cache_is_not_overwritten(opened_cache: Any, tmp_path: Path) -> None:
    cache = opened_cache()
    fill(cache, 1)
    cache.append([key(1)], [0], [0], np.full((1, DIMS), 9, np.float32))
    assert values(cache, 1) == [1.0]
    assert (tmp_path / "c" / "vectors.f32").stat().st_size == DIMS * 4


@pytest.mark.parametrize("name", ["index", "vectors.f32"])
@pytest.mark.parametrize("lost", [1, 7, 19])
def test_a_torn_tail_costs_its_record_alone(opened_cache: Any, tmp_path: Path, name: str, lost: int) -> None:
    cache = opened_cache()
    fill(cache, 1, 2, 3)
    cache.close()
    file = tmp_path / "c" / name
    os.truncate(file, file.stat().st_size - lost)
    torn = opened_cache()
    assert values(torn, 1, 2, 3) == [1.0, 2.0, None]
    fill(torn, 4, 3)
    torn.close()
    mended = opened_cache()
    assert values(mended, 1, 2, 3, 4) == [1.0, 2.0, 3.0, 4.0]
    assert mended.corrupt == 0
    assert (tmp_path / "c" / "index").stat().st_size == 4 * RECORD.itemsize
    assert (tmp_path / "c" / "vectors.f32").stat().st_size == 4 * DIMS * 4


@pytest.mark.parametrize(("name", "offset"), [("vectors.f32", DIMS * 4 + 3), ("index", RECORD.itemsize + 33)])
def test_a_damaged_record_is_noticed_and_replaced(opened_cache: Any, tmp_path: Path, name: str, offset: int) -> None:
    cache = opened_cache()
    fill(cache, 1, 2, 3)
    cache.close()
    file = tmp_path / "c" / name
    body = bytearray(file.read_bytes())
    body[offset] ^= 16
    file.write_bytes(bytes(body))
    damaged = opened_cache()
    assert values(damaged, 1, 2, 3) == [1.0, None, 3.0]
    assert damaged.corrupt == 1
    fill(damaged, 2)
    damaged.close()
    assert values(opened_cache(), 1, 2, 3) == [1.0, 2.0, 3.0]


def test_a_reader_takes_in_what_another_appended(opened_cache: Any) -> None:
    reader, writer = opened_cache(), opened_cache()
    fill(writer, 1, 2)
    assert values(reader, 1) == [None]
    reader.refresh()
    assert values(reader, 1, 2) == [1.0, 2.0]
    fill(reader, 3)
    fill(writer, 4)
    assert values(writer, 1, 2, 3, 4) == [1.0, 2.0, 3.0, 4.0]


def test_rows_of_an_interrupted_write_are_not_read(opened_cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, interrupted = opened_cache(), opened_cache()
    fill(interrupted, 1, 2, 3)
    reading = threading.Thread(target=reader.refresh)
    writes: list[int] = []

    def write(descriptor: int, body: bytes, start: int, real: Any = vector_cache.write_at) -> None:
        real(descriptor, body, start)
        writes.append(start)
        if len(writes) == 2:
            # Both files now hold rows 4 and 5, and a reader comes by before Ctrl-C takes them back.
            reading.start()
            reading.join(0.2)
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(vector_cache, "write_at", write)
        with pytest.raises(KeyboardInterrupt):
            fill(interrupted, 4, 5)
    reading.join(30)
    assert len(reader) == 3
    fill(interrupted, 6)
    fill(reader, 4)
    assert values(reader, 1, 2, 3, 4, 5, 6) == [1.0, 2.0, 3.0, 4.0, None, 6.0]


def test_files_that_are_cut_while_they_are_in_use_are_refused(opened_cache: Any, tmp_path: Path) -> None:
    cache = opened_cache()
    fill(cache, 1, 2, 3, 4)
    os.truncate(tmp_path / "c" / "index", 2 * RECORD.itemsize)
    for use in (cache.refresh, lambda: fill(cache, 5), lambda: cache.accept([0, 1], [0])):
        with pytest.raises(RecallBenchError, match="vectors changed in the cache while they were in use") as caught:
            use()
        assert caught.value.found == "2 of 4 rows"
    assert values(opened_cache(), 1, 2, 3, 4, 5) == [1.0, 2.0, None, None, None]


def test_left_over_records_are_never_paired_with_other_texts(
    opened_cache: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, killed = tmp_path / "c", tmp_path / "killed"
    fill(opened_cache(), 1, 2, 3, 4, 5)
    # The index kept two records more than the vectors; then a writer is killed between its two writes.
    os.truncate(folder / "vectors.f32", 3 * DIMS * 4)
    cache = opened_cache()

    def write(descriptor: int, body: bytes, start: int, real: Any = vector_cache.write_at) -> None:
        if descriptor == cache._index:
            shutil.copytree(folder, killed)
        real(descriptor, body, start)

    monkeypatch.setattr(vector_cache, "write_at", write)
    fill(cache, 6, 7)
    assert (killed / "vectors.f32").stat().st_size == 5 * DIMS * 4
    after = VectorCache(killed, DIMS, SEAL)
    assert values(after, 1, 2, 3, 4, 5, 6) == [1.0, 2.0, 3.0, None, None, None]
    assert (after.corrupt, len(after)) == (0, 3)


def test_the_folder_names_the_versions_behind_its_rows(opened_cache: Any) -> None:
    first = opened_cache(SEAL, None, "torch 2.13.0")
    assert first.computed_with == ()
    fill(first, 1)
    fill(first, 2)
    newer = opened_cache(SEAL, None, "torch 2.14.0")
    fill(newer, 1, 2)
    assert newer.computed_with == ("torch 2.13.0",)
    fill(newer, 3)
    fill(first, 4)
    assert first.computed_with == newer.computed_with == ("torch 2.13.0", "torch 2.14.0")


def test_rows_without_recorded_versions_are_reported_as_such(opened_cache: Any) -> None:
    fill(opened_cache(), 1)
    later = opened_cache(SEAL, None, "torch 2.13.0")
    assert later.computed_with == ("versions not recorded",)
    fill(later, 2)
    assert later.computed_with == ("versions not recorded", "torch 2.13.0")


WRITER = """
import hashlib, sys
from pathlib import Path
import numpy as np
from recallbench.embedding.vector_cache import VectorCache
from recallbench.embedding.own_key import Seal
start, stop = int(sys.argv[2]), int(sys.argv[3])
cache = VectorCache(Path(sys.argv[1]), 5, Seal(b"k" * 32, "fingerprint"))
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


def test_two_processes_write_at_once(opened_cache: Any, tmp_path: Path) -> None:
    writers = [writer(tmp_path / "c", 0, 900), writer(tmp_path / "c", 600, 1500)]
    for process in writers:
        go(process)
    assert [process.wait(60) for process in writers] == [0, 0]
    cache = opened_cache()
    assert values(cache, *range(1500)) == [float(number) for number in range(1500)]
    assert cache.corrupt == 0
    # A text that both processes embedded is stored once.
    assert (tmp_path / "c" / "index").stat().st_size == 1500 * RECORD.itemsize


@pytest.mark.marked
def test_kill_9_at_any_moment_leaves_whole_records(opened_cache: Any, tmp_path: Path) -> None:
    for attempt in range(8):
        process = writer(tmp_path / "c", attempt * 100_000, (attempt + 1) * 100_000)
        go(process)
        time.sleep(0.02 + 0.013 * attempt)
        process.send_signal(signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
        cache = opened_cache()
        numbers = [number for number in range(attempt * 100_000, attempt * 100_000 + 20_000) if cache.row(key(number))]
        assert values(cache, *numbers) == [float(number) for number in numbers]
        assert cache.corrupt == 0
        assert len(cache) > 0
        cache.close()


def test_a_write_the_disk_refuses_is_an_error_and_leaves_whole_records(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import resource, sys
        from pathlib import Path
        import numpy as np
        from recallbench.embedding.vector_cache import VectorCache
        from recallbench.embedding.own_key import Seal
        from recallbench.errors import RecallBenchError
        cache = VectorCache(Path(sys.argv[1]), 5, Seal(b"k" * 32, "fingerprint"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
        done = 0
        try:
            for n in range(20):
                cache.append([bytes([n]) * 32], [n], [n], np.full((1, 5), n, np.float32))
                done += 1
        except RecallBenchError as error:
            kept = VectorCache(Path(sys.argv[1]), 5, Seal(b"k" * 32, "fingerprint"))
            print(done, len(kept), str(error).splitlines()[0])
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "c")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"3 3 the vector cache can't be written: {tmp_path / 'c'}"


def test_a_folder_that_can_not_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecallBenchError, match="the vector cache can't be written"):
        VectorCache(tmp_path / "file" / "c", DIMS, SEAL)


@pytest.mark.parametrize("name", ["index", "vectors.f32", f"seals-{SEAL.owner}", "computed_with"])
def test_no_file_is_opened_through_a_link(opened_cache: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "private").write_text("a secret of the user's\n")
    (tmp_path / "c" / name).symlink_to(tmp_path / "private")
    with pytest.raises(InputError, match="the vector cache is not as RecallBench makes it"):
        fill(opened_cache(SEAL, {"encoder": "tiny"}, "torch 1 on a processor"), 1)
    assert (tmp_path / "private").read_text() == "a secret of the user's\n"


def test_a_link_in_place_of_the_fingerprint_file_is_left_alone(opened_cache: Any, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/fingerprint.json").symlink_to(tmp_path / "private")
    fill(opened_cache(SEAL, {"encoder": "tiny"}), 1)
    assert not (tmp_path / "private").exists()


def test_a_note_that_is_no_text_hinders_no_run(opened_cache: Any, tmp_path: Path) -> None:
    fill(opened_cache(SEAL, None, "torch 2.13.0"), 1)
    (tmp_path / "c/computed_with").write_bytes(b"torch \xff\n")
    later = opened_cache(SEAL, None, "torch 2.14.0")
    fill(later, 2)
    assert later.computed_with == ("torch \ufffd", "torch 2.14.0")
