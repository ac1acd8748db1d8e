"""What runs inside of a command under trial: it counts the lines of each phase, and acts at the one that was drawn."""

from __future__ import annotations

import atexit
import datetime
import faulthandler
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from faulting.phases import ON_NODES, PHASES

VARIABLE = "RECALLBENCH_FAULT"
"""The variable that says what is to happen, as JSON: the fields of `Order`."""
HANGS_AFTER = 100
"""Seconds after which a command prints its stacks and ends."""
IMPORTS = "imports"
"""The phase of modules that are loaded, of which Ray has so many that nearly every line would be one of theirs."""
PACKAGE = f"{os.sep}recallbench{os.sep}"
Trace = Callable[[FrameType, str, Any], Any]


class Order:
    """What is to happen: at which line of a phase, and where notes go."""

    def __init__(self, notes: str, phase: str = "", line: int = -1, signal: int = 0, clock: str = "") -> None:
        """`notes` is a folder. With no signal the command waits at its line until somebody makes the file `go`.

        `clock` is a file with the seconds by which Python's clock is wrong.
        """
        self.notes = Path(notes)
        self.phase, self.line, self.signal, self.clock = phase, line, signal, clock
        self.counts: Counter[str] = Counter()
        self.program = os.getpid()

    def count(self, phase: str) -> None:
        """Count a line of a phase, and act when it is the one."""
        number = self.counts[phase]
        self.counts[phase] = number + 1
        if number == self.line and phase == self.phase:
            sys.settrace(None)
            threading.settrace(None)
            self._act()

    def _act(self) -> None:
        (self.notes / "reached").write_text(str(self.program))
        if self.signal:
            os.kill(self.program, self.signal)
            return
        while not (self.notes / "go").exists():
            time.sleep(0.005)


class Tracer:
    """Follows the phases of one thread after another; lines count for the innermost phase."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._opens: dict[CodeType, str] = {}
        self._local = threading.local()

    def start(self) -> None:
        """Follow this thread and those that it starts."""
        threading.settrace(self.call)
        sys.settrace(self.call)

    def call(self, frame: FrameType, _event: str, _about: Any) -> Trace | None:
        code = frame.f_code
        phase = self._opens.get(code)
        if phase is None:
            phase = self._opens[code] = _opened_by(code)
        stack: list[str] | None = getattr(self._local, "stack", None)
        if stack is None:
            stack = self._local.stack = []
        if phase:
            stack.append(phase)
            return self._entry
        return self._inner if stack else None

    def _inner(self, _frame: FrameType, event: str, _about: Any) -> Trace:
        if event == "line":
            self._order.count(self._local.stack[-1])
        return self._inner

    def _entry(self, _frame: FrameType, event: str, _about: Any) -> Trace:
        if event == "line":
            self._order.count(self._local.stack[-1])
        elif event == "return":  # by an exception too, and at each yield of a generator
            self._local.stack.pop()
        return self._entry


def _opened_by(code: CodeType) -> str:
    if code.co_name == "<module>":
        return IMPORTS
    _, found, file = code.co_filename.rpartition(PACKAGE)
    name = f"{file}:{code.co_qualname}"
    named = (phase.name for phase in (*PHASES, *ON_NODES) if any(fnmatchcase(name, entry) for entry in phase.entries))
    return next(named, "") if found else ""


def note_batches(log: Path) -> None:
    """Note the size of every batch that is embedded to be kept, before it is."""
    from recallbench.embedding.cached_embedder import CachedEmbedder

    compute = CachedEmbedder._compute

    def noted(self: CachedEmbedder, pending: Any, role: Any) -> Any:
        if sys._getframe(1).f_code.co_name == "_embed_window":
            with log.open("a") as file:
                file.write(f"{len(pending)}\n")
        return compute(self, pending, role)

    CachedEmbedder._compute = noted  # type: ignore[method-assign]


def set_clock(by: Path) -> None:
    """Let Python's own clock go wrong by the seconds in a file, from one look at it to the next."""
    right = time.time

    def wrong() -> float:
        return right() + float(by.read_text() or 0)

    class Right(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, cls.__mro__[1])

    class Wrong(datetime.datetime, metaclass=Right):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.datetime.fromtimestamp(wrong(), tz)

    class WrongDay(datetime.date, metaclass=Right):
        @classmethod
        def today(cls) -> Any:
            return datetime.date.fromtimestamp(wrong())

    time.time = wrong
    for name, module in list(sys.modules.items()):
        for noun, other in (("datetime", Wrong), ("date", WrongDay)):
            if name.startswith("recallbench.") and getattr(module, noun, None) is getattr(datetime, noun):
                setattr(module, noun, other)


def run() -> None:
    """Run the command in sys.argv as the variable orders."""
    order = Order(**json.loads(os.environ.pop(VARIABLE)))
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    from recallbench.cli.main import run_program

    if order.clock:
        set_clock(Path(order.clock))
    note_batches(order.notes / "batches")
    if order.phase:
        program = os.getpid()

        def tell() -> None:
            if os.getpid() == program:
                (order.notes / "counts").write_text(json.dumps(order.counts))

        atexit.register(tell)
        Tracer(order).start()
    run_program(sys.argv[1:])
