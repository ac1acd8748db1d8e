"""The protocol's entry point for LongMemEval: `recallbench run longmemeval`, with results kept beside this file."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_PYTHON = HERE.parents[1] / ".venv" / "bin" / "python"

if __name__ == "__main__":
    try:
        from recallbench.cli.main import run_program
    except ModuleNotFoundError as error:
        # Called with a Python that lacks the package: the checkout's own has it, once it is set up.
        if OWN_PYTHON.exists() and Path(sys.prefix) != OWN_PYTHON.parents[1]:
            os.execv(OWN_PYTHON, [str(OWN_PYTHON), *sys.orig_argv[1:]])
        sys.exit(f"recallbench is not set up here ({error}): run scripts/setup first")
    run_program(["run", "longmemeval", "--out", str(HERE / "results"), *sys.argv[1:]])
