"""`import recallbench` offers its public names, documented, and imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import recallbench


def test_importing_costs_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, recallbench\n"
        "heavy = {'numpy', 'scipy', 'torch', 'pydantic', 'pandas', 'click', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "report = recallbench.evaluate([recallbench.Case('q', ['a'])], lambda q, k: ['a'], 1)\n"
        "heavy = {'scipy', 'torch', 'pandas', 'matplotlib', 'pydantic', 'rich'}\n"
        "print(str(report)[:20], sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nrecall_frac@1 1.0000 []\n"


def test_every_public_name_is_there_and_documented() -> None:
    import recallbench.cases.table  # a module that is imported is no public name

    assert dir(recallbench) == sorted(recallbench.__all__)
    for name in recallbench.__all__:
        assert getattr(recallbench, name).__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        _ = recallbench.nonsense


def test_the_types_of_the_package_reach_its_users() -> None:
    # mypy checks their effect on a user's code: tests/typed_user.py is among its files.
    assert (files(recallbench) / "py.typed").is_file()
