"""A file of Postgres passwords, as the client's library reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recallbench.stores.postgres.passfile import passwords


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("host:5432:db:joe:hush", ["hush"]),
        ("*:*:*:*:hu:sh", ["hu:sh"]),
        (r"h\:1:5432:d\\:joe:hu\:s\\h", [r"hu:s\h"]),
        ("# host:5432:db:joe:hush", []),
        ("host:5432:db:joe", []),
        ("host:5432:db:joe:", []),
        ("", []),
    ],
)
def test_the_fifth_field_is_the_password(line: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text(f"{line}\n")
    assert list(passwords(str(tmp_path / "file"), {})) == expected


def test_the_connection_names_the_file_else_the_environment_else_it_lies_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("named", "of-environment", ".pgpass"):
        (tmp_path / name).write_text(f"*:*:*:*:{name}\n")
    elsewhere = {"PGPASSFILE": str(tmp_path / "of-environment")}
    assert list(passwords(str(tmp_path / "named"), elsewhere)) == ["named"]
    assert list(passwords(None, elsewhere)) == ["of-environment"]
    assert list(passwords(None, {})) == [".pgpass"]


def test_a_file_that_cannot_be_a_passfile_has_no_password(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff\x00\n" * 9)
    for name in ("absent", "pipe", "bytes", "."):
        assert list(passwords(str(tmp_path / name), {})) == []
