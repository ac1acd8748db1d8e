"""What a run used: lengths of texts, bytes and processors, in environment.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import beir
from recallbench.errors import InputError
from recallbench.results.costs.quantities import read_quantities, read_stage_quantities
from recallbench.results.manifest import build


def test_a_run_tells_what_it_used(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "exact", "--embedder", "hash", "--folder", "r", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    used = read_quantities(tmp_path / "r")
    phases = json.loads((tmp_path / "r" / "environment.json").read_text())["seconds"]
    assert list(used.cpu_seconds) == list(phases)
    # Three documents in the north and two in the south, of 256 numbers in double precision and one id each.
    assert used.stored_bytes == {"ids": 5 * 8, "vectors": 5 * 256 * 8}
    passage, query = used.embedded["passage"], used.embedded["query"]
    assert (passage.computed, passage.reused, query.computed, query.reused) == (5, 0, 4, 0)
    texts = used.texts
    north, south = (38 + 19 + 16), (32 + 31)
    assert (texts.haystacks, texts.questions, texts.characters) == (2, 4, north + south)
    # Each of two questions has its whole haystack as its history, and with k = 3 as its context.
    assert texts.history_characters == 2 * north + 2 * south
    assert {at.k: at.characters for at in texts.context}[3] == texts.history_characters
    assert texts.tokens == passage.tokens
    assert read_stage_quantities(tmp_path / "r") == []


def test_what_was_embedded_before_makes_its_quantity_a_lower_bound(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "exact", "--embedder", "hash", "-q", "--folder", "r")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    path = tmp_path / "r" / "environment.json"
    whole = recallbench("costs", "r", cwd=tmp_path).stdout
    assert "at least" not in whole
    environment = json.loads(path.read_text())
    environment["quantities"]["embedded"]["passage"] |= {"computed": 2, "reused": 3}
    path.write_text(json.dumps(environment))
    (tmp_path / "r" / "manifest.json").write_text(build(tmp_path / "r"))
    lines = recallbench("costs", "r", cwd=tmp_path).stdout.splitlines()
    (ingest,) = [line for line in lines if line.startswith("ingest") and "embedding the segments" in line]
    assert ingest.count("at least") == 2
    # Running costs hold no embedding of segments.
    (query,) = [line for line in lines if line.startswith("query ") and "processor" not in line]
    assert query.count("at least") == 1
    assert any(line.startswith("at least: embedding the segments took more, in the earlier run") for line in lines)


def test_a_result_of_before_says_that_it_does_not_tell(tmp_path: Path) -> None:
    (tmp_path / "environment.json").write_text('{"started": "2026-01-01T00:00:00+00:00"}')
    with pytest.raises(InputError, match="does not say what it used"):
        read_quantities(tmp_path)
    (tmp_path / "environment.json").write_text('{"quantities": {"cpu_seconds": {"search": "long"}}}')
    with pytest.raises(InputError, match="not what a run used"):
        read_quantities(tmp_path)


@pytest.mark.parametrize(
    ("answer", "held"), [("7 * len(self.texts)", {"memory": 7 * 5}), ("{}", {}), ("-1", None), ("'many'", None)]
)
def test_a_memory_of_ones_own_may_say_how_many_bytes_it_holds(
    tmp_path: Path, answer: str, held: dict[str, int] | None
) -> None:
    beir(tmp_path / "team")
    (tmp_path / "words.py").write_text(
        "class Words:\n"
        "    def __init__(self):\n        self.texts = {}\n"
        "    def add(self, id, text):\n        self.texts[id] = text\n"
        "    def search(self, query, k):\n        return list(self.texts)[:k]\n"
        f"    def stored_bytes(self):\n        return {answer}\n"
    )
    done = recallbench("evaluate", "team", "--store", "python:words:Words", "--folder", "r", "-q", cwd=tmp_path)
    if held is None:
        assert "of stored_bytes() a whole number of 0 or more" in done.stderr
        return
    assert read_quantities(tmp_path / "r").stored_bytes == held
    told = recallbench("costs", "r", cwd=tmp_path).stdout
    assert ("bytes that are stored: not stated by python:words:Words" in told) == (not held)


@pytest.mark.marked
def test_the_processors_of_an_embedded_server_are_counted_and_named(tmp_path: Path) -> None:
    beir(tmp_path / "team")
    words = ("evaluate", "team", "--store", "pgvector", "--embedder", "hash", "--folder", "r", "-q")
    assert recallbench(*words, cwd=tmp_path).returncode == 0
    assert list(read_quantities(tmp_path / "r").server_cpu_seconds) == ["ingest", "ready", "search"]
    lines = recallbench("costs", "r", cwd=tmp_path).stdout.splitlines()
    named = [line.split()[0] for line in lines if "of the database server" in line and "processor seconds" in line]
    assert named[:3] == ["ingest", "index", "query"]
    assert not any("processors of pgvector's server" in line for line in lines)
    assert recallbench("audit", "r", cwd=tmp_path).stdout.count("  fail ") == 0
