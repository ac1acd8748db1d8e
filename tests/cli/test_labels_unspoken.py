"""What no command says of one's own memory on the canary, where nobody asked: the names of the protocol's world."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import beir

NAMES = ("pgmnemo", "CANONICAL", "UNVERIFIED")
OWN = ("--store", "python:mine:Memory")
MEMORY = """
class Memory:
    def __init__(self):
        self.texts = {}

    def add(self, id, text):
        self.texts[id] = set(text.lower().split())

    def search(self, query, k):
        asked = set(query.lower().split())
        return sorted(self.texts, key=lambda id: (-len(asked & self.texts[id]), id))[:k]
"""
SWEEP = """
[run]
corpus = "canary-locomo"
store = "python:mine:Memory"
out = "swept"
[parameters]
k = [5, 10]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the memory, two results of it, and a gate for the second."""
    folder = tmp_path_factory.mktemp("own")
    beir(folder / "team")
    (folder / "mine.py").write_text(MEMORY)
    (folder / "tune.toml").write_text(SWEEP)
    for name in ("a", "b"):
        words = ("run", "canary-locomo", *OWN, "--folder", name, "-q")
        assert recallbench(*words, cwd=folder).returncode == 0
        assert recallbench("evaluate", "team", *OWN, "--folder", f"team_{name}", "-q", cwd=folder).returncode == 0
    assert recallbench("gate", "--init", "b", cwd=folder).returncode == 2  # floors alone
    return folder


@pytest.mark.parametrize("format", ["text", "markdown", "html", "csv"])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "canary-locomo", *OWN, "--limit", "20", "--out", "o", "-q"),
        ("run", "canary-locomo", *OWN, "--store", "bm25", "--limit", "20", "--out", "o", "-q"),
        ("table", "a", "b"),
        ("compare", "a", "b"),
        ("gate",),
        ("drift", "a", "b"),
        ("evaluate", "team", *OWN, "--out", "o", "-q"),
        ("audit", "a", "team_a"),
    ],
    ids=lambda words: " ".join(words[:1]),
)
def test_in_no_format(place: Path, words: tuple[str, ...], format: str) -> None:
    done = recallbench(*words, "--format", format, cwd=place)
    assert (done.stdout != "", done.returncode in (0, 1)) == (True, True), done.stderr
    for name in NAMES:
        assert name not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("repeat", "2", "canary-locomo", *OWN, "--limit", "9", "--out", "o", "-q"),
        ("sweep", "tune.toml", "--limit", "9", "-q"),
        ("latency", "canary-locomo", *OWN, "--clients", "1", "--rates", "20", "--seconds", "0.2", "--out", "o", "-q"),
        ("grow", "canary-locomo", *OWN, "--factors", "1,2", "-q"),
    ],
    ids=lambda words: words[0],
)
def test_of_no_study(place: Path, words: tuple[str, ...]) -> None:
    done = recallbench(*words, cwd=place)
    assert (done.stdout != "", done.returncode in (0, 1)) == (True, True), done.stderr
    for name in NAMES:
        assert name not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        (("evaluate", "team", *OWN, "--out", "o", "-q"), "team, python:mine:Memory, no embedder; "),
        (("table", "team_a", "team_b"), "team, 3 questions\n"),
        (("drift", "team_a", "team_b"), "recall_any@10 of python:mine:Memory with no embedder on team, 2 results\n"),
        (("audit", "team_a", "--verdict"), "team_a: "),
        (("audit", "team_a", "--format", "markdown"), "team_a: "),
        (("audit", "team_a", "--format", "csv", "--verbose"), "folder,outcome,"),
        (
            ("latency", "team", *OWN, "--clients", "1", "--rates", "20", "--seconds", "0.2", "--out", "o", "-q"),
            "Latency of python:mine:Memory on team\n",
        ),
        (("grow", "team", *OWN, "--factors", "1", "-q"), ""),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_a_set_of_ones_own_goes_by_its_name(place: Path, words: tuple[str, ...], starts: str) -> None:
    done = recallbench(*words, cwd=place)
    assert done.stdout.startswith(starts), done.stderr
    assert "team" in done.stdout
    assert "labelled/" not in done.stdout + done.stderr
