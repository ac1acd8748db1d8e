"""`recallbench score FILE --gold FILE` with a broken file names the fault and loses no other case."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from ranking_files import RUNS, lines, refused, table, write, write_ranking_files

from commandline import recallbench
from stages import sampled

BAD_RUNS = {
    "twice": (["a", "b", "a"], "'a' again at place 3"),
    "unordered": ([["a", 0.1], ["b", 0.2]], "0.2 at place 2, behind 0.1"),
    "no ranking": ("a", "'a'"),
    "none": (None, "no such field"),
    "no id": ([None], "None"),
    "two forms": ([["a", 1.0], "b"], "'b'"),
    "no score": ([["a", "high"]], "high"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_ranking_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("bad", sampled(BAD_RUNS))
def test_a_bad_case_is_named_and_does_not_lose_the_others(tmp_path: Path, bad: str) -> None:
    ranked, fault = BAD_RUNS[bad]
    write(tmp_path, "run.jsonl", lines([{"query_id": "q1", "ranked": ["a"]}, {"query_id": "q2", "ranked": ranked}]))
    write(tmp_path, "gold.json", json.dumps({"q1": ["a"], "q2": ["b"]}))
    words = ("--run", "run.jsonl", "--gold", "gold.json", "--k", "3")
    message = refused(tmp_path, *words)
    assert "run.jsonl, line 2" in message
    assert "`q2`" in message
    assert fault in message
    done = recallbench("evaluate", *words, "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert "q2 (failed)           0.00" in done.stdout
    assert "MEAN                  0.50" in done.stdout
    assert fault in done.stdout
    assert "recallbench: 1 of 2 cases failed, named below the table\n" in done.stderr


@pytest.mark.parametrize("line", ["q2 Q0 b 2 0.5 me", "q2 Q0 c 2 nan me", "q2 Q0 c x 0.5 me"])
def test_a_bad_line_of_a_trec_run_costs_its_query_alone(tmp_path: Path, line: str) -> None:
    write(tmp_path, "run.trec", f"q1 Q0 a 1 1 me\nq2 Q0 b 1 1 me\n{line}\n")
    write(tmp_path, "qrels.trec", "q1 0 a 1\nq2 0 b 1\n")
    words = ("--run", "run.trec", "--gold", "qrels.trec", "--k", "1")
    assert "run.trec, line 3" in refused(tmp_path, *words)
    done = recallbench("evaluate", *words, "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert "q2 (failed)           0.00" in done.stdout
    assert "MEAN                  0.50" in done.stdout
    assert "run.trec, line 3" in done.stdout


BAD_GOLDS = {
    "nothing": ({"relevant": []}, 'kind="abstention"'),
    "twice": ({"relevant": ["a", "a"]}, "'a' again"),
    "no ids": ({"relevant": "a"}, "a list of ids"),
    "a grade": ({"relevant": {"a": "high"}}, "'high'"),
    "NaN": ({"relevant": {"a": float("nan")}}, "NaN"),
    "a kind": ({"relevant": ["a"], "kind": ["fact"]}, "`kind` is not a text"),
    "abstention": ({"relevant": ["a"], "kind": "abstention"}, "should find nothing"),
    "misspelt": ({"relevent": ["a"]}, "the unknown field 'relevent' may mean 'relevant'"),
}


@pytest.mark.parametrize("bad", sampled(BAD_GOLDS))
def test_a_bad_case_of_the_gold_is_named(tmp_path: Path, bad: str) -> None:
    fields, fault = BAD_GOLDS[bad]
    write(tmp_path, "gold.jsonl", lines([{"query_id": "q1", "relevant": ["a"]}, {"query_id": "q2", **fields}]))
    write(tmp_path, "run.json", '{"q1": ["a"], "q2": ["b"]}')
    message = refused(tmp_path, "--run", "run.json", "--gold", "gold.jsonl")
    assert "gold.jsonl, line 2" in message
    assert fault in message


def test_a_refused_case_of_the_gold_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, "gold.jsonl", lines([{"query_id": "q1", "relevant": ["a"]}, {"query_id": "q2", "relevant": []}]))
    write(tmp_path, "run.json", '{"q1": ["a"]}')
    done = recallbench("evaluate", "--run", "run.json", "--gold", "gold.jsonl", "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert "left out: gold.jsonl, line 2: case `q2`: nothing is relevant" in done.stdout


BROKEN_GOLD = {
    "jsonl": '{"query_id": "q1", "relevant": ["a"]}\n{"query_id": "q2", "relevant": [\n',
    "not text": b'{"query_id": "q1", "relevant": ["a"]}\n{"query_id": "\xff"}\n',
    "qrels": "q1 0 a 1\nq2 0 b\n",
    "qrels twice": "q1 0 a 1\nq2 0 b 1\nq2 0 b 1\n",
    "qrels not text": b"q1 0 a 1\nq2 0 \xff 1\n",
    "beir": "q1\ta\t1\nq2\tb\tmuch\n",
    "beir cut": "q1\ta\t1\nq2\tb\n",
}


@pytest.mark.parametrize("name", sampled(BROKEN_GOLD))
def test_a_broken_line_of_the_gold_does_not_lose_the_others(tmp_path: Path, name: str) -> None:
    gold = BROKEN_GOLD[name]
    (tmp_path / "gold").write_bytes(gold if isinstance(gold, bytes) else gold.encode())
    write(tmp_path, "run.json", '{"q1": ["a"], "q2": ["b"]}')
    words = ("--run", "run.json", "--gold", "gold")
    assert "line" in refused(tmp_path, *words)
    done = recallbench("evaluate", *words, "--keep-going", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    assert "recallbench: 1 line could not be read and is left out, named below the table" in done.stderr
    report = json.loads(done.stdout)
    assert (report["cases"], report["mean"]["recall_frac@10"]) == (1, 1.0)
    assert any(note.startswith("left out: ") and "line" in note for note in report["notes"])


BROKEN_RUN = {
    "jsonl": ('{"query_id": "q1", "ranked": ["a"]}\n{"query_id": "q2", "ranked": [', ["left out: ", "failed, "]),
    "not text": (b'{"query_id": "q1", "ranked": ["a"]}\n{"query_id": "\xff"}\n', ["left out: "]),
    "trec cut": ("q1 Q0 a 1 2 t\nq2 Q0 b 1 2", ["failed, counted as the worst answer: "]),
    "trec not text": (b"q1 Q0 a 1 2 t\nq2 Q0 \xff 1 2 t\n", ["left out: "]),
}


@pytest.mark.parametrize("name", sampled(BROKEN_RUN))
def test_a_broken_line_of_the_run_does_not_lose_the_others(tmp_path: Path, name: str) -> None:
    run, notes = BROKEN_RUN[name]
    (tmp_path / "run").write_bytes(run if isinstance(run, bytes) else run.encode())
    write(tmp_path, "gold.json", '{"q1": ["a"], "q2": ["b"]}')
    words = ("--run", "run", "--gold", "gold.json")
    assert "line 2" in refused(tmp_path, *words)
    done = recallbench("evaluate", *words, "--keep-going", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    # An unanswered query counts as an empty ranking.
    assert (report["cases"], report["mean"]["recall_frac@10"]) == (2, 0.5)
    for start in notes:
        assert any(note.startswith(start) and "line 2" in note for note in report["notes"])


@pytest.mark.parametrize("more", ["", "\n", '\n{"query_id": "q2", "relevant": ["b"]}\n'])
def test_the_first_line_broken_is_named_too(tmp_path: Path, more: str) -> None:
    write(tmp_path, "gold.jsonl", '{"query_id": "q1", "relevant": ["a"' + more)
    write(tmp_path, "run.json", '{"q1": ["a"], "q2": ["b"]}')
    assert "gold.jsonl, line 1: " in refused(tmp_path, "--run", "run.json", "--gold", "gold.jsonl")
    # A single object may span several lines.
    write(tmp_path, "gold.json", '{\n  "q1": ["a"],\n  "q2": ["b"]\n}\n')
    assert table(tmp_path, "--run", "run.json", "--gold", "gold.json")


@pytest.mark.parametrize(
    "line", ['{"query_id": "none", "ranked": [["x", NaN]]}', '{"query_id": "none", "ranked": [["x", 0.1]]']
)
def test_an_unreadable_line_does_not_count_as_a_correct_abstention(tmp_path: Path, line: str) -> None:
    write(tmp_path, "gold.jsonl", lines([
        {"query_id": "q1", "relevant": ["a"]}, {"query_id": "none", "relevant": [], "kind": "abstention"}
    ]))  # fmt: skip
    write(tmp_path, "run.jsonl", '{"query_id": "q1", "ranked": [["a", 0.5]]}\n' + line + "\n")
    words = ("--run", "run.jsonl", "--gold", "gold.jsonl", "--keep-going", "--format", "json")
    done = recallbench("evaluate", *words, cwd=tmp_path)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert (report["abstention"]["false_retrieval"], report["abstention"]["auroc"]) == (1.0, 0.0)
    assert (
        "not answered, where lines can't be read"
        in next(row for row in report["rows"] if row["query_id"] == "none")["failure"]
    )


def test_a_broken_line_of_a_file_that_is_gold_and_run_is_named_once(tmp_path: Path) -> None:
    write(tmp_path, "both", '{"query_id": "q1", "relevant": ["a"], "ranked": ["a"]}\n{"query_id": "q2"\n')
    done = recallbench("evaluate", "--gold", "both", "--keep-going", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("left out: ") == 1
    assert "recallbench: 1 line could not be read and is left out, named below the table\n" in done.stderr


@pytest.mark.marked
def test_faults_of_the_second_run_are_named_as_its_own(folder: Path) -> None:
    rows = [
        {"query_id": "q1", "ranked": ["acme"]},
        {"query_id": "q2", "ranked": [["shellfish", 1], ["x", 2]]},
        {"query_id": "q9", "ranked": ["acme"]},
    ]
    (folder / "b").mkdir()
    write(folder, "b/run.jsonl", lines(rows))
    words = ("evaluate", "--gold", "gold.jsonl", "--compare", "b/run.jsonl")
    assert recallbench(*words, cwd=folder).returncode == 2
    done = recallbench(*words, "--keep-going", cwd=folder)
    assert done.returncode == 1
    table, comparison = done.stdout.split("b/run.jsonl (after) minus gold.jsonl (before)\n")
    assert "b/run.jsonl" not in table
    assert "failed" not in table
    printed = comparison.splitlines()
    assert "b/run.jsonl: 1 of 3 cases failed" in printed
    assert "b/run.jsonl: 1 query (q3) not answered, which counts as an empty ranking" in printed
    assert "b/run.jsonl: 1 query (q9) not in the gold, left out" in printed
    assert any(
        line.startswith("b/run.jsonl: failed, counted as the worst answer: b/run.jsonl, line 2") for line in printed
    )
    assert "recallbench: b/run.jsonl: 1 of 3 cases failed, named below the comparison" in done.stderr
    report = json.loads(recallbench(*words, "--keep-going", "--format", "json", cwd=folder).stdout)
    assert (report["failed"], report["compare"]["failed"], report["compare"]["second_failed"]) == (0, 0, 1)
    assert len(report["compare"]["second_notes"]) == 4  # the failure, two queries, and the depth
    # Queries without an answer are no failure, but they are named.
    write(folder, "b/run.jsonl", lines(rows[:1]))
    done = recallbench(*words, cwd=folder)
    assert done.returncode == 0
    assert "b/run.jsonl: 2 queries (q2, q3) not answered, which counts as an empty ranking" in done.stdout


BAD_ENTRIES = {
    "no number": ('"q2": {"shellfish": NaN, "x": 1}', "NaN, which is no JSON number"),
    "deeper": ('"q2": [["shellfish", 2], ["x", -Infinity]]', "-Infinity, which is no JSON number"),
    "an id twice": ('"q2": {"shellfish": 2, "shellfish": 1}', "the field shellfish twice"),
    "the query twice": ('"q2": {"shellfish": 2}, "q2": {"x": 2}', "q2 again"),
    "half a character": ('"q2": {"\\ud800": 2}', "half a character"),
    "no object": ('"q2": 5', "a int"),
}


@pytest.mark.marked
@pytest.mark.parametrize(("name", "over_lines"), [(name, i % 2 == 1) for i, name in enumerate(BAD_ENTRIES)])
def test_a_bad_entry_of_a_json_object_costs_its_query_alone(folder: Path, name: str, over_lines: bool) -> None:
    entry, fault = BAD_ENTRIES[name]
    parts = ['{"q1": {"acme": 1}', entry, '"q3": {"q3": 1}}']
    write(folder, "run.json", (",\n" if over_lines else ", ").join(parts))
    message = refused(folder, "--run", "run.json", "--gold", "gold.jsonl")
    assert "recallbench: run.json" in message
    assert "q2" in message
    assert fault in message
    assert "a line" not in message.replace("a JSON object a line with", "")
    rows = table(folder, "--run", "run.json", "--gold", "gold.jsonl", "--keep-going", "--format", "csv", code=1)
    assert [row.split(",")[0] for row in rows] == ["query", "q1", "q2", "q3", "MEAN"]
    failures = [row["failure"] for row in csv.DictReader(rows)]
    assert (failures[0], failures[2]) == ("", "")
    assert fault in failures[1]
    gold = ", ".join(['{"q1": {"acme": 1}', entry, '"q3": {"q3": 1}}'])
    write(folder, "gold.json", gold)
    assert "q2" in refused(folder, "--run", "best.json", "--gold", "gold.json")
    message = "\n".join(table(folder, "--run", "best.json", "--gold", "gold.json", "--keep-going", code=1))
    assert "left out: gold.json" in message
    assert "q3" in message


@pytest.mark.parametrize("run", ["trec", "jsonl"])
def test_a_run_alone_says_that_the_gold_is_missing(tmp_path: Path, run: str) -> None:
    write(tmp_path, "run", RUNS[run])
    message = refused(tmp_path, "--run", "run")
    assert message.startswith("recallbench: nothing says what is relevant\n  expected: --gold FILE")
    assert refused(tmp_path, "--run", "absent") == (
        "recallbench: there is no file absent\n  what to do: check the path\n"
    )
    assert "what to do: recallbench score run --gold FILE" in message


def test_a_line_of_the_gold_that_was_left_out_is_named_beside_csv_too(tmp_path: Path) -> None:
    write(tmp_path, "gold.jsonl", '{"query_id": "q1", "relevant": ["a"]}\n{"query_id": "q2", "relevant": {"a": "x"}}\n')
    write(tmp_path, "run.json", '{"q1": ["a"]}')
    words = ("--run", "run.json", "--gold", "gold.jsonl", "--keep-going", "--format", "csv")
    done = recallbench("evaluate", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout.count("\n")) == (1, 3)
    assert done.stderr.startswith(
        "recallbench: 1 line could not be read and is left out\nrecallbench: left out: gold.jsonl, line 2, query `q2`"
    )
