"""The same inputs give the same bytes as before the program was rebuilt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.batch import run_commands
from golden.formats import BLOCKED, REPEAT, RESULTS, RUNS
from golden.likeness import assert_same_result, names, shape
from golden.reading import copy_inputs


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place where the results are made again."""
    place = tmp_path_factory.mktemp("golden")
    copy_inputs(place)
    commands = {name: (*words, "--folder", f"results/{name}") for name, words in RUNS.items()}
    outcomes = run_commands(place, commands | {"repeat": REPEAT, "blocked": BLOCKED})
    codes = {name: outcome.code for name, outcome in outcomes.items() if outcome.code}
    assert codes == {"team_failing": 1, "blocked": 3}
    return place


@pytest.mark.parametrize("name", RUNS)
def test_a_result_is_made_again_byte_for_byte(made: Path, name: str) -> None:
    assert_same_result(made / "results" / name, RESULTS / name)


def test_vectors_that_were_kept_are_used_again(made: Path) -> None:
    embedding = json.loads((made / "results/team_exact/environment.json").read_text())["embedding"]
    assert (embedding["computed"], embedding["reused"], embedding["foreign"]) == (0, 13, 0)


def test_a_repeat_leaves_the_same(made: Path) -> None:
    (repeat,) = made.glob("repeat/repeat_callable_*")
    assert names(repeat) == names(RESULTS / "repeat")
    for run in ("run_1", "run_2"):
        assert_same_result(repeat / run, RESULTS / "repeat" / run)
    now, before = (json.loads((folder / "repeat.json").read_text()) for folder in (repeat, RESULTS / "repeat"))
    assert shape(now) == shape(before)
    assert (now["spread"], now["bands"]) == (before["spread"], before["bands"])


def test_a_blocked_run_leaves_its_folder(made: Path) -> None:
    (blocked,) = made.glob("blocked/pgmnemo_*_BLOCKED")
    assert names(blocked) == names(RESULTS / "blocked")
