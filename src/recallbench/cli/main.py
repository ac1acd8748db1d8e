"""The program `recallbench`: its commands, its exit codes, and how failures are told."""

from __future__ import annotations

import atexit
import errno
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

import typer
from typer._click import ClickException  # typer shows usage errors with it, but exports only some of its kinds

from recallbench import __version__
from recallbench.cli.judge import attest, audit, cite, compare, drift, gate, history, keys, multiverse, parity
from recallbench.cli.measure import evaluate, grow, repeat, run, versions
from recallbench.cli.own_data import label, sample
from recallbench.cli.parsing import Program
from recallbench.cli.screen import guard
from recallbench.cli.setup import doctor, fetch, listings
from recallbench.confidential import keep_environment, keep_from, said
from recallbench.errors import RecallBenchError, UsageError
from recallbench.interruption import PATIENCE, end_in_time, undo
from recallbench.protocol.frozen import load

HASH_SEED = "42"
RETRY = 0.5
"""Seconds after which an interruption that got lost is made again: time enough to clean up, should it not be lost."""
INTERRUPTED = 130
OURS = ("RECALLBENCH_", "PGMNEMO_", "LOCOMO_", "LONGMEMEVAL_", "HF_")
"""Variables that are read here begin so."""
KEPT = "no half result is left, and vectors that were computed are kept for the next run"
FORCED = (
    f"interrupted, and ended by force: what was under way did not stop within {PATIENCE:.0f} s of the signal, as "
    f"happens where a server or a function does not answer; {KEPT}; what is left on a server that was named is removed "
    "by the next run there"
)

app = Program(
    name="recallbench",
    help="Measures how well a long-term memory finds the right memory, and leaves a folder that proves the number.",
    epilog="Exit codes: 0 done, 1 a gate or audit failed, 2 wrong usage or unreadable input, 3 something is missing, "
    "130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"recallbench {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Options of the program itself; no command runs under a changed protocol."""
    load()


for module in (
    run,
    versions,
    repeat,
    audit,
    compare,
    gate,
    drift,
    sample,
    parity,
    multiverse,
    cite,
    attest,
    keys,
    label,
    history,
    evaluate,
    grow,
    doctor,
    fetch,
    listings,
):
    module.register(app)


def run_program(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit; no traceback reaches the user."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] in (["run"], ["versions"], ["repeat"], ["evaluate"], ["grow"]):
        _fix_hash_seed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that can't show a character is told of it by its number.
            stream.reconfigure(errors="backslashreplace")
    keep_environment(os.environ)
    keep_from(arguments)
    guard()
    _end_on_signals()
    try:
        code = _run(arguments)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        code = _interrupted()
    if code == INTERRUPTED:
        # Where it met the exec of a text (a dataclass being made), Python forgets the code and ends as if killed.
        atexit._run_exitfuncs()
        undo()
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _end_on_signals() -> None:
    """A polite request to end (a cancelled CI job, `timeout`) takes the way of Ctrl-C, so that servers are stopped."""

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        # Armed again: until here, another of its kind would have ended the program at once.
        signal.signal(number, interrupt)
        raise KeyboardInterrupt(signal.Signals(number).name)

    def again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, RETRY)
        else:
            sys.__unraisablehook__(lost)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)
    # Python drops what is raised while it runs a finaliser (an import has many), a Ctrl-C too: it comes once more.
    signal.signal(signal.SIGALRM, interrupt)
    sys.unraisablehook = again
    end_in_time(f"recallbench: {FORCED}", INTERRUPTED, _sweep_servers)


def _sweep_servers() -> None:
    from recallbench.stores.postgres.folders import sweep

    sweep()


def _fix_hash_seed() -> None:
    """Start this very command again under the protocol's seed: it only works from the first moment of a process."""
    if "PYTHONHASHSEED" not in os.environ:
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _run(arguments: Sequence[str]) -> int:
    try:
        _refuse_half_characters(arguments, os.environ)
        code = app(args=list(arguments), prog_name="recallbench", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            return _interrupted()
        return int(code or 0)
    except ClickException as error:
        error.message = said(error.message)
        error.show()
        return 2
    except RecallBenchError as error:
        _tell(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of stdout went away (`| head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if os.environ.get("RECALLBENCH_DEBUG"):
            raise
        hint = "free some room" if error.errno == errno.ENOSPC else "mend what the system names"
        _tell(f"the system refused: {said(str(error))}\n  what to do: {hint}, then run again")
        return 2
    except Exception as error:
        if os.environ.get("RECALLBENCH_DEBUG"):
            raise
        _tell(
            f"this is a defect of RecallBench: {type(error).__name__}: {said(str(error))}\n"
            "  what to do: run it again with RECALLBENCH_DEBUG=1 and report the traceback"
        )
        return 2


def _refuse_half_characters(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Raise UsageError for what is no UTF-8: it could be written into no result, and sent to no server."""
    ours = {f"${name}": value for name, value in environ.items() if name.startswith(OURS)}
    for name, given in (*((f"argument {n}", one) for n, one in enumerate(arguments, 1)), *ours.items()):
        if not given.isascii() and any("\ud800" <= one <= "\udfff" for one in given):
            raise UsageError(f"{name} can't be read", expected="UTF-8", found=ascii(given), remedy="write it in UTF-8")


def _interrupted() -> int:
    _tell(f"interrupted; {KEPT}")
    return INTERRUPTED


def _tell(text: str) -> None:
    print(f"recallbench: {text}", file=sys.stderr)
