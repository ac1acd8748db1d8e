"""How a result that is made again may differ from the golden one: in its circumstances, never in their form."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from recallbench import __version__
from recallbench.protocol.frozen import load

VARYING = {"environment.json", "timings.jsonl", "report.md"}
"""Files that say when, where and how fast, and the one whose words may change."""
_SINCE = {"store_ms", "adapter_ms"}
"""The parts of a time, which results have had since; so have they round trips without work."""
PAGE = "report.html"
"""The file that results have had since the golden ones were made."""
RELEASES = {
    "numpy 2.4.6": f"numpy {version('numpy')}",
    "bm25s 0.3.16": f"bm25s {version('bm25s')}",
    '"recallbench_version": "0.1.0"': f'"recallbench_version": "{__version__}"',
    "70fceaf568359cd6988ba1f473e7f7e5f80a70a0453b2b61f58bffed0ba4be0b": load().clarifications_sha256,
}
"""Releases as the golden results name them, and as they are here."""


def assert_same_result(now: Path, before: Path, connection: str = "", golden_connection: str = "") -> None:
    """Hold a result to the golden one: every file that does not vary byte for byte, the others by their form.

    `connection` is what it says of the server where the golden one says `golden_connection`.
    """
    assert names(now) == names(before) | {PAGE}
    for file in names(before) - VARYING - {"manifest.json"}:
        golden = of_here((before / file).read_text())
        text = (now / file).read_text().replace(connection, golden_connection)
        assert (without_coverage(text) if file == "metrics.json" else text) == golden, file
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (now, before)]
    del manifests[0]["files"][PAGE]
    assert shape(manifests[0]) == shape(manifests[1])
    environments = [json.loads((folder / "environment.json").read_text()) for folder in (now, before)]
    del environments[0]["quantities"], environments[0]["store_calls"]  # which results have had since
    environments[0].pop("machine_load", None)  # where a run took long enough
    environments[0]["variables"].pop("OMP_NUM_THREADS", None)  # of whoever runs the tests
    assert shape(environments[0]) == shape(environments[1])
    assert timings(now) == timings(before)


def without_coverage(metrics: str) -> str:
    """A metrics.json as the second edition wrote it, which told of no coverage."""
    second, coverages = re.subn(r'\n "coverage": \{\n.*?\n \},', "", metrics, count=1, flags=re.DOTALL)
    assert coverages == 1
    return second.replace('"statistics_edition": 3', '"statistics_edition": 2', 1)


def names(folder: Path) -> set[str]:
    """The names of the files in a folder."""
    return {path.name for path in folder.iterdir()}


def of_here(text: str) -> str:
    """A golden text, with the releases of this machine."""
    for before, now in RELEASES.items():
        text = text.replace(before, now)
    return text


def shape(document: Any) -> Any:
    """A document with the kind of each value in its place."""
    if isinstance(document, dict):
        return {name: shape(part) for name, part in document.items()}
    return type(document).__name__


def timings(folder: Path) -> list[Any]:
    """The lines of timings.jsonl: phases by name, all else by its form."""
    lines = [json.loads(line) for line in (folder / "timings.jsonl").read_text().splitlines()]
    queries = [{name: line[name] for name in line.keys() - _SINCE} for line in lines if line.get("state") != "no-op"]
    return [line.get("phase") or shape(line) for line in queries]
