"""The reference is what the program says: a page for each command, with options, and examples that tests execute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import make_reference
from commandline import recallbench
from documents.markdown import ROOT
from recallbench.cli.program import COMMANDS

FOLDER = ROOT / "docs" / "reference"
MADE = make_reference.pages()


@pytest.mark.parametrize("name", sorted(MADE))
def test_the_page_is_what_the_program_says(name: str) -> None:
    path = FOLDER / name
    kept = path.read_text("utf-8") if path.is_file() else ""
    assert kept == MADE[name], f"docs/reference/{name} is not of this program: {make_reference.COMMAND}"


def test_there_is_a_page_for_each_command_and_no_other() -> None:
    assert {path.name for path in FOLDER.glob("*")} == {"README.md", *(f"{name}.md" for name in COMMANDS)}


@pytest.mark.parametrize("name", ["run", "gate", "table"])
def test_every_option_of_the_help_is_there(name: str) -> None:
    printed = recallbench(name, "--help", cwd=ROOT).stdout
    options = {*re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]+)", printed, re.MULTILINE)} - {"--help"}
    page = MADE[f"{name}.md"]
    assert len(options) >= 7
    assert {option for option in options if not re.search(rf"{option}[ ,`]", page)} == set()
    assert "[default: " in page


def test_every_command_has_an_example_from_a_guide() -> None:
    assert [name for name in COMMANDS if f"```console\nrecallbench {name}" not in MADE[f"{name}.md"]] == []


def test_pages_of_commands_that_are_gone_are_removed(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("# recallbench gone\n")
    make_reference.main(tmp_path)
    assert {path.name: path.read_text("utf-8") for path in tmp_path.glob("*")} == MADE
