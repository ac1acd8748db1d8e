"""The README's examples run as it shows them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commandline import environment, recallbench
from documents.markdown import README, blocks, command_lines, section


def test_the_example_in_python_prints_the_text_beside_it(tmp_path: Path) -> None:
    inside = blocks(section(README, "## In Python"))
    code, _ = [block.body for block in inside if block.language == "python"]
    expected, _ = [block.body for block in inside if block.language == "text"]
    (tmp_path / "my_queries.py").write_text(code)
    command = [sys.executable, "my_queries.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    printed, error = done.stdout, done.stderr[done.stderr.index("recallbench.cases") :]
    assert (printed + error).startswith(expected)


def test_the_runs_in_python_print_the_text_beside_them(tmp_path: Path) -> None:
    inside = blocks(section(README, "## In Python"))
    _, code = [block.body for block in inside if block.language == "python"]
    _, expected = [block.body for block in inside if block.language == "text"]
    own = blocks(section(README, "## Any other memory"))
    (memory,) = [block.body for block in own if block.language == "python"]
    (tmp_path / "my_notes.py").write_text(memory)
    (tmp_path / "my_results.py").write_text(code)
    command = [sys.executable, "my_results.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout == expected
    assert (tmp_path / "several.svg").read_text().startswith("<?xml")


def test_the_class_of_ones_own_runs(tmp_path: Path) -> None:
    text = section(README, "## Any other memory")
    (code,) = [block.body for block in blocks(text) if block.language == "python"]
    (tmp_path / "my_notes.py").write_text(code)
    commands = [words for words in command_lines(text) if {"plain", "longer"} & {*words}]
    assert [recallbench(*words, cwd=tmp_path).returncode for words in commands] == [0, 0, 0]


def test_the_encoder_of_ones_own_runs(tmp_path: Path) -> None:
    text = section(README, "## An encoder of your own")
    (code,) = [block.body for block in blocks(text) if block.language == "python"]
    (tmp_path / "my_encoder.py").write_text(code)
    (command,) = [words for words in command_lines(text) if "python:my_encoder:embed" in words]
    assert recallbench(*command, cwd=tmp_path).returncode == 0


def test_the_examples_with_files_run(tmp_path: Path) -> None:
    inside = blocks(section(README, "## Rankings made elsewhere"))
    (gold,) = [block.body for block in inside if block.language == "json"]
    (tmp_path / "gold.jsonl").write_text(gold)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(gold)
    (tmp_path / "texts.jsonl").write_text('{"query": "where", "expected": "Portland", "ranked": ["in portland"]}\n')
    (tmp_path / "run.trec").write_text("q Q0 a 1 1 me\n")
    (tmp_path / "qrels.trec").write_text("q 0 a 1\n")
    commands = [
        words for words in command_lines(section(README, "## Rankings made elsewhere")) if words[0] == "evaluate"
    ]
    assert len(commands) == 6
    for words in commands:
        assert recallbench(*words, cwd=tmp_path).returncode == 0


@pytest.mark.marked
def test_the_examples_with_a_set_run(tmp_path: Path) -> None:
    text = section(README, "## Your own data")
    documents, gold = [block.body for block in blocks(text) if block.language == "json"]
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "corpus.jsonl").write_text(documents)
    (tmp_path / "team" / "gold.jsonl").write_text(gold)
    more = "".join(f'{{"_id": "m{i}", "text": "Nothing of that, {i}."}}\n' for i in range(20))
    (tmp_path / "more.jsonl").write_text(more)
    codes = {}
    for words in command_lines(text):
        named = words[1:2] in (["team"], ["by-id"])
        if named and words[0] in ("evaluate", "audit", "grow"):
            codes[" ".join(words)] = recallbench(*words, cwd=tmp_path).returncode
    # Nothing is committed here, so the audit has one gate left to pass.
    assert list(codes.values()) == [0, 0, 0, 0, 1, 0], codes
    report = (tmp_path / "by-text" / "report.md").read_text()
    assert "by **tokens f1>=0.5, chunk 10**" in report
