"""Where a command writes a file, its folder has to be there: none is made for it, and nothing is done before."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import recallbench


@pytest.mark.parametrize(
    "words",
    [
        ("table", "r", "--plot", "new/folder/x.svg"),
        ("drift", "r", "--plot", "new/folder/x.svg"),
        ("grow", "canary-locomo", "--store", "bm25", "--plot", "new/folder/x.svg"),
        ("score", "gold.jsonl", "--ks", "1,3", "--plot", "new/folder/x.svg"),
        ("sample", "log.jsonl", "--save", "new/folder/x.svg"),
        ("report", "r", "--save", "new/folder/x.svg"),
        ("gate", "r", "--init", "--config", "new/folder/x.svg"),
    ],
    ids=lambda words: words[0],
)
def test_no_folder_is_made_for_a_file(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = recallbench(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "recallbench: new/folder/x.svg can't be written\n  expected: a file in a folder that is there\n"
        "  found: no folder new/folder\n  what to do: mkdir -p new/folder, or name another file\n",
    )
    assert not (tmp_path / "new").exists()
