"""The walk of a notebook: the Python API, by its guide's words, with what stands beside each example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from commandline import environment
from documents.markdown import GUIDES, blocks
from documents.shell_blocks import write_files
from walks.walker import Walker


def runs(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, program]
    return subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False)


def expected() -> list[str]:
    return [block.body for block in blocks(GUIDES["python"]) if block.language == "text"]


def test_questions_and_a_function(tmp_path: Path) -> None:
    write_files(Walker(tmp_path).opens("python"), tmp_path)
    done = runs(tmp_path, "my_queries.py")
    printed, error = done.stdout, done.stderr[done.stderr.index("recallbench.cases") :]
    assert (printed + error).startswith(expected()[0])


def test_several_retrievers_and_runs_under_the_protocol(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    write_files(walker.opens("python"), tmp_path)
    write_files(walker.opens("own-memory"), tmp_path)
    done = runs(tmp_path, "my_results.py")
    assert (done.stdout, done.returncode) == (expected()[1], 0)
    assert (tmp_path / "several.svg").read_text().startswith("<?xml")


def test_a_report_has_what_the_table_of_calls_says(tmp_path: Path) -> None:
    write_files(GUIDES["python"], tmp_path)
    program = (tmp_path / "my_queries.py").read_text().split("print(report)")[0]
    cell = """
before = recallbench.evaluate(cases, lambda query, k: [], k=2)
print(report.recall, report.value("recall_any@1"), report.estimate("mrr@2").ceiling)
print(len(report.rows), sorted(report.as_dict())[0], report.table("markdown").splitlines()[0][:8])
print(report.compare(before)._repr_html_()[:1], report._repr_html_()[:1])
report.plot().save("x.svg")
print(recallbench.precision(["d1", "d2"], ["d1"], k=2))
"""
    (tmp_path / "cell.py").write_text(program + cell)
    done = runs(tmp_path, "cell.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "1.0 1.0 1.0"
    assert done.stdout.splitlines()[-2:] == ["< <", "0.5"]
    assert (tmp_path / "x.svg").is_file()
