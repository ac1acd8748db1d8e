"""What targets declare is what the command line has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from commandline import recallbench
from recallbench.cli.look.export import export
from recallbench.exports.registry import TARGETS, find_target


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_a_command_with_the_options_that_it_declares(name: str) -> None:
    target = find_target(name)
    assert target.name == name
    command = export.get_command(click.Context(export), name)
    assert command is not None
    assert (command.help or "").startswith(target.summary)
    options = [
        opt for param in command.params if isinstance(param, click.Option) and not param.hidden for opt in param.opts
    ]
    shared = {"--format", "--json", "--config", *(("--prices", "--quiet", "-q") if target.reads_folders else ())}
    assert set(options) == {f"--{option.name}" for option in target.options} | shared
    words = shlex.split(target.example)
    assert words[:3] == ["recallbench", "export", name]
    assert {word for word in words if word.startswith("--")} <= set(options)


def test_a_target_of_ones_own_is_one_file_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import recallbench.exports.registry as registry\n"
        'registry.TARGETS["counts"] = "counts.CountsTarget"\n'
        "import recallbench.exports\n"
        f"recallbench.exports.__path__.append({str(tmp_path / 'own')!r})\n"
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "counts.py").write_text(
        '''"""How many results there are."""

from typing import ClassVar

from recallbench.exports.export_target import Exported, ExportOption, ExportRequest, ExportTarget
from recallbench.exports.recorded import read_folders
from recallbench.reports.printing.conclusion import Conclusion


class CountsTarget(ExportTarget):
    name: ClassVar[str] = "counts"
    summary: ClassVar[str] = "Count results."
    example: ClassVar[str] = "recallbench export counts results/*"
    options: ClassVar[tuple[ExportOption, ...]] = (ExportOption("word", "What to call them.", default="results"),)

    def export(self, request: ExportRequest) -> Exported:
        recorded = read_folders(request.folders, request.prices, request.progress)
        return Exported(Conclusion(f"{len(recorded.lines)} {request.texts['word']}"), recorded=recorded)
'''
    )
    run = ("run", "canary-locomo", "--store", "bm25", "--folder", "r", "-q")
    assert recallbench(*run, cwd=tmp_path).returncode == 0
    env = {"PYTHONPATH": str(tmp_path)}
    done = recallbench("export", "counts", "r", "--word", "nights", "-q", cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, "1 nights\n")
    assert re.search(
        r"^  counts +Count results\.$", recallbench("export", "--help", cwd=tmp_path, env=env).stdout, re.M
    )
