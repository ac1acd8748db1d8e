"""The protocol's entry point for LoCoMo: `recallbench run locomo`, with results kept beside this file."""

import sys
from pathlib import Path

from recallbench.cli.main import run_program

if __name__ == "__main__":
    run_program(["run", "locomo", "--out", str(Path(__file__).parent / "results"), *sys.argv[1:]])
