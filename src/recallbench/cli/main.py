"""The program `recallbench`: one command, its exit code, and failures without a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from recallbench.cli.misuse import usage_error
from recallbench.cli.program import program
from recallbench.cli.screen import screen_output
from recallbench.confidential import remember_environment, remember_logins, sanitised
from recallbench.errors import RecallBenchError, UsageError
from recallbench.interruption import (
    PATIENCE,
    InterruptedWithResult,
    end_in_time,
    forget_interrupted_exec,
    raise_on_signals,
)

HASH_SEED = "42"
MEASURING = ("run", "versions", "repeat", "evaluate", "score", "grow", "latency", "sweep", "matrix")
INTERRUPTED = 130
COMPLETE = "_RECALLBENCH_COMPLETE"
"""The variable by which a shell asks for the words that may come next."""
OURS = ("RECALLBENCH_", "PGMNEMO_", "LOCOMO_", "LONGMEMEVAL_", "HF_")
"""The prefixes of the variables that this program reads."""
UNHARMED = "no half result is left, and vectors that were computed are kept for the next run"
FORCED = (
    f"recallbench: interrupted, and ended by force: the work did not stop within {PATIENCE:.0f} s of the signal, as "
    f"when a server or a function does not answer; {UNHARMED}; leftovers on a named server are removed by the next "
    "run there"
)


def run_program(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit; no traceback reaches the user."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] and arguments[0] in MEASURING:
        _fix_hash_seed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that can't show a character is shown its number.
            stream.reconfigure(errors="backslashreplace")
    remember_environment(os.environ)
    remember_logins(arguments)
    screen_output()
    raise_on_signals()
    end_in_time(FORCED, INTERRUPTED, _sweep_servers)
    try:
        code = _run(arguments)
    except KeyboardInterrupt as interruption:
        done = str(interruption) if isinstance(interruption, InterruptedWithResult) else UNHARMED
        _print_error(f"interrupted; {done}")
        code = INTERRUPTED
        forget_interrupted_exec()
    sys.exit(code)


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
        if instruction := os.environ.get(COMPLETE):
            return shell_complete(program, {}, "recallbench", COMPLETE, instruction)
        with program.make_context("recallbench", list(arguments)) as context:
            code = int(program.invoke(context) or 0)
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        _print_error(str(usage_error(error)))
        return 2
    except RecallBenchError as error:
        _print_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of stdout went away (`| head`); nobody is left who could read more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if os.environ.get("RECALLBENCH_DEBUG"):
            raise
        hint = "free some room" if error.errno == errno.ENOSPC else "mend what the system names"
        problem = f"the system refused: {sanitised(str(error))}"
        if isinstance(error, PermissionError) and error.filename is not None:
            problem, hint = f"no permission for {sanitised(str(error.filename))}", "allow it, as by chmod"
        _print_error(f"{problem}\n  what to do: {hint}, then run again")
        return 2
    except Exception as error:
        if os.environ.get("RECALLBENCH_DEBUG"):
            raise
        _print_error(
            f"this is a defect of RecallBench: {type(error).__name__}: {sanitised(str(error))}\n"
            "  what to do: run it again with RECALLBENCH_DEBUG=1 and report the traceback"
        )
        return 2


def _refuse_half_characters(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    """Raise UsageError for an argument that is not UTF-8: no result could hold it, and no server take it."""
    named = [(f"argument {number}", value) for number, value in enumerate(arguments, 1)]
    named += [(f"${name}", value) for name, value in environ.items() if name.startswith(OURS)]
    for name, value in named:
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise UsageError(f"{name} can't be read", expected="UTF-8", found=ascii(value), remedy="write it in UTF-8")


def _print_error(text: str) -> None:
    print(f"recallbench: {text}", file=sys.stderr)
