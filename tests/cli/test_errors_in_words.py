"""Errors that a stranger meets first, to the letter: what went wrong, where, and what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from labelled_sets import jsonl

RUN = ("run", "canary-locomo", "--store", "bm25")
HELP = "  what to do: `recallbench {0} --help` shows what can be given\n"
SET = "  expected: the folder of a set of your own: corpus.jsonl with gold.jsonl, or with queries.jsonl and qrels/\n"
ANSWERED = {"query": "When does the ferry leave?", "relevant": ["d1"]}
"""A question with what answers it."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("team", "unknown", "twice", "mistyped", "called"):
        (tmp_path / name).mkdir()
        jsonl(tmp_path / name / "corpus.jsonl", [{"_id": "d1", "text": "The ferry leaves at nine."}])
        jsonl(tmp_path / name / "gold.jsonl", [ANSWERED])
    jsonl(tmp_path / "unknown" / "gold.jsonl", [ANSWERED | {"relevant": ["d9"]}])
    jsonl(tmp_path / "twice" / "corpus.jsonl", [{"_id": "d1", "text": text} for text in ("One.", "Two.")])
    jsonl(tmp_path / "mistyped" / "gold.jsonl", [{"query": "When?", "relevnt": ["d1"]}])
    jsonl(tmp_path / "called" / "gold.jsonl", [{"question": "When?", "relevant": ["d1"]}])
    jsonl(tmp_path / "run.jsonl", [ANSWERED | {"ranked": ["d1"]}])
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "empty.toml").touch()
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe")
    (tmp_path / "limit.toml").write_text('limit = "abc"\n')
    return tmp_path


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("run", "canary-locomo", "canary-longmemeval"),
            "canary-longmemeval is one argument too many\n  expected: recallbench run [CORPUS]\n"
            "  what to do: one corpus after the other; `canary` and `all` stand for several\n",
        ),
        (
            ("stages", "a", "b", "c"),
            "b c are arguments too many\n  expected: recallbench stages [DIR]\n" + HELP.format("stages"),
        ),
        (
            ("fetch",),
            "NAME is missing\n  expected: recallbench fetch NAME (NAME: A corpus (locomo, realtalk, …: `recallbench "
            "corpora`) or an encoder (bge-m3, mpnet, …: `recallbench embedders`, or hub:OWNER/NAME@REVISION))\n"
            + HELP.format("fetch"),
        ),
        (
            ("repeat", "canary-locomo"),
            "Invalid value for 'N': 'canary-locomo' is not a valid whole number\n"
            "  expected: recallbench repeat N [CORPUS]\n" + HELP.format("repeat"),
        ),
        (
            (*RUN, "--limit", "0"),
            "Invalid value for '--limit': 0 is not in the range from 1 on\n" + HELP.format("run"),
        ),
        (
            (*RUN, "--config", "limit.toml"),
            "Invalid value for '--limit': 'abc' is not a valid whole number\n  found: what the settings file says\n"
            + HELP.format("run"),
        ),
        (
            ("run", "canary-locomo", "--store"),
            "--store has no value\n  expected: a value of --store\n  found: nothing behind it\n"
            "  what to do: give --store its value, or leave it out\n",
        ),
        (
            (*RUN, "--pipeline", "none.toml"),
            "none.toml can't be read\n  expected: a TOML file with a pipeline\n  found: No such file or directory\n"
            "  what to do: check the path; recallbench stages lists what a pipeline can have\n",
        ),
        (
            (*RUN, "--out", "empty.toml"),
            "the result can't be written to empty.toml/bm25_DAY\n  expected: a writable place with room for it\n"
            "  found: empty.toml: Not a directory\n"
            "  what to do: name another place with --out or --folder, or free some room; nothing half-written was "
            "left\n",
        ),
        (
            ("evaluate", "nowhere", "--store", "bm25"),
            f"there is no folder nowhere\n{SET}  found: nothing\n  what to do: check the path\n",
        ),
        (
            ("evaluate", "team/corpus.jsonl"),
            f"team/corpus.jsonl is a file\n{SET}  found: a file\n  what to do: name the folder that the file lies in\n",
        ),
        (
            ("evaluate", "team", "--split", "dev"),
            "team has no splits\n  expected: no --split: all its questions are in gold.jsonl\n  found: --split dev\n"
            "  what to do: leave --split out, and out of RECALLBENCH_SPLIT and the settings file\n",
        ),
        (
            ("evaluate", "unknown", "--store", "bm25"),
            "gold.jsonl: query q1 (line 1): field relevant\n  expected: ids in corpus.jsonl\n"
            "  found: d9, which no document has\n  what to do: mend the file\n",
        ),
        (
            ("evaluate", "twice", "--store", "bm25"),
            "corpus.jsonl: line 2: field _id\n  expected: each id once\n  found: d1, as on line 1\n"
            "  what to do: mend the file\n",
        ),
        (
            ("evaluate", "mistyped", "--store", "bm25"),
            "gold.jsonl: query q1 (line 1): field relevant\n  expected: at least one relevant id, or kind abstention\n"
            "  found: none; the unknown field 'relevnt' may mean 'relevant'\n  what to do: mend the file\n",
        ),
        (
            ("evaluate", "called", "--store", "bm25"),
            "gold.jsonl: query q1 (line 1): field query\n  expected: text\n"
            "  found: nothing: the field is missing; the unknown field 'question' may mean 'query'\n"
            "  what to do: mend the file\n",
        ),
        (
            ("score", "run.jsonl", "--by", "colour"),
            "no query has a field colour\n  expected: a field that queries have: kind\n  found: colour\n",
        ),
        (
            ("score", "empty.jsonl"),
            "empty.jsonl: nothing in it\n  expected: a TREC file, JSON Lines, or a JSON object\n"
            "  found: an empty file\n",
        ),
        (
            ("score", "bytes.jsonl"),
            "bytes.jsonl, line 1: can't be read\n  expected: UTF-8\n  found: byte 0xff at 0\n"
            "  what to do: get the file again from where it was made, or make it again\n",
        ),
        (
            ("label", "empty"),
            "empty has no corpus.jsonl\n"
            "  expected: a folder with corpus.jsonl: the documents that questions are asked of\n  found: none\n"
            '  what to do: check the path; a line of it is {"_id": "d1", "text": "…"}\n',
        ),
        (
            ("audit", "nowhere"),
            "there is no folder nowhere\n  expected: a folder that `recallbench run` wrote\n  found: no such folder\n"
            "  what to do: name the folder that `recallbench run` printed: it holds metrics.json\n",
        ),
        (
            ("multiverse", "nowhere"),
            "there is no folder nowhere\n  expected: a folder with rankings, of this or another tool\n"
            "  found: nothing\n  what to do: name the folder that holds the rankings\n",
        ),
        (
            ("sweep", "empty.toml", "canary-locomo"),
            "empty.toml: it names nothing to measure\n"
            "  expected: [parameters] with their values, or [[point]] for each\n  found: none\n",
        ),
        (
            ("latency", "canary-locomo", "--store", "bm25", "--rates", "0"),
            "--rates 0 can't be used\n  expected: numbers above 0, with commas: --rates 20,50\n  found: 0\n",
        ),
        (
            ("grow", "canary-locomo", "--store", "bm25", "--factors", "0"),
            "--factors 0 can't be used\n  expected: whole numbers from 1 on, with commas: --factors 1,2,5,10\n"
            "  found: 0\n",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_error_says_what_is_wrong_and_what_helps(place: Path, words: tuple[str, ...], text: str) -> None:
    done = recallbench(*words, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    stated = done.stderr if "bm25_DAY" not in text else _any_day(done.stderr)
    assert stated == f"recallbench: {text}"


def _any_day(text: str) -> str:
    head, _, tail = text.partition("bm25_")
    return f"{head}bm25_DAY{tail[8:]}"


def test_a_value_of_a_variable_is_told_to_be_one(place: Path) -> None:
    done = recallbench(*RUN, cwd=place, env={"RECALLBENCH_LIMIT": "abc"})
    assert done.returncode == 2
    assert "\n  found: what the variable RECALLBENCH_LIMIT says\n" in done.stderr


def test_a_damaged_result_is_called_so(results_to_compare: Path, tmp_path: Path) -> None:
    shutil.copytree(results_to_compare / "few", tmp_path / "cut")
    (tmp_path / "cut" / "metrics.json").write_text("{")
    for command in ("audit", "report", "costs"):
        done = recallbench(command, "cut", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (
            2,
            "recallbench: cut is a damaged result: metrics.json can't be read\n"
            "  expected: metrics.json as `recallbench run` wrote it\n"
            "  found: Expecting property name enclosed in double quotes at its end: the file may be cut off\n"
            "  what to do: get the folder again from where it was made, or measure anew\n",
        )


def test_a_key_that_is_not_there_is_missing_first_of_all(results_to_compare: Path, tmp_path: Path) -> None:
    shutil.copytree(results_to_compare / "few", tmp_path / "r")
    done = recallbench("attest", "r", "--key", "none", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "recallbench: none can't be used as a key\n  expected: a key file\n  found: no such file\n"
        "  what to do: make a pair with `recallbench keys NAME`: NAME signs, NAME.pub verifies\n",
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("pgvector", "--dsn", "nonsense"), "the address of the server (--dsn, or PGMNEMO_DSN) can't be read"),
        (
            ("http://127.0.0.1:9/",),
            "http://127.0.0.1:9 does not answer while asking for its version: Connection refused (2 tries)",
        ),
    ],
)
def test_a_server_that_is_not_there_is_told_without_numbers_of_the_system(
    tmp_path: Path, words: tuple[str, ...], found: str
) -> None:
    done = recallbench("run", "canary-locomo", "--embedder", "hash", "--store", *words, cwd=tmp_path)
    assert done.returncode == 3
    assert f"\n  found: {found}\n" in done.stderr
