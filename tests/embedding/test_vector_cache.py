"""The cache survives kills, damage, full disks and a second writer."""

from __future__ import annotations

import hashlib
import os
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

from forged_rows import forge
from recallbench.embedding import cache
from recallbench.embedding.cache import RECORD, VectorCache
from recallbench.embedding.seal import Seal
from recallbench.errors import InputError, RecallBenchError

DIMS = 5
SEAL = Seal(b"k" * 32, "fingerprint")


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
    cache = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(cache, 1, 2, 3)
    fill(cache, 4)
    cache.close()
    again = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert len(again) == 4
    assert values(again, 1, 2, 3, 4, 5) == [1.0, 2.0, 3.0, 4.0, None]
    rows = [again.row(key(number)) or 0 for number in (4, 1)]
    assert again.tokens(rows).tolist() == [104, 101]
    assert again.cuts(rows).tolist() == [204, 201]
    assert again.vectors(rows).dtype == np.float32


def test_a_key_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(cache, 1)
    cache.append([key(1)], [0], [0], np.full((1, DIMS), 9, np.float32))
    assert values(cache, 1) == [1.0]
    assert (tmp_path / "c" / "vectors.f32").stat().st_size == DIMS * 4


@pytest.mark.parametrize("name", ["index", "vectors.f32"])
@pytest.mark.parametrize("lost", [1, 7, 19])
def test_a_torn_tail_costs_its_record_alone(tmp_path: Path, name: str, lost: int) -> None:
    cache = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(cache, 1, 2, 3)
    cache.close()
    file = tmp_path / "c" / name
    os.truncate(file, file.stat().st_size - lost)
    torn = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert values(torn, 1, 2, 3) == [1.0, 2.0, None]
    fill(torn, 4, 3)
    torn.close()
    mended = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert values(mended, 1, 2, 3, 4) == [1.0, 2.0, 3.0, 4.0]
    assert mended.corrupt == 0
    assert (tmp_path / "c" / "index").stat().st_size == 4 * RECORD.itemsize
    assert (tmp_path / "c" / "vectors.f32").stat().st_size == 4 * DIMS * 4


@pytest.mark.parametrize(("name", "place"), [("vectors.f32", DIMS * 4 + 3), ("index", RECORD.itemsize + 33)])
def test_a_damaged_record_is_noticed_and_replaced(tmp_path: Path, name: str, place: int) -> None:
    cache = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(cache, 1, 2, 3)
    cache.close()
    file = tmp_path / "c" / name
    body = bytearray(file.read_bytes())
    body[place] ^= 16
    file.write_bytes(bytes(body))
    damaged = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert values(damaged, 1, 2, 3) == [1.0, None, 3.0]
    assert damaged.corrupt == 1
    fill(damaged, 2)
    damaged.close()
    assert values(VectorCache(tmp_path / "c", DIMS, SEAL), 1, 2, 3) == [1.0, 2.0, 3.0]


def test_a_reader_takes_in_what_another_appended(tmp_path: Path) -> None:
    reader, writer = VectorCache(tmp_path / "c", DIMS, SEAL), VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(writer, 1, 2)
    assert values(reader, 1) == [None]
    reader.refresh()
    assert values(reader, 1, 2) == [1.0, 2.0]
    fill(reader, 3)
    fill(writer, 4)
    assert values(writer, 1, 2, 3, 4) == [1.0, 2.0, 3.0, 4.0]


def test_rows_that_are_about_to_be_taken_back_are_not_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, interrupted = VectorCache(tmp_path / "c", DIMS, SEAL), VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(interrupted, 1, 2, 3)
    reading = threading.Thread(target=reader.refresh)
    writes: list[int] = []

    def write(descriptor: int, body: bytes, start: int, real: Any = cache._write) -> None:
        real(descriptor, body, start)
        writes.append(start)
        if len(writes) == 2:
            # Both files now hold rows 4 and 5, and a reader comes by before Ctrl-C takes them back.
            reading.start()
            reading.join(0.2)
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(cache, "_write", write)
        with pytest.raises(KeyboardInterrupt):
            fill(interrupted, 4, 5)
    reading.join(30)
    assert len(reader) == 3
    fill(interrupted, 6)
    fill(reader, 4)
    assert values(reader, 1, 2, 3, 4, 5, 6) == [1.0, 2.0, 3.0, 4.0, None, 6.0]


def test_rows_that_are_gone_from_the_files_are_forgotten(tmp_path: Path) -> None:
    known = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(known, 1, 2, 3, 4)
    assert values(known, 4) == [4.0]
    os.truncate(tmp_path / "c" / "index", 2 * RECORD.itemsize)
    fill(known, 5)
    assert values(known, 1, 2, 3, 4, 5) == [1.0, 2.0, None, None, 5.0]
    assert values(VectorCache(tmp_path / "c", DIMS, SEAL), 1, 2, 3, 4, 5) == [1.0, 2.0, None, None, 5.0]
    fill(known, 3)
    assert values(known, 1, 2, 3, 5) == [1.0, 2.0, 3.0, 5.0]
    assert known.corrupt == 0


def test_a_row_in_the_place_of_a_forgotten_one_is_verified_again(tmp_path: Path) -> None:
    known = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(known, 1, 2)
    assert values(known, 2) == [2.0]
    os.truncate(tmp_path / "c" / "index", RECORD.itemsize)
    known.refresh()
    fill(VectorCache(tmp_path / "c", DIMS, SEAL), 3)
    with (tmp_path / "c" / "vectors.f32").open("r+b") as file:
        file.seek(DIMS * 4)
        file.write(b"damaged!")
    known.refresh()
    assert values(known, 1, 2, 3) == [1.0, None, None]
    assert known.corrupt == 1


KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from recallbench.embedding import cache
from recallbench.embedding.seal import Seal
vectors = cache.VectorCache(Path(sys.argv[1]), 5, Seal(b"k" * 32, "fingerprint"))
real = cache._write
def write(descriptor, body, start):
    if descriptor == vectors._index:
        os._exit(9)
    real(descriptor, body, start)
cache._write = write
vectors.append([bytes([n]) * 32 for n in (6, 7)], [6, 7], [6, 7], np.full((2, 5), 6, np.float32))
"""


def test_left_over_records_never_come_to_stand_beside_rows_of_other_texts(tmp_path: Path) -> None:
    vectors = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(vectors, 1, 2, 3, 4, 5)
    vectors.close()
    # The index kept two records more than the vectors; then a writer is killed between its two writes.
    os.truncate(tmp_path / "c" / "vectors.f32", 3 * DIMS * 4)
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "c")], check=False).returncode == 9
    after = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert values(after, 1, 2, 3, 4, 5) == [1.0, 2.0, 3.0, None, None]
    assert after.corrupt == 0
    assert len(after) == 3


def test_the_folder_tells_what_its_rows_were_computed_with(tmp_path: Path) -> None:
    first = VectorCache(tmp_path / "c", DIMS, SEAL, computing_with="torch 2.13.0")
    assert first.computed_with == ()
    fill(first, 1)
    fill(first, 2)
    newer = VectorCache(tmp_path / "c", DIMS, SEAL, computing_with="torch 2.14.0")
    fill(newer, 1, 2)
    assert newer.computed_with == ("torch 2.13.0",)
    fill(newer, 3)
    fill(first, 4)
    assert first.computed_with == newer.computed_with == ("torch 2.13.0", "torch 2.14.0")


def test_rows_from_before_that_was_recorded_are_said_to_be_so(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, SEAL), 1)
    later = VectorCache(tmp_path / "c", DIMS, SEAL, computing_with="torch 2.13.0")
    assert later.computed_with == ("versions not recorded",)
    fill(later, 2)
    assert later.computed_with == ("versions not recorded", "torch 2.13.0")


WRITER = """
import hashlib, sys
from pathlib import Path
import numpy as np
from recallbench.embedding.cache import VectorCache
from recallbench.embedding.seal import Seal
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


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    writers = [writer(tmp_path / "c", 0, 900), writer(tmp_path / "c", 600, 1500)]
    for process in writers:
        go(process)
    assert [process.wait(60) for process in writers] == [0, 0]
    cache = VectorCache(tmp_path / "c", DIMS, SEAL)
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
        cache = VectorCache(tmp_path / "c", DIMS, SEAL)
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
        from recallbench.embedding.seal import Seal
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


OTHER = Seal(b"o" * 32, "fingerprint")


def states(cache: VectorCache, *numbers: int) -> list[int]:
    rows = [cache.row(key(number)) for number in numbers]
    return [-1 if row is None else cache.state(row) for row in rows]


@pytest.mark.parametrize("seal", [OTHER, Seal(b"k" * 32, "another fingerprint")], ids=["user", "encoder"])
def test_rows_of_another_user_or_encoder_are_foreign(tmp_path: Path, seal: Seal) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, seal), 1, 2)
    mine = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(mine, 3)
    for opened in (mine, VectorCache(tmp_path / "c", DIMS, SEAL)):
        assert states(opened, 1, 2, 3, 4) == [cache.FOREIGN, cache.FOREIGN, cache.OWN, -1]
        assert values(opened, 1, 2, 3) == [1.0, 2.0, 3.0]
    assert states(VectorCache(tmp_path / "c", DIMS, seal), 1, 2, 3) == [cache.OWN, cache.OWN, cache.FOREIGN]


def test_rows_from_before_there_were_seals_are_foreign(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, SEAL), 1, 2)
    (tmp_path / "c" / f"seals-{SEAL.owner}").unlink()
    old = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert states(old, 1, 2) == [cache.FOREIGN, cache.FOREIGN]
    fill(old, 3)
    assert states(VectorCache(tmp_path / "c", DIMS, SEAL), 1, 2, 3) == [cache.FOREIGN, cache.FOREIGN, cache.OWN]


def nine(record: Any, vector: Any) -> None:
    vector[:] = 9


def test_a_vector_that_somebody_put_in_its_place_is_foreign(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, SEAL), 1, 2, 3)
    forge(tmp_path / "c", [1], nine)
    again = VectorCache(tmp_path / "c", DIMS, SEAL)
    assert states(again, 1, 2, 3) == [cache.OWN, cache.FOREIGN, cache.OWN]
    assert values(again, 2) == [9.0]
    # Nor does another row's seal make it one's own.
    seals = tmp_path / "c" / f"seals-{SEAL.owner}"
    seals.write_bytes(seals.read_bytes()[:16] * 3)
    assert states(VectorCache(tmp_path / "c", DIMS, SEAL), 2) == [cache.FOREIGN]


def test_a_vector_that_is_changed_after_it_was_verified_is_refused(tmp_path: Path) -> None:
    mine = VectorCache(tmp_path / "c", DIMS, SEAL)
    fill(mine, 1, 2)
    rows = [mine.row(key(1)) or 0, mine.row(key(2)) or 0]
    assert mine.vectors(rows)[:, 0].tolist() == [1.0, 2.0]
    forge(tmp_path / "c", [1], nine)
    assert mine.vectors(rows[:1])[:, 0].tolist() == [1.0]
    with pytest.raises(RecallBenchError, match="vectors changed in the cache while they were in use") as error:
        mine.vectors(rows)
    assert error.value.found == "row 1 with other numbers"


def test_an_own_row_takes_the_place_of_a_foreign_one_that_came_first(tmp_path: Path) -> None:
    mine = VectorCache(tmp_path / "c", DIMS, SEAL)
    theirs = VectorCache(tmp_path / "c", DIMS, OTHER)
    theirs.append([key(1)], [0], [0], np.full((1, DIMS), 9, np.float32))
    fill(mine, 1)
    assert (values(mine, 1), states(mine, 1)) == ([1.0], [cache.OWN])
    fill(mine, 1)
    assert (tmp_path / "c" / "index").stat().st_size == 2 * RECORD.itemsize


def test_accepted_rows_are_good_for_this_run_and_proven_ones_are_own_from_then_on(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, OTHER), 1, 2, 3)
    mine = VectorCache(tmp_path / "c", DIMS, SEAL)
    rows = [mine.row(key(number)) or 0 for number in (1, 2, 3)]
    mine.accept(rows, rows[1:2])
    assert states(mine, 1, 2, 3) == [cache.ACCEPTED, cache.OWN, cache.ACCEPTED]
    assert states(VectorCache(tmp_path / "c", DIMS, SEAL), 1, 2, 3) == [cache.FOREIGN, cache.OWN, cache.FOREIGN]
    # What one user accepts is none the less the other's own.
    assert states(VectorCache(tmp_path / "c", DIMS, OTHER), 1, 2, 3) == [cache.OWN] * 3


def test_rows_are_not_sealed_in_the_place_of_others(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, OTHER), 1, 2)
    mine = VectorCache(tmp_path / "c", DIMS, SEAL)
    rows = [mine.row(key(1)) or 0, mine.row(key(2)) or 0]
    os.truncate(tmp_path / "c" / "index", RECORD.itemsize)
    mine.accept(rows, rows)
    assert (tmp_path / "c" / f"seals-{SEAL.owner}").read_bytes() == b""


def test_a_lot_is_the_same_every_time_and_another_for_every_user_and_vector(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, SEAL), 1)
    lots = []
    for seal in (SEAL, SEAL, OTHER):
        opened = VectorCache(tmp_path / "c", DIMS, seal)
        lots.append(opened.lot(opened.row(key(1)) or 0))
    forge(tmp_path / "c", [0], nine)
    changed = VectorCache(tmp_path / "c", DIMS, SEAL)
    lots.append(changed.lot(changed.row(key(1)) or 0))
    assert lots[0] == lots[1]
    assert len(set(lots)) == 3
    assert not any(SEAL.owner.encode() in lot or b"k" * 8 in lot for lot in lots)


def put_there(place: Path, kind: str) -> Path:
    """What somebody who shares the cache puts into a file's place; returns what a link leads to."""
    private = place.parent.parent / "private"
    place.parent.mkdir()
    if kind == "link to a file":
        private.write_text("a secret of the user's\n")
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(private)
    return private


KINDS = pytest.mark.parametrize("kind", ["link to a file", "link to nothing", "pipe"])


def holds(private: Path) -> str:
    return private.read_text() if private.exists() else ""


@KINDS
@pytest.mark.parametrize("name", ["index", "vectors.f32", f"seals-{SEAL.owner}", "computed_with"])
def test_a_link_in_the_place_of_a_file_is_refused_and_not_followed(tmp_path: Path, name: str, kind: str) -> None:
    private = put_there(tmp_path / "c" / name, kind)
    before = holds(private)
    with pytest.raises(InputError, match="the vector cache is not as RecallBench makes it") as error:
        fill(VectorCache(tmp_path / "c", DIMS, SEAL, {"encoder": "tiny"}, "torch 1 on a processor"), 1)
    assert error.value.found == ("a pipe, device or folder" if kind == "pipe" else "a link")
    assert str(tmp_path / "c" / name) in error.value.problem
    assert holds(private) == before


@KINDS
@pytest.mark.parametrize("name", ["computed_with.tmp", "fingerprint.json"])
def test_a_link_in_the_place_of_what_is_written_for_people_is_not_followed(
    tmp_path: Path, name: str, kind: str
) -> None:
    private = put_there(tmp_path / "c" / name, kind)
    before = holds(private)
    cache = VectorCache(tmp_path / "c", DIMS, SEAL, {"encoder": "tiny"}, "torch 1 on a processor")
    fill(cache, 1)
    assert cache.computed_with == ("torch 1 on a processor",)
    assert holds(private) == before


def test_a_note_that_is_no_text_hinders_no_run(tmp_path: Path) -> None:
    fill(VectorCache(tmp_path / "c", DIMS, SEAL, computing_with="torch 2.13.0"), 1)
    (tmp_path / "c/computed_with").write_bytes(b"torch \xff\n")
    later = VectorCache(tmp_path / "c", DIMS, SEAL, computing_with="torch 2.14.0")
    fill(later, 2)
    assert later.computed_with == ("torch \ufffd", "torch 2.14.0")
