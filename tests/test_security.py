"""SECURITY.md: each line that says what is defended names a test that is there, and no address is made up."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!what is defended)[^-]", line)]


def test_every_defended_line_names_a_test_that_is_there() -> None:
    assert len(ROWS) >= 25
    lacking = []
    for row in ROWS:
        named = re.fullmatch(r"\| .+ \| .+ \| `(tests/[\w/.]+)::(test_\w+)` \|", row)
        assert named, row
        file = ROOT / named[1]
        if not file.is_file() or f"def {named[2]}(" not in file.read_text("utf-8"):
            lacking.append(row)
    assert lacking == []


def test_every_attacker_has_a_line_on_what_is_not_defended() -> None:
    parts = re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]
    assert [part.splitlines()[0] for part in parts] == [
        "A hostile result folder",
        "A hostile corpus, labelled set, file of the hub, or model",
        "A hostile store, service or model endpoint under test",
        "Another user, or another process, of the same machine",
        "A tampered release, or package",
    ]
    assert [part.splitlines()[0] for part in parts if "\nNot defended: " not in part] == []


def test_files_that_it_links_to_are_there_and_no_address_is_made_up() -> None:
    linked = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert [name for name in linked if not (ROOT / name).is_file()] == []
    assert "@" not in TEXT
    assert "Report a vulnerability" in TEXT
