from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.results.stages import NAME, read_stages, rows
from recallbench.retrieval.pipeline.trace import Handed, QuestionTrace

TRACE = QuestionTrace(
    "q1",
    (Handed("dense", (4, 0), (0.75, 0.1)), Handed("cross", (0,), (-7.25,))),
    ("When does the ferry go?",),
    {"cross": (4, 0)},
    frozenset({"hyde", "b"}),
)
# sha256 of the text above
SHA256 = "1f7e0dc84afda18561925a7941759a80a9ede298a99838c8fc790b176748de90"


def test_a_row_holds_no_text_unless_it_is_asked_for(tmp_path: Path) -> None:
    (line, failed) = rows([TRACE, QuestionTrace("q2")], with_text=False)
    assert "ferry" not in line
    assert json.loads(line)["variants"] == [SHA256]
    assert line.startswith('{"question_id":"q1","handed":[{"stage":"dense","positions":[4,0],"scores":[0.75,0.1]},')
    assert failed == '{"question_id":"q2","handed":[],"without":{}}\n'
    (tmp_path / NAME).write_text(line + failed)
    assert [row.trace for row in read_stages(tmp_path)] == [replace(TRACE, variants=()), QuestionTrace("q2")]

    (tmp_path / NAME).write_text("".join(rows([TRACE], with_text=True)))
    assert [row.trace for row in read_stages(tmp_path)] == [TRACE]


def test_a_malformed_row_is_named_by_its_line(tmp_path: Path) -> None:
    (line,) = rows([TRACE], with_text=False)
    (tmp_path / NAME).write_text(line + line.replace("[4,0]", "[4,0.5]"))
    with pytest.raises(InputError, match=r"stages\.jsonl, line 2"):
        read_stages(tmp_path)
