"""A stage whose endpoint fails on a question: the question counts as the worst answer, and no stage is skipped."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from chat_server import MODEL, chat_server, said
from commandline import recallbench

PIPELINE = """
[[stage]]
kind = "rewrite"
method = "hyde"
endpoint = "{address}"
model = "{model}"
seconds = 1

[[stage]]
kind = "search"
method = "lexical"
"""


def test_a_question_that_a_rewrite_fails_on_is_in_no_comparison(tmp_path: Path) -> None:
    def says(asked: str) -> Any:
        return said("") if "did Nadia do in the village contest" in asked else "She baked an olive focaccia."

    with chat_server() as server:
        server.says = says
        (tmp_path / "p.toml").write_text(PIPELINE.format(address=server.address, model=MODEL))
        words = ("run", "canary-locomo", "--pipeline", "p.toml", "--limit", "6", "--cache-dir", "cache", "-q")
        done = recallbench(*words, "--folder", "result", cwd=tmp_path)
    assert "recallbench: question canary-1/q1 failed: " in done.stderr
    assert "note: the pipeline failed on " in done.stdout
    lines = (tmp_path / "result/stages.jsonl").read_text().splitlines()
    assert lines[1] == '{"question_id":"canary-1/q1","handed":[],"without":{}}'
    (variant,) = json.loads(lines[0])["variants"]
    assert (len(variant), "olive" in "".join(lines)) == (64, False)
    table = recallbench("stages", "result", "--format", "csv", cwd=tmp_path).stdout.splitlines()
    hyde, lexical = csv.DictReader(table)
    assert (hyde["questions"], hyde["recall_any@10 n"], lexical["questions"]) == ("5", "5", "5")
    # A single leg can't be done without.
    assert (lexical["compared with"], lexical["changed"], lexical["recall_any@10 n"]) == ("", "", "")
    assert " fail " not in recallbench("audit", "result", cwd=tmp_path).stdout
