"""`import recallbench`: what it hands out, and that nothing heavy is waited for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import recallbench


def test_importing_costs_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, recallbench\n"
        "heavy = {'numpy', 'scipy', 'torch', 'pydantic', 'pandas', 'typer', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "report = recallbench.evaluate([recallbench.Case('q', ['a'])], lambda q, k: ['a'], 1)\n"
        "print(str(report)[:20], sorted({'scipy', 'torch', 'pandas', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nrecall_frac@1 1.0000 []\n"


def test_every_public_name_is_there_and_told() -> None:
    assert set(recallbench.__all__) <= set(dir(recallbench))
    for name in recallbench.__all__:
        assert getattr(recallbench, name).__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        _ = recallbench.nonsense


def test_the_types_of_the_package_are_told_to_its_users(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(
        "import recallbench\n"
        "from recallbench import Case, Report\n"
        "async def find(query: str, k: int) -> list[tuple[str, float]]:\n"
        "    return []\n"
        "report: Report = recallbench.evaluate([Case('q', ['a'])], find, k=3)\n"
        "value: float = report.recall\n"
        "slices: dict[str, Report] = report.by('kind')\n"
        "one: float = recallbench.ndcg(['a'], {'a': 2}, k=3)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "theirs.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Success" in done.stdout, done.stdout
