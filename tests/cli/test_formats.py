"""Wherever something is printed, --format takes the same five words, and --json is one of them."""

from __future__ import annotations

import csv
import html
import io
import json
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import jsonl
from stages import sampled

LOG = [{"query": f"what of {n}?", "ids": [f"d{n}"], "kind": "fact" if n % 3 else "plan"} for n in range(12)]
LABELS = [{"query": f"what of {n}?", "relevant": [f"d{n if n % 2 else 99}"]} for n in range(12)]
COMMANDS = {
    "corpora": "corpora",
    "stores": "stores",
    "embedders": "embedders",
    "measures": "measures",
    "stages": "stages",
    "doctor": "doctor canary-locomo --store bm25",
    "table": "table {results}/bm25 {results}/exact",
    "costs": "costs {results}/bm25",
    "multiverse": "multiverse {results}/bm25 --published 0.8354",
    "report": "report {results}/bm25 --save page.html",
    "site": "site {results}/bm25 --folder site -q",
    "export": "export prometheus {results}/bm25 --textfile bench.prom -q",
    "sample": "sample log.jsonl --n 6",
    "sample --labels": "sample log.jsonl --labels labels.jsonl",
    "score": "score both.jsonl",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    jsonl(tmp_path / "log.jsonl", LOG)
    jsonl(tmp_path / "labels.jsonl", LABELS)
    jsonl(tmp_path / "both.jsonl", [{"query": "q", "relevant": ["a"], "ranked": ["a", "b"]}])
    return tmp_path


@pytest.mark.parametrize("name", sampled(list(COMMANDS), 2))
def test_each_form_is_what_it_is_called(name: str, place: Path, results_to_compare: Path) -> None:
    words = COMMANDS[name].format(results=results_to_compare).split()

    def printed(*more: str) -> str:
        done = recallbench(*words, *more, cwd=place)
        assert done.returncode == 0
        return done.stdout

    text = printed()
    document = json.loads(printed("--format", "json"))
    assert json.loads(printed("--json")).keys() == document.keys()
    rows = list(csv.reader(io.StringIO(printed("--format", "csv"))))
    assert len(rows) > 1
    # One table, which any reader takes.
    assert {len(row) for row in rows} == {len(rows[0])}
    page = printed("--format", "html")
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
    markdown = printed("--format", "markdown")
    assert "\n|---" in markdown or name in ("report", "export")
    if "conclusion" in document:
        told = document["conclusion"]["text"]
        assert markdown.rstrip().splitlines()[-1].startswith("**")
        if name != "sample":  # whose text is JSON Lines alone
            assert text.splitlines()[-1] == told
        assert html.escape(told) in page


def test_a_list_of_two_tables_is_one_sheet_that_says_which(tmp_path: Path) -> None:
    for name, kind, setting in (("stores", "store", "NAME=VALUE"), ("stages", "stage", "option")):
        sheet = list(csv.DictReader(io.StringIO(recallbench(name, "--format", "csv", cwd=tmp_path).stdout)))
        document = json.loads(recallbench(name, "--json", cwd=tmp_path).stdout)
        told = [(kind, "") for _ in document[name]] + [("option", row[setting]) for row in document["options"]]
        assert [(row["table"], row[setting]) for row in sheet] == told


def test_two_forms_at_once_are_refused(tmp_path: Path) -> None:
    done = recallbench("measures", "--json", "--format", "csv", cwd=tmp_path)
    assert (done.returncode, "two forms of one output" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        ("sample log.jsonl --n 3", "--out a.jsonl", "--save b.jsonl"),
        ("report {results}/bm25", "--out a.html", "--save b.html"),
        ("site {results}/bm25 -q", "--out first", "--folder second"),
    ],
)
def test_the_former_name_of_an_option_does_the_same(
    place: Path, results_to_compare: Path, words: str, old: str, new: str
) -> None:
    command = words.format(results=results_to_compare).split()
    before = recallbench(*command, *old.split(), cwd=place)
    after = recallbench(*command, *new.split(), cwd=place)
    assert before.returncode == after.returncode == 0
    first, second = old.split()[1], new.split()[1]
    assert before.stdout.replace(first, second) == after.stdout
    assert (place / first).exists()
    assert (place / second).exists()
    assert f"  {old.split()[0]} " not in recallbench(command[0], "--help", cwd=place).stdout
    both = recallbench(*command, *old.split(), *new.split(), cwd=place)
    assert (both.returncode, "is the former name of" in both.stderr) == (2, True)


def test_a_variable_or_a_file_does_not_know_a_former_name(place: Path, results_to_compare: Path) -> None:
    env = {"RECALLBENCH_OUT": "elsewhere"}
    done = recallbench("site", results_to_compare / "bm25", "-q", cwd=place, env=env)
    assert (done.returncode, "a site needs a folder" in done.stderr) == (2, True)
    (place / "own.toml").write_text('out = "elsewhere"\n')
    done = recallbench("site", results_to_compare / "bm25", "-q", "--config", "own.toml", cwd=place)
    assert (done.returncode, "a site needs a folder" in done.stderr) == (2, True)
