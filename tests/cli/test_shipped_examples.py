"""The shipped examples of other people's stores by the real command line: Chroma and LanceDB, with no network."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from offline import offline

pytestmark = pytest.mark.marked

ROOT = Path(__file__).resolve().parents[2]
STORES = {
    "chroma": ("chromadb", "python:examples.chroma_memory:open_memory"),
    "lance": ("lancedb", "python:examples.lance_memory:open_memory"),
    "lance hybrid": ("lancedb", "python:examples.lance_memory:open_hybrid"),
}
CALL = "import socket; socket.getaddrinfo('example.org', 80)"
CONNECT = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"


def found_here(*before: Path) -> dict[str, str]:
    named = (*before, ROOT, os.environ.get("PYTHONPATH", ""))
    return {"PYTHONPATH": os.pathsep.join(str(one) for one in named if str(one))}


def result(folder: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return made


def figures(folder: Path) -> dict[str, float]:
    return {one["measure"]: one["value"] for one in result(folder)["estimates"]["overall"]}


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What an exhaustive search of the same vectors finds."""
    place = tmp_path_factory.mktemp("exact")
    run = ("run", "canary-locomo", "--embedder", "hash", "--store", "exact", "--folder", "made")
    assert recallbench(*run, cwd=place).returncode == 0
    return figures(place / "made")


@pytest.mark.parametrize("name", ["chroma", pytest.param("lance", marks=pytest.mark.marked), "lance hybrid"])
def test_it_is_measured_and_contacts_nobody(name: str, exact: dict[str, float], tmp_path: Path) -> None:
    package, address = STORES[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'recallbench[examples]'")
    run = ("run", "canary-locomo", "--embedder", "hash", "--store", address, "--folder", "made")
    done = offline("-m", "recallbench", *run, cwd=tmp_path, env=found_here())
    assert (done.returncode, done.packets) == (0, 0)
    made = result(tmp_path / "made")
    assert made["store"]["version"].split("(")[1].startswith(package)
    if name != "lance hybrid":
        # Hashed vectors tie often, and which of equals a store keeps at k = 10 is its own affair.
        found = figures(tmp_path / "made")
        assert {k: v for k, v in found.items() if "@10" not in k} == {k: v for k, v in exact.items() if "@10" not in k}
        assert found["recall_any@10"] == pytest.approx(exact["recall_any@10"], abs=0.01)
    told = recallbench("audit", "made", cwd=tmp_path, env=found_here())
    assert "verdict: UNVERIFIED (pending: committed)" in told.stdout
    assert "  fail " not in told.stdout


@pytest.mark.parametrize("code", [CALL, CONNECT])
def test_who_contacts_somebody_is_noticed(code: str, tmp_path: Path) -> None:
    done = offline("-c", code, cwd=tmp_path)
    assert done.returncode == 1
    assert done.packets > 0


@pytest.mark.parametrize("name", STORES)
def test_a_missing_package_is_named_with_its_extra(name: str, tmp_path: Path) -> None:
    package, address = STORES[name]
    (tmp_path / f"{package}.py").write_text(
        f"raise ModuleNotFoundError('No module named {package}', name='{package}')\n"
    )
    for command in (("run", "canary-locomo"), ("doctor", "canary-locomo", "--strict")):
        told = recallbench(*command, "--store", address, cwd=tmp_path, env=found_here(tmp_path))
        assert told.returncode == 3
        assert package in told.stdout + told.stderr
        assert "pip install 'recallbench[examples]'" in told.stdout + told.stderr
