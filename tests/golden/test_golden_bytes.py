"""The same inputs give the same bytes as before the program was rebuilt."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from golden.batch import run_commands
from golden.formats import INPUTS, RESULTS, RUNS
from recallbench import __version__

VARYING = {"environment.json", "timings.jsonl", "report.md"}
"""Files that say when, where and how fast, and the one whose words may change."""
RELEASES = {"numpy 2.4.6": f"numpy {version('numpy')}", "bm25s 0.3.16": f"bm25s {version('bm25s')}"}
"""Releases that stand in the version of a store: as the golden results have them, and as they are here."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results made again, in `results`."""
    place = tmp_path_factory.mktemp("golden")
    shutil.copytree(INPUTS, place, dirs_exist_ok=True)
    commands = {name: (*words, "--folder", f"results/{name}") for name, words in RUNS.items()}
    outcomes = run_commands(place, commands)
    assert {name for name, outcome in outcomes.items() if outcome.code} == {"team_failing"}
    return place / "results"


@pytest.mark.parametrize("name", RUNS)
def test_a_result_is_made_again_byte_for_byte(made: Path, name: str) -> None:
    before, now = RESULTS / name, made / name
    assert names(now) == names(before)
    for file in names(before) - VARYING - {"manifest.json"}:
        assert (now / file).read_text() == of_here((before / file).read_text()), file
    assert json.loads((now / "manifest.json").read_text())["files"].keys() == names(before) - {"manifest.json"}


def of_here(text: str) -> str:
    """A golden text, with the releases of this machine."""
    for before, now in RELEASES.items():
        text = text.replace(before, now)
    return text.replace('"recallbench_version": "0.1.0"', f'"recallbench_version": "{__version__}"')


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", RUNS)
def test_circumstances_keep_their_shape(made: Path, name: str) -> None:
    before, now = RESULTS / name, made / name
    assert shape(json.loads((now / "environment.json").read_text())) == shape(
        json.loads((before / "environment.json").read_text())
    )
    lines = [
        [json.loads(line) for line in (folder / "timings.jsonl").read_text().splitlines()] for folder in (now, before)
    ]
    told = [[one | {"seconds": 0} if "phase" in one else shape(one) for one in part] for part in lines]
    assert told[0] == told[1]


def shape(document: Any) -> Any:
    """A document with the kind of each value in its place."""
    if isinstance(document, dict):
        return {name: shape(part) for name, part in document.items()}
    return type(document).__name__
