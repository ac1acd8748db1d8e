"""The shipped examples of other people's stores by the real command line, with no network."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from offline import offline
from recallbench.corpora.realmem import write_miniature

pytestmark = pytest.mark.marked

ROOT = Path(__file__).resolve().parents[2]
STORES = {
    "chroma": ("chromadb", "python:examples.chroma_memory:open_memory"),
    "lance": ("lancedb", "python:examples.lance_memory:open_memory"),
    "lance hybrid": ("lancedb", "python:examples.lance_memory:open_hybrid"),
    "tantivy": ("tantivy", "python:examples.tantivy_memory:Memory"),
    "usearch": ("usearch", "python:examples.usearch_memory:Memory"),
}
WORDS = ("lance hybrid", "tantivy")
"""Those that go by words too."""
CALL = "import socket; socket.getaddrinfo('example.org', 80)"
CONNECT = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"


def python_path(*before: Path) -> dict[str, str]:
    folders = (*before, ROOT, os.environ.get("PYTHONPATH", ""))
    return {"PYTHONPATH": os.pathsep.join(str(folder) for folder in folders if str(folder))}


def metrics_of(folder: Path) -> dict[str, Any]:
    metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return metrics


def figures(folder: Path) -> dict[str, float]:
    return {estimate["measure"]: estimate["value"] for estimate in metrics_of(folder)["estimates"]["overall"]}


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Return the figures of an exhaustive search of the same vectors."""
    folder = tmp_path_factory.mktemp("exact")
    run = ("run", "canary-locomo", "--embedder", "hash", "--store", "exact", "--folder", "made")
    assert recallbench(*run, cwd=folder).returncode == 0
    return figures(folder / "made")


@pytest.mark.parametrize("name", STORES)
def test_an_example_is_measured_without_the_network(name: str, exact: dict[str, float], tmp_path: Path) -> None:
    package, address = STORES[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'recallbench[examples]'")
    vectors = () if name == "tantivy" else ("--embedder", "hash")
    run = ("run", "canary-locomo", *vectors, "--store", address, "--folder", "made")
    done = offline("-m", "recallbench", *run, cwd=tmp_path, env=python_path())
    assert (done.returncode, done.packets) == (0, 0)
    metrics = metrics_of(tmp_path / "made")
    assert metrics["store"]["version"].split("(")[1].startswith(package)
    if name not in WORDS:
        # Hashed vectors tie often, and a store may keep any of them at k = 10.
        approximate = figures(tmp_path / "made")
        assert {k: v for k, v in approximate.items() if "@10" not in k} == {
            k: v for k, v in exact.items() if "@10" not in k
        }
        assert approximate["recall_any@10"] == pytest.approx(exact["recall_any@10"], abs=0.01)
    audited = recallbench("audit", "made", cwd=tmp_path, env=python_path())
    assert ": holds, not committed\n" in audited.stdout
    assert "  fail " not in audited.stdout


@pytest.mark.parametrize(("name", "way"), [("chroma", "filtered"), ("lance", "filtered"), ("usearch", "replayed")])
def test_a_question_sees_what_was_said_before_it_and_the_rest_as_an_exhaustive_search_would(
    name: str, way: str, tmp_path: Path
) -> None:
    package, address = STORES[name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'recallbench[examples]'")
    write_miniature(tmp_path / "data")
    run = ("run", "realmem", "--corpus-file", "data", "--allow-deviation", "dataset", "--embedder", "hash", "-q")
    for store, folder in (("exact", "exact"), (address, "made")):
        done = recallbench(*run, "--store", store, "--folder", folder, cwd=tmp_path, env=python_path())
        assert done.returncode == 0
    assert metrics_of(tmp_path / "made")["time"] == {"way": way, "visible": 4.0, "haystack": 8.0, "planted": 14}
    assert figures(tmp_path / "made") == figures(tmp_path / "exact")


@pytest.mark.parametrize("code", [CALL, CONNECT])
def test_network_access_would_be_noticed(code: str, tmp_path: Path) -> None:
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
        done = recallbench(*command, "--store", address, cwd=tmp_path, env=python_path(tmp_path))
        assert done.returncode == 3
        assert package in done.stdout + done.stderr
        assert "pip install 'recallbench[examples]'" in done.stdout + done.stderr
