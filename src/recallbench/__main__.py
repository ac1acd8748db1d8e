"""`python -m recallbench` is the command `recallbench`."""

from recallbench.cli.main import run_program

run_program()
