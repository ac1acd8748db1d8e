"""Real faults: a full disk, an interrupted embedding, a terminal that is watched."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commandline import environment, recallbench

pytestmark = pytest.mark.marked


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system of that size."""
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small file system can only be mounted by root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_no_half_result(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "200k") as disk:
        done = recallbench(
            "run", "canary-locomo", "--store", "exact", "--embedder", "hash", "--folder", disk / "result", cwd=tmp_path
        )
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert "free some room" in done.stderr
        assert list(disk.iterdir()) == []


def test_a_full_cache_is_named_and_leaves_no_result(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "48k") as disk:
        env = {"RECALLBENCH_CACHE_DIR": str(disk / "cache")}
        done = recallbench(
            "run",
            "canary-locomo",
            "--store",
            "exact",
            "--embedder",
            "minilm",
            "--max-tokens",
            "64",
            "--backend",
            "torch",
            "--folder",
            "result",
            cwd=tmp_path,
            env=env,
        )
        assert done.returncode in (2, 3)
        assert "No space left on device" in done.stderr
        assert not (tmp_path / "result").exists()


def test_an_interrupted_embedding_is_resumed(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "recallbench", "run", "canary-locomo", "--embedder", "minilm", "--store", "exact"),
        *("--backend", "torch", "--limit", "20"),
    ]
    process = subprocess.Popen(
        [*command, "--folder", "first"], cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    cache = tmp_path / "cache"
    deadline = time.monotonic() + 300
    while (
        time.monotonic() < deadline
        and sum(path.stat().st_size for path in cache.rglob("*vectors*") if path.is_file()) < 20_000
    ):
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, printed = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted" in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "first").exists()
    assert recallbench(*command[3:], "--folder", "second", cwd=tmp_path).returncode == 0
    report = json.loads((tmp_path / "second" / "environment.json").read_text())["embedding"]
    assert report["reused"] >= 8
    assert report["computed"] + report["reused"] == report["distinct"]
    assert report["computed"] > 0


SLOW = """
import time
def memory(items, vectors):
    ids = [item.id for item in items]
    def search(query, k):
        time.sleep(0.04)
        return [(i, 1.0) for i in ids[:k]]
    return search
memory.needs_vectors = False
"""


def terminal_output(command: list[str], folder: Path, env: dict[str, str]) -> str:
    """Return what a command writes to a terminal as its stderr."""
    here, there = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=there)
    os.close(there)
    seen = b""
    while True:
        ready, _, _ = select.select([here], [], [], 0.2)
        if ready:
            try:
                piece = os.read(here, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        elif process.poll() is not None:
            break
    assert process.wait() == 0
    os.close(here)
    return seen.decode()


def test_a_stage_over_two_seconds_has_a_bar_with_rate_and_time_left(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    command = [
        sys.executable,
        "-m",
        "recallbench",
        "run",
        "canary-locomo",
        "--store",
        "callable",
        "--call",
        "slow:memory",
    ]
    env = environment(
        tmp_path, {"PYTHONPATH": str(tmp_path), "TERM": "xterm", "COLUMNS": "120", "PYTHONHASHSEED": "42"}
    )
    seen = terminal_output([*command, "--limit", "30"], tmp_path, env)
    assert "ingesting and asking" in seen
    assert re.search(r"\d+/60", seen)
    assert re.search(r"[\d.]+ answers/s", seen)
    assert "left" in seen
    assert terminal_output([*command, "--limit", "30", "--quiet"], tmp_path, env) == ""


def test_off_a_terminal_a_quick_run_prints_no_progress(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    env = {"PYTHONPATH": str(tmp_path)}
    done = recallbench(
        "run", "canary-locomo", "--store", "callable", "--call", "slow:memory", "--limit", "30", cwd=tmp_path, env=env
    )
    assert done.stderr == ""


def test_a_full_temporary_folder_is_named_with_a_remedy(tmp_path: Path) -> None:
    # A server that runs as another user needs a folder that this user can reach.
    with tempfile.TemporaryDirectory(prefix="recallbench-test-", dir="/tmp") as scratch:
        Path(scratch).chmod(0o755)
        with small_disk(Path(scratch) / "disk", "20m") as disk:
            disk.chmod(0o1777)
            done = recallbench(
                "run",
                "canary-locomo",
                "--store",
                "pgvector",
                "--embedder",
                "hash",
                cwd=tmp_path,
                env={"TMPDIR": str(disk)},
            )
            assert done.returncode == 3
            assert "No space left on device" in done.stderr
            assert "TMPDIR" in done.stderr
            assert list(disk.iterdir()) == []


def test_a_full_shared_memory_hinders_no_embedded_server() -> None:
    # As in a container, whose /dev/shm is 64 MB and may be full: here one of 4 kB, in a name space of its own.
    fill = "mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero > /dev/shm/full"
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can mount another /dev/shm")
    tried = subprocess.run(["unshare", "-m", "sh", "-c", fill], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no other /dev/shm can be mounted here: {tried.stderr.strip()}")
    run = [sys.executable, "-m", "recallbench", "run", "canary-locomo", "--store", "pgvector", "--embedder", "hash"]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as disk:  # the tests themselves may lie in /dev/shm
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", f'{fill} && exec "$@"', "sh", *run],
            cwd=disk,
            env=environment(Path(disk), {"TMPDIR": disk}),
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
