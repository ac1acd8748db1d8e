"""The order in which places are searched for a corpus file."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.corpora.location import data_folder, locate
from recallbench.errors import Blocked, InputError
from recallbench.protocol import load

CORPORA = load().corpora
RULES = CORPORA["locomo"]


def put(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "locomo10.json"
    path.write_text("[]")
    return path


def test_option_then_variable_then_data_folder(tmp_path: Path) -> None:
    option, variable, data = (put(tmp_path / name) for name in ("option", "variable", "data"))
    environ = {"LOCOMO_DATA_DIR": str(variable.parent), "RECALLBENCH_DATA_DIR": str(data.parent)}
    assert locate(RULES, option, environ) == option
    assert locate(RULES, option.parent, environ) == option
    assert locate(RULES, None, environ) == variable
    assert locate(RULES, None, environ | {"LOCOMO_DATA_DIR": str(variable)}) == variable
    assert locate(RULES, None, {"RECALLBENCH_DATA_DIR": str(data.parent)}) == data


@pytest.mark.parametrize("name", ["locomo", "longmemeval"])
def test_a_clone_that_keeps_the_file_under_data_is_found(tmp_path: Path, name: str) -> None:
    rules = CORPORA[name]
    file = tmp_path / "clone" / "data" / rules.file
    file.parent.mkdir(parents=True)
    file.write_text("[]")
    assert locate(rules, None, {rules.variable: str(tmp_path / "clone")}) == file
    assert locate(rules, tmp_path / "clone", {}) == file
    beside = tmp_path / "clone" / rules.file
    beside.write_text("[]")
    assert locate(rules, tmp_path / "clone", {}) == beside


def test_data_folder_is_the_named_one_then_data_here_then_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder({}).name == "recallbench"
    assert not data_folder({}).exists()
    (tmp_path / "data").mkdir()
    assert data_folder({}) == Path("data")
    assert data_folder({"RECALLBENCH_DATA_DIR": "/elsewhere"}) == Path("/elsewhere")


def test_a_corpus_that_is_nowhere_names_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(Blocked) as blocked:
        locate(RULES, None, {"RECALLBENCH_DATA_DIR": str(tmp_path)})
    assert blocked.value.remedy == "recallbench fetch locomo"
    assert blocked.value.exit_code == 3
    assert str(tmp_path / "locomo10.json") in blocked.value.expected
    assert "LOCOMO_DATA_DIR" in blocked.value.expected


def test_a_named_place_without_the_file_is_not_passed_over(tmp_path: Path) -> None:
    environ = {"RECALLBENCH_DATA_DIR": str(put(tmp_path / "fetched").parent)}
    with pytest.raises(InputError, match=r"a folder without locomo10\.json or data/locomo10\.json"):
        locate(RULES, tmp_path, environ)
    with pytest.raises(InputError, match="no such file or folder"):
        locate(RULES, tmp_path / "none.json", environ)
    with pytest.raises(Blocked, match=r"(?s)LOCOMO_DATA_DIR names .*a folder without.*unset LOCOMO_DATA_DIR"):
        locate(RULES, None, environ | {"LOCOMO_DATA_DIR": str(tmp_path)})
