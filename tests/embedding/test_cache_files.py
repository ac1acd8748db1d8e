"""Links and pipes that somebody put in the place of a shared cache's files are not opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recallbench.embedding.cache_files import open_cache_file, read_at, write_at
from recallbench.errors import InputError


@pytest.mark.parametrize("kind", ["link to a file", "link to nothing", "pipe"])
def test_links_and_pipes_are_refused_and_not_followed(tmp_path: Path, kind: str) -> None:
    private, path = tmp_path / "private", tmp_path / "index"
    if kind == "link to a file":
        private.write_text("a secret of the user's\n")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(private)
    with pytest.raises(InputError, match="the vector cache is not as RecallBench makes it") as caught:
        open_cache_file(path)
    assert caught.value.found == ("a pipe, device or folder" if kind == "pipe" else "a link")
    assert str(path) in caught.value.problem
    assert (private.read_text() if private.exists() else "") == (
        "a secret of the user's\n" if kind == "link to a file" else ""
    )


def test_bytes_written_at_an_offset_are_read_from_there(tmp_path: Path) -> None:
    descriptor = open_cache_file(tmp_path / "index")
    write_at(descriptor, b"abcdef", 2)
    assert read_at(descriptor, 4, 3) == b"cde"
    assert read_at(descriptor, 6, 100) == b"ef"
    os.close(descriptor)
