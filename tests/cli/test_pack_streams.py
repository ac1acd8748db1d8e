"""Packs are streamed, whole or absent when their command is killed, and continued from what was embedded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from commandline import environment, recallbench
from labelled_sets import beir
from pack_makers import EMBEDDER, pack, use, write_encoder

WIDE = """
import zlib
import numpy as np
LINE = np.arange(1.0, 12289.0, dtype=np.float32)
def embed(texts):
    return np.stack([LINE[zlib.crc32(text.encode()) % 4096 :][:8192] for text in texts])
"""
SLOW = """
import time
def embed(texts):
    time.sleep(0.2)
    return [[float(len(text)), 1.0] for text in texts]
"""


def peak(place: Path, *words: str) -> int:
    """Return the most memory of its own that a command was seen to have, in kB; mapped files are the system's."""
    command = [sys.executable, "-m", "recallbench", *words]
    process = subprocess.Popen(command, cwd=place, env=environment(place), stdout=subprocess.DEVNULL)
    seen = [0]
    while process.poll() is None:
        with suppress(OSError, ValueError):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            seen += [int(line.split()[1]) for line in lines if line.startswith("RssAnon:")]
        time.sleep(0.005)
    assert process.returncode == 0
    return max(seen)


@pytest.mark.marked
def test_packing_and_using_hold_a_block_at_a_time(tmp_path: Path) -> None:
    """6,000 texts of 8,192 numbers are 187 MB; no command holds a fifth of that more than it does for 60."""
    write_encoder(tmp_path, WIDE)
    peaks = {}
    for count in (60, 6000):
        documents = [{"_id": f"d{n}", "text": f"Note {n} tells of topic {n}."} for n in range(count)]
        queries = [{"_id": "q", "text": "Who tells of topic 3?"}]
        beir(tmp_path / f"s{count}", documents, queries, test="query-id\tcorpus-id\tscore\nq\td3\t1\n")
        words = ("vectors", "pack", f"s{count}", "--embedder", EMBEDDER, "--save", f"{count}.safetensors", "-q")
        packing = peak(tmp_path, *words)
        checking = peak(tmp_path, "vectors", "verify", f"{count}.safetensors", "--corpus-file", f"s{count}", "-q")
        using = peak(tmp_path, "vectors", "use", f"{count}.safetensors", "--corpus-file", f"s{count}", "-q")
        peaks[count] = packing, checking, using
    assert (tmp_path / "6000.safetensors").stat().st_size > 6000 * 8192 * 4
    assert [large - small for small, large in zip(*peaks.values(), strict=True) if large - small > 37000] == []


def test_what_was_embedded_before_a_kill_is_kept(tmp_path: Path) -> None:
    write_encoder(tmp_path, SLOW)
    words = ("vectors", "pack", "canary-locomo", "--embedder", EMBEDDER, "--save", "c.safetensors")
    command = [sys.executable, "-m", "recallbench", *words]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.DEVNULL)
    vectors = tmp_path / "cache" / "vectors"
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in vectors.glob("*/index")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "c.safetensors").exists()
    [index] = vectors.glob("*/index")
    kept = index.stat().st_size // 44
    assert 0 < kept < 261
    done = recallbench(*words, "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert index.stat().st_size == 261 * 44
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(("c.", ".recallbench"))) == [
        "c.safetensors"
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_file(tmp_path: Path, number: signal.Signals) -> None:
    write_encoder(tmp_path, SLOW)
    words = ("vectors", "pack", "canary-locomo", "--embedder", EMBEDDER, "--save", "c.safetensors", "-q")
    command = [sys.executable, "-m", "recallbench", *words]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "cache").glob("vectors/*/index")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["cache", "my_encoder.py"]


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: the pack is larger than any file of the cache."""
    write_encoder(tmp_path)
    first = pack(tmp_path)
    largest = first.stat().st_size - 100
    limited = f"ulimit -f {largest // 1024}; exec {sys.executable} -m recallbench vectors pack canary-locomo"
    command = f"{limited} --embedder {EMBEDDER} --save again.safetensors -q"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "again.safetensors can't be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(("again", ".recallbench"))]


def test_a_byte_of_each_region_is_refused_by_the_command(tmp_path: Path) -> None:
    write_encoder(tmp_path)
    file = pack(tmp_path)
    whole = file.read_bytes()
    header, end = 8 + int.from_bytes(whole[:8], "little"), len(whole)
    regions = {
        "the length of the header": 1,
        "the header": header // 2,
        "its padding": header - 1,
        "vectors": header + 999,
        "hashes of texts": end - 261 * 40 + 7,
        "tokens": end - 261 * 8 + 1,
        "cuts": end - 3,
    }
    for region, place in regions.items():
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        for words in (("vectors", "verify"), ("vectors", "use")):
            done = recallbench(*words, "c.safetensors", "-q", cwd=tmp_path)
            assert (done.returncode, done.stdout) == (2, ""), region
            assert done.stderr.startswith("recallbench: c.safetensors is not a pack as it was made\n"), region
            assert done.stderr.count("\n") == 4, region
    assert list((tmp_path / "cache").rglob("pack.json")) == []
    file.write_bytes(whole)
    assert use(tmp_path, file).returncode == 0
