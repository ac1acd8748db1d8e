"""Folders appear whole or not at all, and never over another one."""

from datetime import date
from pathlib import Path

import pytest

from recallbench.errors import InputError, UsageError
from recallbench.results.folder import explicit_folder, folder_name, free_folder, staged, write_blocked
from recallbench.results.manifest import build, differences

DAY = date(2026, 5, 9)


def test_folders_are_named_by_version_and_date() -> None:
    assert folder_name("v0.2.1", DAY) == "v0.2.1_20260509"
    assert folder_name("v0.2.1", DAY, "my label/x") == "v0.2.1_20260509_my-label-x"


def test_a_taken_default_name_gets_a_number(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a_2").mkdir()
    assert free_folder(tmp_path, "a") == tmp_path / "a_3"


def test_an_explicit_folder_that_exists_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        explicit_folder(tmp_path)


def test_a_failure_leaves_no_folder(tmp_path: Path) -> None:
    def fail() -> None:
        with staged(tmp_path / "r") as staging:
            (staging.temporary / "a").write_text("x")
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_an_os_failure_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be written to"), staged(tmp_path / "r"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_made_meanwhile_is_not_touched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another run made"), staged(tmp_path / "r"):
        (tmp_path / "r").mkdir()
    assert list((tmp_path / "r").iterdir()) == []


def test_a_default_name_taken_meanwhile_gets_a_number(tmp_path: Path) -> None:
    with staged(tmp_path / "r", explicit=False) as staging:
        (staging.temporary / "a").write_text("x")
        (tmp_path / "r").mkdir()
        (tmp_path / "r" / "b").write_text("y")
    assert staging.folder == tmp_path / "r_2"
    assert [path.name for path in (tmp_path / "r_2").iterdir()] == ["a"]
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["b"]


def test_a_blocked_folder_says_what_is_missing_and_what_gets_it(tmp_path: Path) -> None:
    write_blocked(tmp_path / "b", "locomo", "the corpus", "nothing there", "recallbench fetch locomo")
    text = (tmp_path / "b" / "BLOCKED.md").read_text()
    assert "the corpus" in text
    assert "recallbench fetch locomo" in text


def test_the_manifest_names_every_difference(tmp_path: Path) -> None:
    for name in ("a", "b", "timings.jsonl"):
        (tmp_path / name).write_text(name)
    (tmp_path / "manifest.json").write_text(build(tmp_path))
    assert differences(tmp_path) == []
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").unlink()
    (tmp_path / "c").write_text("c")
    changes = differences(tmp_path)
    assert changes[:2] == ["b is missing", "c is not in the manifest"]
    assert changes[2].startswith("a has sha256 559aead08264")


def test_the_content_hash_leaves_out_what_varies(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "timings.jsonl").write_text("1")
    first = build(tmp_path)
    (tmp_path / "timings.jsonl").write_text("2")
    second = build(tmp_path)
    assert first != second
    assert first.splitlines()[-2] == second.splitlines()[-2]


def test_a_servers_message_makes_no_markup_in_blocked(tmp_path: Path) -> None:
    message = "no server\n\n# Verdict\n```\n<script>"
    write_blocked(tmp_path / "result", "locomo <b>", "<i>what</i> \x1b[2J", message, "run `psql` | [x](javascript:1)")
    text = (tmp_path / "result/BLOCKED.md").read_text()
    assert text.startswith("# BLOCKED: no result for locomo &lt;b>\n")
    assert "**What is missing:** &lt;i>what&lt;/i> \\x1b[2J\n" in text
    assert "**Found:** \n\n````\n" + message + "\n````\n" in text
    assert "**What gets it:** run \\`psql\\` | [x\\](javascript:1)\n" in text
