"""Levels of load on a store that stops to answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import beir

ONCE = """
from recallbench.errors import InputError

class Memory:
    left = {left}

    def __init__(self):
        self.texts = []

    def add(self, id, text):
        self.texts.append(id)

    def search(self, query, k):
        Memory.left -= 1
        if Memory.left < 0:
            raise ValueError("too busy")
        return self.texts[:k]
"""


@pytest.mark.marked
@pytest.mark.parametrize("left", [0, 250])
def test_a_store_that_answers_nothing_ends_the_study(tmp_path: Path, left: int) -> None:
    beir(tmp_path / "team")
    (tmp_path / "memory.py").write_text(ONCE.format(left=left))
    words = ("latency", "team", "--store", "python:memory:Memory", "--clients", "1", "--seconds", "0.2", "--out", "out")
    done = recallbench(*words, "--format", "json", "-q", cwd=tmp_path)
    if left == 0:  # while it is warmed up
        assert (done.returncode, done.stdout) == (2, "")
        assert "too busy" in done.stderr
        assert not (tmp_path / "out").exists()
        return
    document = json.loads(done.stdout)
    closed, *opened = document["rows"]
    assert closed["failed"] > 0
    assert closed["p50"]["at_least"]
    assert {row["n"] for row in opened} == {0}
    assert {row["quality"][0]["value"] for row in opened} == {0.0}
    assert document["finished"]
