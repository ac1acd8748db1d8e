"""A thousand runs in one process over a warm cache: memory, files and descriptors stay what they are."""

from __future__ import annotations

import ctypes
import gc
import json
import time
from collections.abc import Sequence
from pathlib import Path

from commandline import ended
from faulting.cluster import Cluster
from faulting.kills import Outcome
from faulting.phases import SCENES
from faulting.place import a_place

RUNS, RUNS_ON_A_SERVER, FIRST = 1000, 300, 100
"""Runs in all, and after how many the process is taken for warm."""
MOST_GROWTH_MB = 4.0
SETTLED = 1.5
"""Seconds after which the thread of a run that is over has seen it."""
CODE = """
import json, os, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from fuzzing.trial import in_silence, run_words
from faulting.warm import measured
count, first, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
for number in range(1, count + 1):
    code, told = in_silence(lambda: run_words(words))
    assert code == 0, told
    if number % first == 0:
        print(json.dumps(measured(Path.cwd())))
    import shutil
    shutil.rmtree("results")
"""


def measured(work: Path) -> dict[str, float]:
    """What this process holds now, and what lies in its folders."""
    gc.collect()
    # What is free inside of the C library's heap is nobody's: how much it keeps there varies.
    ctypes.CDLL(None).malloc_trim(0)
    time.sleep(SETTLED)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = [path for path in work.parent.rglob("*") if path.is_file()]
    kept = [path for path in files if "results" not in path.relative_to(work.parent).parts]
    return {
        "MB of memory": pages * 4096 / 2**20,
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "files": len(kept),
        "bytes of files": sum(path.stat().st_size for path in kept),
    }


def perform(number: int) -> Outcome:
    """Run on a store in the process first, on a server next."""
    if number == 0:
        return many_runs(SCENES["corpus"], RUNS, FIRST)
    with a_place() as place:
        server = Cluster(place.tmp / "server").start()
        try:
            found = many_runs((*SCENES["server"], "--dsn", server.dsn), RUNS_ON_A_SERVER, FIRST)
            sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'recallbench'"
            ((left,),) = server.execute(sessions)
            found.problems += [f"the server still has {name}" for name in server.schemas()]
            found.problems += [f"the server still has {left} sessions"] * bool(left)
            return found
        finally:
            server.stop()


def many_runs(words: Sequence[str], runs: int, first: int) -> Outcome:
    """Run the same command again and again in one process."""
    with a_place() as place:
        paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")]
        code = ("-c", CODE.format(paths=paths))
        env = {"TMPDIR": str(place.tmp), "XDG_CONFIG_HOME": str(place.work / "settings")}
        done = ended([str(runs), str(first), *words], cwd=place.work, env=env, program=code)
        found = Outcome(
            f"{runs:,} runs in one process: recallbench {' '.join(words[:6])} ...", ended=f"exit {done.returncode}"
        )
        if done.returncode:
            found.problems.append(done.stderr[-3000:])
            return found
        early, *between, late = (json.loads(line) for line in done.stdout.splitlines())
        memory = "MB of memory"
        found.about += "".join(f"; {name} {early[name]:,.0f} -> {late[name]:,.0f}" for name in early)
        found.about += f"; {memory} on the way: {', '.join(f'{one[memory]:.1f}' for one in (early, *between, late))}"
        if late[memory] - early[memory] > MOST_GROWTH_MB:
            found.problems.append(f"{memory}: {early[memory]:.1f} after {first}, {late[memory]:.1f} after {runs}")
        found.problems += [
            f"{name}: {early[name]:.0f} after {first}, {late[name]:.0f} after {runs}"
            for name in early
            if name != memory and late[name] > early[name]
        ]
        return found
