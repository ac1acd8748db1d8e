"""What a machine did beside the program, from its counters."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from recallbench import machine_load
from recallbench.machine_load import MachineLoad, MachineReading

START = MachineReading(at=100.0, busy=50.0, stolen=1.0, own=20.0, throttled=3, cores=2, load_average=0.4)
STAT = "cpu  1000 200 300 9000 50 0 100 40 5 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n"


@pytest.mark.parametrize(
    ("later", "quiet", "sentence"),
    [
        (
            # 10 s of 2 processors: 4 s busy, 3 s of them our own.
            {"busy": 54.0, "own": 23.0},
            True,
            "Quiet machine: other processes had 5% of 2 processors, steal 0.0%, no throttling; load average 0.40.",
        ),
        (
            {"busy": 60.0, "own": 23.0, "stolen": 1.5, "throttled": 4, "load_average": 1.5},
            False,
            "Not a quiet machine: other processes had 35% of 2 processors, the host took 2.5% of the processors' time, "
            "a processor was throttled; load average 1.50.",
        ),
        (
            # A child that ended between two readings may show more time than the whole machine had.
            {"busy": 50.1, "own": 20.3, "throttled": None},
            True,
            "Quiet machine: other processes had 0% of 2 processors, steal 0.0%; load average 0.40; not told by this "
            "system: throttling.",
        ),
        (
            {"busy": None, "stolen": None, "throttled": None, "load_average": None},
            True,
            "Nothing is known of what else the machine did; not told by this system: other processes, steal, "
            "throttling.",
        ),
    ],
)
def test_what_others_had_is_what_was_busy_without_our_own(later: dict[str, float], quiet: bool, sentence: str) -> None:
    load = MachineLoad.between(START, replace(START, at=110.0, **later))
    assert (load.quiet, load.sentence) == (quiet, sentence)


def test_the_counters_of_linux_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stat").write_text(STAT)
    core = tmp_path / "devices/system/cpu/cpu1/thermal_throttle"
    core.mkdir(parents=True)
    (core / "core_throttle_count").write_text("7\n")
    (tmp_path / "fs/cgroup").mkdir(parents=True)
    (tmp_path / "fs/cgroup/cpu.stat").write_text("usage_usec 5\nnr_periods 9\nnr_throttled 2\n")
    monkeypatch.setattr(machine_load, "PROC", tmp_path)
    monkeypatch.setattr(machine_load, "SYSTEM", tmp_path)
    monkeypatch.setattr(machine_load.os, "sysconf", lambda name: 100)
    reading = MachineReading.take()
    assert (reading.busy, reading.stolen, reading.throttled) == (16.0, 0.4, 9)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="only Linux says what each process had")
def test_what_a_child_has_is_our_own() -> None:
    before = MachineReading.take()
    burn = "import time\nwhile time.process_time() < .3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    mine = MachineReading.take()
    assert mine.own - before.own >= 0.29
    since = time.process_time()
    while time.process_time() - since < 0.1:
        pass
    assert MachineReading.take().own - mine.own >= 0.09
