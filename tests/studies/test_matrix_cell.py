"""A cell's command says what the matrix was asked, and can be typed."""

from __future__ import annotations

from pathlib import Path

import click

from recallbench.cli.program import program
from recallbench.runs.options import Options
from recallbench.studies.matrix.cell import _command

OF_ENCODERS = {"--embedder", "--max-tokens"}
"""Options of a run that a matrix takes as --encoders."""


def flags(command: str) -> set[str]:
    """Return the options of a command."""
    found = program.get_command(click.Context(program), command)
    assert found is not None
    return {flag for parameter in found.params for flag in parameter.opts}


def test_the_command_of_a_cell_holds_what_both_commands_take() -> None:
    options = Options(
        "locomo",
        store="exact",
        embedder="minilm",
        max_tokens=64,
        backend="torch",
        corpus_file=Path("locomo10.json"),
        limit=3,
        depth=20,
        dsn=("postgresql://one",),
        store_options={"index": "exact"},
    )
    words = _command(options)
    assert " ".join(words) == (
        "run locomo --store exact --embedder minilm --max-tokens 64 --backend torch --corpus-file locomo10.json "
        "--limit 3 --depth 20 --dsn postgresql://one --set index=exact"
    )
    given = {word for word in words if word.startswith("--")}
    assert given <= flags("run")
    assert given - OF_ENCODERS <= flags("matrix")
    assert "--dtype" in flags("run") - flags("matrix")
