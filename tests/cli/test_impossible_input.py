"""Huge numbers, endless brackets and half characters are reported as errors of the input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import environment, recallbench

HUGE = "9" * 400
TEAM = '{"_id": "d", "text": "The ferry leaves at nine."}\n'
GOLD = '{"query_id": "q", "query": "When?", "relevant": {"d": %s}}\n'


@pytest.mark.parametrize("grade", [HUGE, f"-{HUGE}", "1e999", "1e308", "NaN", "true"])
def test_a_grade_beyond_every_scale_is_refused(tmp_path: Path, grade: str) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team/corpus.jsonl").write_text(TEAM)
    (tmp_path / "team/gold.jsonl").write_text(GOLD % grade)
    done = recallbench("evaluate", "team", "--store", "bm25", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("recallbench: ")
    assert "gold.jsonl" in done.stderr
    assert ("grades from 0 to 1,000,000,000" in done.stderr) == (grade != "NaN")


@pytest.mark.parametrize("grade", [HUGE, "1e308", "nan"])
def test_a_judgement_beyond_every_scale_is_refused(tmp_path: Path, grade: str) -> None:
    (tmp_path / "team/qrels").mkdir(parents=True)
    (tmp_path / "team/corpus.jsonl").write_text(TEAM)
    (tmp_path / "team/queries.jsonl").write_text('{"_id": "q", "text": "When?"}\n')
    (tmp_path / "team/qrels/test.tsv").write_text(f"q\td\t{grade}\n")
    done = recallbench("evaluate", "team", "--store", "bm25", "-q", cwd=tmp_path)
    assert done.returncode == 2
    assert "line 1: field score\n  expected: a number of at most 1,000,000,000" in done.stderr


def test_numbers_of_thousands_of_digits_are_shortened_in_messages(tmp_path: Path) -> None:
    longest = "9" * 5000
    (tmp_path / "gold.jsonl").write_text(f'{{"query": "q", "relevant": {{"d": {longest}}}, "ranked": ["d"]}}\n')
    (tmp_path / "run.trec").write_text("q Q0 d 1 0.9 x\n")
    (tmp_path / "qrels.trec").write_text(f"q 0 d {longest}\n")
    done = recallbench("evaluate", "--gold", "gold.jsonl", cwd=tmp_path)
    assert (done.returncode, "found: a number of too many digits\n" in done.stderr) == (2, True)
    assert "sys." not in done.stderr
    done = recallbench("evaluate", "--run", "run.trec", "--gold", "qrels.trec", cwd=tmp_path)
    assert (done.returncode, f"found: {'9' * 80}…\n" in done.stderr) == (2, True)


@pytest.mark.parametrize("text", [f"a = {'[' * 20000}{']' * 20000}", f"a{'.a' * 200} = 1"], ids=["lists", "tables"])
def test_settings_nested_without_end_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "deep.toml").write_text(text)
    for command in (("gate",), ("run", "canary-locomo")):
        done = recallbench(*command, "--config", "deep.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert "found: brackets nested without end" in done.stderr


@pytest.mark.parametrize("name", ["run.jsonl", "run.json"])
def test_rankings_nested_without_end_are_refused(tmp_path: Path, name: str) -> None:
    deep = '{"query_id": "b", "ranked": ' + "[" * 20_000 + "\n"
    # No line is whole JSON, so that each is tried.
    (tmp_path / name).write_text('{"query_id": "a", "ranked": ["d",, "e"]}\n' + deep)
    (tmp_path / "gold.json").write_text('{"a": ["d"], "b": ["d"]}\n')
    done = recallbench("score", name, "--gold", "gold.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected: a JSON object\n" in done.stderr


def test_a_threshold_of_400_digits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(f'[result.a]\nfolder = "x"\nat_least = {{"recall@10" = {HUGE}}}\n')
    done = recallbench("gate", "--config", "gate.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "gate.toml, line 3" in done.stderr


@pytest.mark.parametrize("option", ["--version", "--label", "--dsn", "--folder"])
def test_an_argument_that_is_not_utf8_is_refused(tmp_path: Path, option: str) -> None:
    words = [sys.executable, "-m", "recallbench", "run", "canary-locomo", "--store", "bm25", option, b"a\xff"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(tmp_path, None), capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        b"recallbench: argument 6 can't be read\n  expected: UTF-8\n  found: 'a\\udcff'\n"
        b"  what to do: write it in UTF-8\n"
    )


def test_a_variable_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    more = {"RECALLBENCH_LABEL": os.fsdecode(b"a\xff")}
    done = recallbench("run", "canary-locomo", "--store", "bm25", "-q", cwd=tmp_path, env=more)
    assert done.returncode == 2
    assert "$RECALLBENCH_LABEL can't be read" in done.stderr


def test_a_history_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "HISTORY.md").write_bytes(b"# History\n\nna\xefve\n")
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert "HISTORY.md is not UTF-8" in done.stderr
