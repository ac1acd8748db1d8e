from __future__ import annotations

from pathlib import Path

import pytest

from recallbench.citing.markdown_files import markdown_files
from recallbench.errors import InputError


def test_a_folder_stands_for_its_texts(tmp_path: Path) -> None:
    for name in (
        "b.md",
        "a/c.MD",
        ".git/d.md",
        "node_modules/e.md",
        "results/r/report.md",
        "results/r/manifest.json",
        "f.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "b.md")
    (tmp_path / "again").symlink_to(tmp_path / "a")
    files = markdown_files([tmp_path / "f.txt", tmp_path, tmp_path / "a" / "c.MD"])
    assert [str(file.relative_to(tmp_path)) for file in files] == ["f.txt", "b.md", "a/c.MD"]


def test_a_folder_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no Markdown file"):
        markdown_files([tmp_path])
