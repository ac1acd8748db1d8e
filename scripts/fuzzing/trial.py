"""One case in a forked process with limits: what became of it."""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

import click

import recallbench
from recallbench.cli.program import program
from recallbench.errors import RecallBenchError

SECONDS = 5
"""Of the processor: another program on the machine must not make a case look hung."""
WALL_SECONDS = 60
MEGABYTES = 500
AIR = 2 << 30
"""Bytes of address space beyond what the process has when it begins: the last resort against a bomb."""
ACCEPTED = ("read", "refused")


@dataclass(frozen=True)
class Outcome:
    """What became of a case: read, refused, defect, hang, memory or died; the rest says where."""

    kind: str
    signature: str = ""
    text: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the reader did what it promises."""
        return self.kind in ACCEPTED


LIBRARIES = (
    "bm25s",
    "cryptography",
    "ijson",
    "markdown_it",
    "onnxruntime",
    "prometheus_client",
    "pyarrow.parquet",
    "securesystemslib.dsse",
    "tokenizers",
)


def load_libraries() -> None:
    """Import what a case may need, once: a fork that imports takes ten times as long."""
    for module in pkgutil.walk_packages(recallbench.__path__, "recallbench."):
        if not module.name.endswith((".__main__", ".pytest_plugin")):
            importlib.import_module(module.name)
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def run_words(words: Sequence[str]) -> int:
    """Run a command of the program here, and let every failure out but those that users are told of."""
    try:
        with program.make_context("recallbench", list(words)) as context:
            return int(program.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except RecallBenchError as error:
        # Whatever is printed must be printable.
        print(str(error).encode("utf-8").decode(), file=sys.stderr)
        return error.exit_code


def in_silence(work: Callable[[], int]) -> tuple[int, str]:
    """Return what the work returned, and what it printed."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = work()
    return code, said.getvalue()


def attempt(work: Callable[[], int]) -> Outcome:
    """Do the work in a fork of this process, within the limits."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _limit()
        told = json.dumps(_done(work)).encode()
        with suppress(OSError):
            os.write(writing, told[:60_000])
        os._exit(0)
    os.close(writing)
    told = b""
    with os.fdopen(reading, "rb", 0) as answer:
        if select.select([answer], [], [], WALL_SECONDS)[0]:
            told = answer.read(1 << 16)
        else:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if told:
        return Outcome(*json.loads(told))
    code = os.waitstatus_to_exitcode(status)
    if code in (-signal.SIGPROF, -signal.SIGKILL):
        return Outcome("hang", "hang", f"longer than {SECONDS} s of the processor, or {WALL_SECONDS} s in all")
    return Outcome("died", f"exit {code}", f"the process ended with {code}")


def _limit() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + AIR, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A file without end is a defect too.
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTES << 20, MEGABYTES << 20))


def _done(work: Callable[[], int]) -> tuple[str, str, str]:
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            code = work()
        said.getvalue().encode("utf-8")
    except RecallBenchError:
        code = 2
    except BaseException as error:  # noqa: BLE001 (that is what is looked for)
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/recallbench/" in frame.filename] or list(frames)
        where = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "?"
        return "defect", f"{type(error).__name__} {where}", traceback.format_exc()[-6000:]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    if peak > MEGABYTES:
        return "memory", "memory", f"{peak} MB at its peak"
    return ("read" if code == 0 else "refused"), "", said.getvalue()[-2000:]
