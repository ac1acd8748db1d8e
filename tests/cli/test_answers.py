"""A pipeline that answers and judges, by the real command line over a real server that is not always well."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import MODEL, ChatServer, chat_server, said
from commandline import recallbench

ANSWERING = """
[[stage]]
kind = "search"
method = "lexical"

[[stage]]
kind = "generate"
method = "chat"
endpoint = "{address}"
model = "{model}"
top = 2
seconds = 20

[[stage]]
kind = "judge"
method = "llm"
endpoint = "{address}"
model = "{model}"
key_from = "JUDGE_KEY"
seconds = 20

[[stage]]
kind = "judge"
method = "exact"
"""
KEYS = {"RECALLBENCH_CHAT_TOKEN": "sk-9f8e7d6c5b4a", "JUDGE_KEY": "judge-0a1b2c3d4e"}
RUN = ("run", "canary-locomo", "--pipeline", "answering.toml", "--limit", "24", "--cache-dir", "cache")
FOCACCIA = "an olive focaccia"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChatServer]:
    with chat_server() as running:
        running.says = lambda asked: "Hm.\nVERDICT: YES" if "VERDICT" in asked else FOCACCIA
        (tmp_path / "answering.toml").write_text(ANSWERING.format(address=running.address, model=MODEL))
        yield running


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]


def times(folder: Path) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / "timings.jsonl").read_text().splitlines())
    return [line for line in lines if "stage" in line]


def test_answers_are_judged_beside_what_was_retrieved_and_cost_nothing_twice(
    server: ChatServer, tmp_path: Path
) -> None:
    first = recallbench(*RUN, "--folder", "first", cwd=tmp_path, env=KEYS)
    assert first.returncode == 0
    assert "answers: 1.0000 correct (n = 24), 1.0000 faithful, by llm\nanswers: 0.0417 correct (n = 24), by exact" in (
        first.stdout
    )
    assert len(server.requests) == 72
    again = recallbench(*RUN, "--folder", "again", "--with-text", "-q", cwd=tmp_path, env=KEYS)
    assert (again.returncode, len(server.requests)) == (0, 72)
    assert (tmp_path / "first/metrics.json").read_bytes() == (tmp_path / "again/metrics.json").read_bytes()
    assert rows(tmp_path / "first") == [
        {key: value for key, value in row.items() if key != "right"} for row in rows(tmp_path / "again")
    ]
    assert rows(tmp_path / "again")[0] == {
        "question_id": "canary-1/q0",
        "known": True,
        "context": ["canary-1/7", "canary-1/3"],
        "answer": FOCACCIA,
        "usage": {"fresh": 10, "cache_read": 0, "cache_write": 0, "output": 3},
        "judged": [
            {
                "judge": "llm",
                "correct": 1.0,
                "faithful": 1.0,
                "raw": {"correctness": "Hm.\nVERDICT: YES", "faithfulness": "Hm.\nVERDICT: YES"},
                "usage": {"fresh": 20, "cache_read": 0, "cache_write": 0, "output": 6},
            },
            {"judge": "exact", "correct": 1.0},
        ],
        "right": FOCACCIA,
    }
    report = (tmp_path / "first/report.md").read_text()
    assert "24 of 24 questions answered by chat, each from 2.0 segments on average." in report
    assert "| kind | n | recall_any@10 | correct (llm) | correct (exact) | faithful (llm) |" in report
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not [key for key in KEYS.values() if key.encode() in kept]
    assert set(server.keys) == {f"Bearer {key}" for key in KEYS.values()}
    assert [(row["stage"], row["state"]) for row in times(tmp_path / "first")] == [
        ("chat", "cold"), *[("chat", "warm")] * 23, ("llm", "cold"), *[("llm", "warm")] * 23, *[("exact", "warm")] * 24,
    ]  # fmt: skip
    # An answer that was kept counts with the time that it took, and as what it was: the first of its run, or not.
    assert [(row["stage"], row["state"], row.get("kept")) for row in times(tmp_path / "again")] == [
        (row["stage"], row["state"], None if row["stage"] == "exact" else True) for row in times(tmp_path / "first")
    ]
    assert (
        "- Kept from before: 24 of 24 of chat, 24 of 24 of llm; such an answer counts with the time"
        in (tmp_path / "again/report.md").read_text()
    )
    table = list(csv.DictReader(recallbench("stages", "again", "--format", "csv", cwd=tmp_path).stdout.splitlines()))
    assert [(row["stage"], row["timed"]) for row in table[1:]] == [("chat", "23"), ("llm", "23"), ("exact", "24")]
    assert all(float(row["p95 ms"]) >= float(row["p50 ms"]) > 0 for row in table)
    audit = recallbench("audit", "first", "again", "--verbose", cwd=tmp_path)
    assert audit.stdout.count("24 rows and every figure of them worked out again, their right answers held") == 2
    assert audit.stdout.count(" fail ") == 0


def test_a_question_whose_answer_does_not_come_counts_as_the_worst_and_is_named(
    server: ChatServer, tmp_path: Path
) -> None:
    def says(asked: str) -> Any:
        if "VERDICT" not in asked:
            return said("") if "What did Nadia treat the family" in asked else FOCACCIA
        refused = "Excerpts:" in asked and "did Nadia do in the village contest" in asked
        return (400, {"error": "too long"}, {}) if refused else "VERDICT: YES"

    server.says = says
    done = recallbench(*RUN, "--folder", "result", cwd=tmp_path, env=KEYS)
    assert done.returncode == 0
    assert "chat failed on 1 of 24 questions: the worst answer for each; the first: " in done.stderr
    assert "gave no answer that can be used while answering canary-1/q0, `What did Nadia treat" in done.stderr
    first = rows(tmp_path / "result")[0]
    assert first == {"question_id": "canary-1/q0", "known": True, "context": []}
    # The other verdict stands: what was not given alone counts as the worst.
    assert rows(tmp_path / "result")[1]["judged"][0] == {
        "judge": "llm",
        "correct": 1.0,
        "raw": {"correctness": "VERDICT: YES"},
        "usage": {"fresh": 10, "cache_read": 0, "cache_write": 0, "output": 2},
        "unasked": ["faithfulness"],
    }
    assert "llm could be asked but a part on 1 of 24 questions: what is missing counts as the worst; the first: " in (
        done.stderr
    )
    failed = [row for row in times(tmp_path / "result") if row["state"] == "failed"]
    assert [(row["stage"], row["question_id"]) for row in failed] == [("chat", "canary-1/q0"), ("llm", "canary-1/q1")]
    answers = json.loads((tmp_path / "result/metrics.json").read_text())["answers"]
    assert (answers["failed"], answers["judges"][0]["failed"]) == (["canary-1/q0"], ["canary-1/q1"])
    judged = {of: answers["judges"][0][of]["overall"] for of in ("correct", "faithful")}
    assert {of: (share["n"], share["value"]) for of, share in judged.items()} == {
        "correct": (24, pytest.approx(23 / 24)),
        "faithful": (24, pytest.approx(22 / 24)),
    }
    assert (
        "No answer came to 1 question, which counts as the worst: canary-1/q0."
        in (tmp_path / "result/report.md").read_text()
    )
    assert " fail " not in recallbench("audit", "result", cwd=tmp_path).stdout


def test_an_endpoint_that_is_not_there_blocks_the_run(server: ChatServer, tmp_path: Path) -> None:
    text = (
        (tmp_path / "answering.toml").read_text().replace(server.address, "http://127.0.0.1:1/v1").replace("20", "0.2")
    )
    (tmp_path / "answering.toml").write_text(text)
    done = recallbench(*RUN, "--folder", "result", cwd=tmp_path, env=KEYS)
    assert done.returncode == 3
    assert "not one of 24 questions was answered; the first: http://127.0.0.1:1/v1 does not answer" in done.stderr
    assert "start the server, or name another endpoint" in done.stderr


def test_a_key_that_is_not_there_is_told_before_anything_is_done(server: ChatServer, tmp_path: Path) -> None:
    done = recallbench(*RUN, "--folder", "result", cwd=tmp_path, env={})
    assert done.returncode == 2
    assert "llm takes its key from JUDGE_KEY, which is not set" in done.stderr
    assert not (tmp_path / "result").exists()


def test_a_dry_run_says_whether_endpoints_can_be_asked(server: ChatServer, tmp_path: Path) -> None:
    done = recallbench(*RUN, "--dry-run", cwd=tmp_path, env=KEYS)
    assert f"stage chat  ready      {server.address}#{MODEL}: model {MODEL}" in done.stdout
    text = (tmp_path / "answering.toml").read_text().replace(f'model = "{MODEL}"', 'model = "other"', 1)
    (tmp_path / "answering.toml").write_text(text)
    done = recallbench(*RUN, "--dry-run", cwd=tmp_path, env={})
    assert f"stage chat  NOT READY  {server.address}#other: it lists no other" in done.stdout
    assert f"name one of: {MODEL}" in done.stdout
    assert "stage llm   NOT READY  llm takes its key from JUDGE_KEY, which is not set" in done.stdout
    assert server.requests == []
