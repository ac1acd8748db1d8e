"""What else a machine did while something was timed: other processes, time that a host took away, throttling."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recallbench.errors import Blocked

QUIET_OTHERS = 0.05
"""The share of all processors that other processes may have on a machine that is called quiet."""
QUIET_STEAL = 0.01
"""The same, of the time that a host gave to other machines."""
PROC = Path("/proc")
SYSTEM = Path("/sys")
THROTTLES = ("devices/system/cpu/cpu*/thermal_throttle/core_throttle_count",)
"""Where Linux counts how often a core was slowed down because of its heat."""
QUOTAS = ("fs/cgroup/cpu.stat", "fs/cgroup/cpu/cpu.stat")
"""Where it counts how often a container had used up its share of the processors."""
QUIET_RULE = (
    f"quiet: other processes have up to {QUIET_OTHERS:.0%} of the processors, a host takes up to {QUIET_STEAL:.0%}, "
    "and nothing is throttled"
)


@dataclass(frozen=True, slots=True)
class MachineReading:
    """The counters of a machine at one moment, in seconds of processors since it started."""

    at: float
    """The moment, by `time.perf_counter()`."""
    busy: float | None
    """Of all processes; None where the system does not say."""
    stolen: float | None
    own: float
    """Of this process, and of all that it started."""
    throttled: int | None
    """How often the processors were slowed down; None where the system does not count it."""
    cores: int
    load_average: float | None
    """Processes that ran or waited to run, over the last minute."""

    @classmethod
    def take(cls) -> MachineReading:
        """Read the counters now."""
        busy, stolen = _processors()
        try:
            load = os.getloadavg()[0]
        except OSError:
            load = None
        return cls(
            at=time.perf_counter(),
            busy=busy,
            stolen=stolen,
            own=_own_seconds(),
            throttled=_throttlings(),
            cores=os.cpu_count() or 1,
            load_average=load,
        )


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """What a machine did between two moments, beside this program and the servers that it started."""

    seconds: float
    cores: int
    others: float | None
    """The share of all processors that other processes had; None where the system does not say."""
    steal: float | None
    """The share of all processors that a host gave to other machines."""
    throttled: bool | None
    """Whether a processor was slowed down; None where the system does not count it."""
    load_average: float | None

    @classmethod
    def between(cls, before: MachineReading, after: MachineReading) -> MachineLoad:
        """Return the load of the time from one reading to the next."""
        seconds = after.at - before.at
        whole = max(seconds, 1e-9) * after.cores

        def share(now: float | None, then: float | None, own: float) -> float | None:
            return None if now is None or then is None else min(1.0, max(0.0, (now - then - own) / whole))

        counted = before.throttled is not None and after.throttled is not None
        return cls(
            seconds=seconds,
            cores=after.cores,
            others=share(after.busy, before.busy, after.own - before.own),
            steal=share(after.stolen, before.stolen, 0.0),
            throttled=after.throttled != before.throttled if counted else None,
            load_average=after.load_average,
        )

    @classmethod
    def while_idle(cls, seconds: float = 0.5) -> MachineLoad:
        """Return the load of a time in which this program does nothing."""
        before = MachineReading.take()
        time.sleep(seconds)
        return cls.between(before, MachineReading.take())

    @property
    def unquiet(self) -> tuple[str, ...]:
        """Return what disturbs a timing, as clauses; none on a quiet machine, and none where the system is silent."""
        found = []
        if self.others is not None and self.others > QUIET_OTHERS:
            found.append(f"other processes had {self.others:.0%} of {_cores(self.cores)}")
        if self.steal is not None and self.steal > QUIET_STEAL:
            found.append(f"the host took {self.steal:.1%} of the processors' time")
        if self.throttled:
            found.append("a processor was throttled")
        return tuple(found)

    @property
    def quiet(self) -> bool:
        """Whether nothing is known to have disturbed a timing."""
        return not self.unquiet

    @property
    def sentence(self) -> str:
        """Return the load in words, with what the system does not tell."""
        average = "" if self.load_average is None else f"; load average {self.load_average:.2f}"
        silent = [
            name
            for name, value in (("other processes", self.others), ("steal", self.steal), ("throttling", self.throttled))
            if value is None
        ]
        unknown = f"; not told by this system: {', '.join(silent)}" if silent else ""
        if self.unquiet:
            return f"Not a quiet machine: {', '.join(self.unquiet)}{average}{unknown}."
        said = [
            *([] if self.others is None else [f"other processes had {self.others:.0%} of {_cores(self.cores)}"]),
            *([] if self.steal is None else [f"steal {self.steal:.1%}"]),
            *([] if self.throttled is None else ["no throttling"]),
        ]
        told = f"Quiet machine: {', '.join(said)}" if said else "Nothing is known of what else the machine did"
        return f"{told}{average}{unknown}."


def refuse_unquiet(load: MachineLoad, so_far: str = "") -> None:
    """Raise Blocked where a machine is not quiet; `so_far` goes on with what that means for what was done."""
    if not load.quiet:
        raise Blocked(
            f"the machine is not quiet{so_far}",
            expected=QUIET_RULE,
            found="; ".join(load.unquiet),
            remedy="end what else runs and try again; without --require-quiet it is named beside the numbers",
        )


def process_fields(pid: int) -> list[str]:
    """Return the fields that Linux has for a process, from its state on; nothing where there is none."""
    try:
        # The command's name before it stands in brackets and may hold anything.
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _cores(cores: int) -> str:
    return f"{cores} processors" if cores > 1 else "the processor"


def _processors() -> tuple[float | None, float | None]:
    """Return the seconds in which processors worked, and those that a host gave to other machines."""
    try:
        words = (PROC / "stat").read_text().partition("\n")[0].split()
    except OSError:
        return None, None
    if words[:1] != ["cpu"] or len(words) < 9:
        return None, None
    # user, nice, system, idle, iowait, irq, softirq, steal; guests are counted among the first two.
    ticks, rate = [int(word) for word in words[1:9]], os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, irq, soft, stolen = ticks
    return (user + nice + system + irq + soft) / rate, stolen / rate


def _own_seconds() -> float:
    """Return the seconds of processors that this process and all that descend from it had."""
    if not (PROC / "self" / "stat").exists():
        return sum(os.times()[:4])
    parents, seconds = {}, {}
    rate = os.sysconf("SC_CLK_TCK")
    for name in os.listdir(PROC):
        if name.isdigit() and (fields := process_fields(int(name))):
            parents[int(name)] = int(fields[1])
            # Its own time, and that of children which ended.
            seconds[int(name)] = sum(map(int, fields[11:15])) / rate
    return sum(seconds[pid] for pid in _descendants(os.getpid(), parents) if pid in seconds)


def _descendants(root: int, parents: dict[int, int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found, waiting = {root}, [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _throttlings() -> int | None:
    counts = [int(text) for text in _texts(THROTTLES) if text.strip().isdigit()]
    for text in _texts(QUOTAS):
        counts += [int(line.split()[1]) for line in text.splitlines() if line.startswith("nr_throttled ")]
    return sum(counts) if counts else None


def _texts(patterns: Iterable[str]) -> Iterable[str]:
    for pattern in patterns:
        for path in SYSTEM.glob(pattern):
            try:
                yield path.read_text()
            except OSError:
                continue
