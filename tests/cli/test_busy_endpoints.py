"""Stages that ask their endpoint several questions at a time, or give it up, by the real command line."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from chat_server import said
from commandline import environment, recallbench
from scripted_server import Scripted, scripted_server

PIPELINE = """
[[stage]]
kind = "rewrite"
method = "hyde"
keep_original = "true"
{endpoint}

[[stage]]
kind = "search"
method = "lexical"

[[stage]]
kind = "fuse"
method = "rrf"

[[stage]]
kind = "rerank"
method = "endpoint"
top = 5
{endpoint}

[[stage]]
kind = "generate"
method = "chat"
{endpoint}

[[stage]]
kind = "judge"
method = "llm"
{endpoint}
"""
CHAT = "/v1/chat/completions"
SAME = ("raw_retrievals.jsonl", "stages.jsonl", "answers.jsonl", "run.trec")


class OutOfOrder:
    """Answers by what it is asked alone, and the later of several questions first."""

    def __init__(self, script: Scripted) -> None:
        self.script = script
        self.most = 0
        """The most requests of one path that were there at a time."""
        self._changed = threading.Condition()
        self._there: list[int] = []
        self._came = 0
        script.answer = self._answer

    def _answer(self, path: str, body: Any) -> Any:
        with self._changed:
            self._came += 1
            mine = self._came
            self._there.append(mine)
            self.most = max(self.most, len(self._there))
            self._changed.notify_all()
            # The last one may wait for others in vain: where they come one by one, none does.
            self._changed.wait_for(lambda: self._there[-1] > mine, timeout=0.02)
            self._changed.wait_for(lambda: self._there[-1] == mine, timeout=0.2)
            self._there.remove(mine)
            self._changed.notify_all()
        if path == "/v1/rerank":
            results = [{"index": i, "relevance_score": _number(text)} for i, text in enumerate(body["documents"])]
            return {"results": results, "usage": {"total_tokens": 7}}
        asked = body["messages"][-1]["content"]
        if "Excerpts:" in asked and "VERDICT" in asked and _number(asked) % 5 == 0:
            return (400, {"error": "too long"}, {})
        if "did Nadia do in the village contest" in asked:
            return said("")
        return said("VERDICT: YES" if "VERDICT" in asked else f"answer {_number(asked)}")


def _number(text: str) -> int:
    return int(sha256(text.encode()).hexdigest()[:6], 16)


@pytest.fixture
def server() -> Iterator[OutOfOrder]:
    with scripted_server() as script:
        yield OutOfOrder(script)


@pytest.mark.marked
def test_questions_that_are_asked_together_give_the_bytes_of_one_by_one(server: OutOfOrder, tmp_path: Path) -> None:
    endpoint = f'endpoint = "{server.script.address}v1"\nmodel = "m"\n'
    (tmp_path / "single.toml").write_text(PIPELINE.format(endpoint=endpoint))
    (tmp_path / "several.toml").write_text(PIPELINE.format(endpoint=f"{endpoint}at_once = 4"))
    common = ("run", "canary-locomo", "--limit", "8", "-q")
    single = recallbench(*common, "--pipeline", "single.toml", "--folder", "a", "--cache-dir", "c", cwd=tmp_path)
    alone, sent = server.most, len(server.script.requests)
    several = recallbench(*common, "--pipeline", "several.toml", "--folder", "b", "--cache-dir", "d", cwd=tmp_path)
    # One question failed in a rewrite.
    assert (single.returncode, several.returncode, single.stderr) == (1, 1, several.stderr)
    assert (alone, server.most) == (1, 4)
    assert len(server.script.requests) == 2 * sent
    for name in SAME:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    metrics = [(tmp_path / folder / "metrics.json").read_text() for folder in "ab"]
    assert metrics[0] == re.sub(r' +"at_once": "4",\n', "", metrics[1])
    before, refused = len(server.script.requested(CHAT)), (tmp_path / "b/answers.jsonl").read_text().count("unasked")
    recallbench(*common, "--pipeline", "several.toml", "--folder", "e", "--cache-dir", "d", cwd=tmp_path)
    # What was kept is asked no more: an empty answer is asked for three times.
    assert len(server.script.requested(CHAT)) == before + refused + 3
    assert refused > 0
    assert " fail " not in recallbench("audit", "b", cwd=tmp_path).stdout


@pytest.mark.marked
def test_an_interruption_does_not_wait_for_answers(tmp_path: Path) -> None:
    stages = '[[stage]]\nkind = "search"\nmethod = "lexical"\n[[stage]]\nkind = "generate"\nmethod = "chat"\n'
    with scripted_server() as script:
        script.answer = lambda path, body: lambda handler: time.sleep(60)
        (tmp_path / "p.toml").write_text(f'{stages}endpoint = "{script.address}v1"\nmodel = "m"\nat_once = 3\n')
        words = ("run", "canary-locomo", "--pipeline", "p.toml", "--folder", "result", "--cache-dir", "c", "-q")
        command = [sys.executable, "-m", "recallbench", *words]
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True
        ) as process:
            while len(script.requests) < 3:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, printed = process.communicate(timeout=30)
    assert process.returncode == 130
    # By force it would say so.
    assert printed.startswith("recallbench: interrupted; no half result is left")
    assert not (tmp_path / "result").exists()


def test_an_endpoint_that_hangs_is_given_up_and_every_question_counts(tmp_path: Path) -> None:
    answered = 2
    stages = """
    [[stage]]
    kind = "search"
    method = "lexical"
    [[stage]]
    kind = "rerank"
    method = "endpoint"
    endpoint = "{address}v1"
    model = "m"
    seconds = 0.3
    """

    def answer(path: str, body: Any) -> Any:
        if len(script.requested("/v1/rerank")) > answered:
            return lambda handler: time.sleep(2)
        return {"results": [{"index": i, "relevance_score": -i} for i, _ in enumerate(body["documents"])]}

    with scripted_server() as script:
        script.answer = answer
        (tmp_path / "p.toml").write_text(stages.format(address=script.address))
        common = ("run", "canary-locomo", "--pipeline", "p.toml", "--limit", "12", "--cache-dir", "c")
        done = recallbench(*common, "--folder", "result", cwd=tmp_path)
        assert len(script.requested("/v1/rerank")) == answered + 5
    assert done.returncode == 1
    assert "endpoint: http://127.0.0.1:" in done.stderr
    assert "is given up: no answer came to 5 requests in a row, and every further question fails at once" in done.stderr
    assert "question canary-1/q11 failed: http://127.0.0.1:" in done.stderr
    assert "was given up, and not asked while scoring 19 candidates of the question" in done.stderr
    # Five questions, and the two that were timed once more.
    told = "endpoint gave its endpoint up after 5 requests in a row without an answer; 7 more were not sent"
    assert f"stage: {told}" in done.stdout
    assert told in (tmp_path / "result/report.md").read_text()
    assert "note: the pipeline failed on 10 questions: counted as the worst answer" in done.stdout
    assert " fail " not in recallbench("audit", "result", cwd=tmp_path).stdout
