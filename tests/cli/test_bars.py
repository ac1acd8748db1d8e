"""Rate and time left, as they are told."""

import re
from pathlib import Path

from commandline import recallbench
from recallbench.cli.bars import EVERY, Lines, listener, pace
from recallbench.progress import Silent


def test_pace() -> None:
    assert pace(50, 200, "texts", 5.0) == "10.0 texts/s, 0:15 left"
    assert pace(0, 200, "texts", 5.0) == "0.0 texts/s"
    assert pace(3_000_000, None, "B", 2.0) == "1.5 MB/s"
    assert pace(1, 7201, "texts", 1.0) == "1.0 texts/s, 120:00 left"


def told(code: str, tmp_path: Path) -> list[str]:
    program = f"import time\nfrom recallbench.cli.bars import Lines\nlines = Lines(every=0.3)\n{code}"
    return recallbench(cwd=tmp_path, program=("-c", program)).stderr.splitlines()


def test_off_a_terminal_a_line_tells_share_rate_and_time_left(tmp_path: Path) -> None:
    code = "with lines.stage('asking', 400, 'questions') as advance:\n    advance(100)\n    time.sleep(0.8)"
    found = told(code, tmp_path)
    assert 1 <= len(found) <= 2
    assert re.fullmatch(r"asking: 25%, 100 of 400 questions, [0-9.]+ questions/s, 0:0[0-9] left", found[0])


def test_work_that_tells_nothing_of_itself_is_seen_to_be_alive(tmp_path: Path) -> None:
    assert told("time.sleep(0.5)", tmp_path) == ["still at work; last: the start"]
    code = "lines.note('loading MiniLM')\ntime.sleep(0.5)"
    assert told(code, tmp_path) == ["loading MiniLM", "still at work; last: loading MiniLM"]


def test_what_is_quick_is_not_told(tmp_path: Path) -> None:
    assert told("with lines.stage('asking', 4, 'questions') as advance:\n    advance(4)", tmp_path) == []


def test_quiet_says_nothing_and_logs_are_told_every_half_minute() -> None:
    assert type(listener(quiet=True)) is Silent
    assert type(listener(quiet=False)) is Lines
    assert EVERY == 30
