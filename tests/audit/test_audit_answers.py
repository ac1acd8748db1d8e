"""Answers, verdicts and their figures are worked out again, and an edit of one is seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat_server import MODEL, chat_server
from commandline import recallbench
from recallbench.audit.checks.answers import ANSWERS
from recallbench.audit.checks.pipeline import PIPELINE as RECORD
from recallbench.audit.checks.timings import TIMINGS
from recallbench.audit.gate import Check
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.results.result import open_result

PIPELINE = """
stage = [
  {{kind = "search", method = "lexical"}},
  {{kind = "generate", method = "chat", endpoint = "{address}", model = "{model}", top = 3}},
  {{kind = "judge", method = "token-f1"}},
  {{kind = "judge", method = "llm", endpoint = "{address}", model = "{model}"}},
]
"""


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    with chat_server() as server:
        server.says = lambda asked: "VERDICT: NO" if "VERDICT" in asked else "an olive focaccia"
        (folder / "pipeline.toml").write_text(PIPELINE.format(address=server.address, model=MODEL))
        words = ("run", "canary-locomo", "--pipeline", "pipeline.toml", "--limit", "8", "--folder", "result", "-q")
        assert recallbench(*words, "--cache-dir", "cache", cwd=folder).returncode == 0
    return folder / "result"


def subject(folder: Path) -> AuditSubject:
    rules = load()
    return AuditSubject(open_result(folder), rules, facts("canary-locomo", rules), [], {})


def check(folder: Path) -> Check:
    return ANSWERS.check(subject(folder))


def test_genuine_answers_hold(genuine: Path) -> None:
    found = check(genuine)
    told = "8 rows and every figure of them worked out again, their right answers held to the dataset"
    assert (found.status, found.observed) == ("pass", told)


Edit = Callable[[list[dict[str, Any]]], object]
EDITS: dict[str, tuple[Edit, str]] = {
    "a question left out": (lambda rows: rows.pop(3), "7 rows, which are not of the 8 questions in their order"),
    "another context": (lambda rows: rows[3]["context"].reverse(), "q3: answered from other segments than the first"),
    "a better answer": (
        lambda rows: rows[3].update(answer=rows[4]["answer"] + " and 4 April"),
        "q3: token-f1 says ",
    ),
    "a better verdict": (
        lambda rows: rows[3]["judged"][1].update(correct=1.0),
        "q3: llm says 0.0 and 0.0, 1.0 and 0.0 stated",
    ),
    "a judge less": (lambda rows: rows[3]["judged"].pop(), "q3: judged by token-f1"),
    "a bad answer left out": (lambda rows: rows[3].update(known=False), "q3: not what the dataset says"),
    "another right answer": (lambda rows: rows[3].update(right="x"), "q3: another right answer than the dataset's"),
    "a failure with a verdict": (
        lambda rows: rows[3]["judged"][1].update(failed=True),
        "q3: llm failed, and yet has a verdict",
    ),
    "asked, and told as not": (
        lambda rows: rows[3]["judged"][1].update(unasked=["faithfulness"]),
        "q3: llm could not be asked faithfulness, and yet was",
    ),
    "paid for nothing": (lambda rows: rows[3].pop("answer"), "q3: no answer, and yet judged or paid for"),
    "fewer tokens": (lambda rows: rows[3]["usage"].update(fresh=1), "answers.tokens.fresh: 80 stated, 71 follows"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_seen(genuine: Path, tmp_path: Path, edit: str) -> None:
    change, told = EDITS[edit]
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "answers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = check(folder)
    assert (found.status, told in found.observed) == ("fail", True), found.observed


def test_times_that_are_not_of_every_answer_are_seen(genuine: Path, tmp_path: Path) -> None:
    shutil.copytree(genuine, tmp_path / "result")
    path = tmp_path / "result/timings.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    assert TIMINGS.check(subject(genuine)).status == "pass"
    path.write_text("".join(lines[:-1]))
    found = TIMINGS.check(subject(tmp_path / "result"))
    told = "23 answers and verdicts were timed, which are not the 24 of the result"
    assert (found.status, told in found.observed) == ("fail", True), found.observed
    # Earlier releases had none.
    path.write_text("".join(line for line in lines if '"stage":' not in line))
    assert TIMINGS.check(subject(tmp_path / "result")).status == "pass"


def test_an_edited_figure_and_a_part_left_out_are_seen(genuine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "metrics.json"
    metrics = json.loads(path.read_text())
    metrics["answers"]["judges"][1]["correct"]["overall"]["value"] = 1.0
    path.write_text(json.dumps(metrics))
    assert check(folder).observed.startswith("answers.judges.llm.correct.overall.value: 1.0 stated, 0.0 follows")
    del metrics["answers"]
    path.write_text(json.dumps(metrics))
    assert check(folder).observed == "metrics.json says nothing of the answers"


@pytest.mark.parametrize(
    ("place", "tokens", "told"),
    [
        (1, {"fresh": 81}, "chat: 81 fresh, 24 output in environment.json, 80 fresh, 24 output in answers.jsonl"),
        (3, {"fresh": 0, "cache_read": 1}, "llm: 1 cache_read, "),
        (3, {"fresh": 1, "output": 0}, "llm: 1 fresh in environment.json, "),
    ],
)
def test_tokens_that_the_answers_do_not_have_are_seen(
    genuine: Path, tmp_path: Path, place: int, tokens: dict[str, int], told: str
) -> None:
    folder = tmp_path / "result"
    shutil.copytree(genuine, folder)
    path = folder / "environment.json"
    environment = json.loads(path.read_text())
    environment["stages"][place]["tokens"] |= tokens
    path.write_text(json.dumps(environment))
    found = check(folder)
    assert (found.status, told in found.observed) == ("fail", True), found.observed


SETTINGS: dict[str, tuple[str, str | None, str]] = {
    "another prompt": ("prompt answer", "sha256 0", "chat: prompt answer sha256 0, a run states sha256 "),
    "no prompt": ("prompt answer", None, "chat: prompt answer not stated, a run states sha256 "),
    "another model": ("model", "tiny-9", f"chat: model tiny-9, a run states {MODEL}"),
    "another temperature": ("temperature", "1", "chat: temperature 1, a run states 0"),
}


@pytest.mark.parametrize("edit", SETTINGS)
def test_a_stage_that_tells_of_itself_what_no_run_does_is_seen(genuine: Path, tmp_path: Path, edit: str) -> None:
    name, value, told = SETTINGS[edit]
    shutil.copytree(genuine, tmp_path / "result")
    path = tmp_path / "result/metrics.json"
    metrics = json.loads(path.read_text())
    settings = metrics["pipeline"]["stages"][1]["settings"]
    settings.pop(name)
    settings.update({} if value is None else {name: value})
    path.write_text(json.dumps(metrics))
    assert RECORD.check(subject(genuine)).status == "pass"
    found = RECORD.check(subject(tmp_path / "result"))
    assert (found.status, told in found.observed) == ("fail", True), found.observed
