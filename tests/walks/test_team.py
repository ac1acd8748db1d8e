"""The walk of a team with a log: questions, labels, a first figure, k, and a gate, by the guides' words."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from commandline import recallbench
from documents.markdown import README, section, spans
from documents.readers import TEAM
from labelled_sets import jsonl
from walks.walker import Walker, named

FORGETFUL = """
class Forgetful:
    needs_vectors = False

    def __init__(self):
        self.ids = []

    def add(self, id, text):
        self.ids.append(id)

    def search(self, query, k):
        return self.ids[-k:]
"""


def test_from_questions_to_a_gate_that_catches_a_fall(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    evaluate, init, again, gate = walker.reads("My data")
    measured = walker.types(evaluate)
    assert measured.returncode == 0
    for k in (1, 3, 5, 10):
        assert re.search(rf"^{k} +[01]\.\d+ +[01]\.\d+", measured.stdout, re.MULTILINE), k
    assert "pgmnemo" not in measured.stdout + measured.stderr
    assert "UNVERIFIED" not in measured.stdout + measured.stderr
    begun = walker.types(init)
    assert begun.returncode == 0
    assert "recall_any@10 drops less than 0.28" in begun.stdout
    assert "0.28" in section(README, "## What the quick starts show")
    assert "strict = true" in (tmp_path / "recallbench.toml").read_text()
    assert walker.types(again).returncode == 0
    assert walker.types(gate).returncode == 0
    # A change that forgets, measured by the same command.
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    worse = walker.types(again, {"bm25": "python:forgetful:Forgetful"})
    assert worse.returncode == 0
    caught = walker.types(gate)
    assert "ended otherwise" in caught.stderr
    assert "recall_any@10" in caught.stdout


def test_a_set_of_two_questions_makes_no_gate(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    evaluate, init, _, gate = walker.reads("My data")
    walker.reads("Your own in their place", json_names=TEAM)
    assert walker.types(evaluate, {"examples/rankers": "team"}).returncode == 0
    assert "It wants a few dozen questions" in section(README, "## What the quick starts show")
    refused = walker.types(init._replace(exit_code=2))
    assert refused.returncode == 0, "it ends with 2, as the README says"
    assert "chance" in refused.stderr
    assert not (tmp_path / "recallbench.toml").exists()
    assert walker.types(gate._replace(exit_code=2)).returncode == 0


def test_questions_in_a_file_become_a_set(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    walker.reads("Your own in their place", json_names=TEAM)
    (tmp_path / TEAM[1]).unlink()
    (tmp_path / "questions.txt").write_text("When does the ferry leave?\nWhere does it rain?\n")
    (command,) = [span for span in spans(README) if span.startswith("recallbench label")]
    assert recallbench(*shlex.split(command)[1:], cwd=tmp_path, typed="y\na\ny\na\n").returncode == 0
    labelled = map(json.loads, (tmp_path / TEAM[1]).read_text().splitlines())
    assert [(row["query"], row["relevant"]) for row in labelled] == [
        ("When does the ferry leave?", ["d1"]),
        ("Where does it rain?", ["d2"]),
    ]


def test_from_a_log_to_labels(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    walker.reads("The files", "own-data", TEAM)
    lines = walker.reads("Label what you do not have yet", "own-data")
    recalls = [{"query": f"Where does boat {i % 5} go?", "ids": ["d1", "d2"], "kind": "trip"} for i in range(40)]
    jsonl(tmp_path / "recalls.jsonl", recalls)
    drawn = walker.types(next(line for line in lines if "--save sample.jsonl" in line.command))
    assert drawn.returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "sample.jsonl").read_text().splitlines()]
    assert {row["query"] for row in rows} == {recall["query"] for recall in recalls}
    jsonl(tmp_path / "labels.jsonl", [{**row, "relevant": ["d1"]} for row in rows])
    scored = walker.types(named(lines, "labels.jsonl"))
    assert scored.returncode == 0
    assert re.search(r"recall\S* +1\.0000", scored.stdout)
    # A question of one's own, answered key by key: the first document, and none of the rest.
    words = shlex.split(named(lines, "--query").command)
    assert recallbench(*words[1:], cwd=tmp_path, typed="y\na\n").returncode == 0
    # Answers that somebody kept in a sheet.
    (tmp_path / "answers.csv").write_text("query,relevant,scope\nWhich town is wet?,d2,trips\n")
    assert walker.types(named(lines, "--import")).returncode == 0
    *_, labelled, imported = map(json.loads, (tmp_path / "team/gold.jsonl").read_text().splitlines())
    assert (labelled["query"], len(labelled["relevant"])) == ("Where does it rain?", 1)
    assert (imported["query"], imported["relevant"]) == ("Which town is wet?", ["d2"])
