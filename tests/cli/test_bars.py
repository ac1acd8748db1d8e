"""Progress: rate and time left, in lines and in bars."""

import re
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.cli import bars
from recallbench.cli.bars import EVERY, Bars, Lines, listener, pace
from recallbench.progress import Silent


def test_pace_gives_rate_and_time_left() -> None:
    assert pace(50, 200, "texts", 5.0) == "10.0 texts/s, 0:15 left"
    assert pace(0, 200, "texts", 5.0) == "0.0 texts/s"
    assert pace(3_000_000, None, "B", 2.0) == "1.5 MB/s"
    assert pace(1, 7201, "texts", 1.0) == "1.0 texts/s, 2:00:00 left"


def printed_lines(code: str, tmp_path: Path) -> list[str]:
    program = f"import time\nfrom recallbench.cli.bars import Lines\nlines = Lines(every=0.3)\n{code}"
    return recallbench(cwd=tmp_path, program=("-c", program)).stderr.splitlines()


def test_off_a_terminal_a_line_shows_share_rate_and_time_left(tmp_path: Path) -> None:
    code = "with lines.stage('asking', 400, 'questions') as advance:\n    advance(100)\n    time.sleep(0.8)"
    lines = printed_lines(code, tmp_path)
    assert 1 <= len(lines) <= 2
    assert re.fullmatch(r"asking: 25%, 100 of 400 questions, [0-9.]+ questions/s, 0:0[0-9] left", lines[0])


def test_silent_work_prints_that_it_goes_on(tmp_path: Path) -> None:
    assert printed_lines("time.sleep(0.5)", tmp_path) == ["still at work; last: the start"]
    code = "lines.note('loading MiniLM')\ntime.sleep(0.5)"
    assert printed_lines(code, tmp_path) == ["loading MiniLM", "still at work; last: loading MiniLM"]


def test_a_stage_that_has_counted_nothing_yet_says_how_long_it_lasts(tmp_path: Path) -> None:
    code = "with lines.stage('closed loop, 1 client', None, 'blocks'):\n    time.sleep(0.5)"
    assert printed_lines(code, tmp_path) == ["closed loop, 1 client: under way for 0 s"]


def test_quick_work_prints_nothing(tmp_path: Path) -> None:
    assert printed_lines("with lines.stage('asking', 4, 'questions') as advance:\n    advance(4)", tmp_path) == []


def test_quiet_prints_nothing_and_logs_get_a_line_every_half_minute() -> None:
    assert type(listener(quiet=True)) is Silent
    assert type(listener(quiet=False)) is Lines
    assert EVERY == 30


def test_of_nested_stages_the_outermost_and_the_innermost_lasting_one_are_shown(tmp_path: Path) -> None:
    code = (
        "with lines.stage('auditing', 50, 'checks') as outer:\n"
        "    outer(10)\n"
        "    with lines.stage('reading', 8, 'segments') as inner:\n"
        "        inner(4)\n"
        "        time.sleep(0.5)\n"
        "    for _ in range(100):\n"
        "        with lines.stage('reading', 8, 'segments') as inner:\n"
        "            inner(8)\n"
        "            time.sleep(0.004)\n"
    )
    lines = printed_lines(code, tmp_path)
    assert re.match(r"auditing: 20%, 10 of 50 checks, .* left; reading: 50%, 4 of 8 segments", lines[0])
    assert all(line.startswith("auditing: 20%, 10 of 50 checks") for line in lines[1:])
    assert len(lines) > 1


def test_a_stage_name_cannot_break_its_line(tmp_path: Path) -> None:
    code = "with lines.stage('fetching a\\n\\x1b[2Jb', 4, 'B'):\n    time.sleep(0.5)"
    (line,) = printed_lines(code, tmp_path)
    assert line.startswith("fetching a\\n\\x1b[2Jb: 0 of 4 B after 0 s")


def test_a_bar_inside_another_goes_when_it_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    shown = Bars()
    with shown.stage("auditing", 2, "checks") as outer:
        outer(1)
        with shown.stage("reading", 8, "segments") as inner:
            inner(8)
            assert shown._bars is not None
            assert [task.description for task in shown._bars.tasks] == ["auditing", "reading"]
        assert [task.description for task in shown._bars.tasks] == ["auditing"]
        outer(1)
    assert shown._bars is None
    assert "auditing" in capsys.readouterr().err


SHORT = """
import sys
from recallbench.cli import bars, main
from recallbench.progress import Silent
bars.listener = lambda quiet: Silent() if quiet else bars.Lines(every=0.05)
sys.argv[0] = "recallbench"
main.run_program()
"""


@pytest.mark.parametrize("words", [("audit", "result", "--rerun-control"), ("cite", "result"), ("attest", "result")])
def test_audit_cite_and_attest_show_their_progress(words: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    run = ("run", "canary-locomo", "--store", "bm25", "--folder", "result", "-q")
    assert recallbench(*run, cwd=folder).returncode == 0
    if words[0] == "attest":
        assert recallbench("keys", "../own/key", cwd=folder).returncode == 0
        words = (*words, "--key", "../own/key")
    loud = recallbench(*words, cwd=folder, program=("-c", SHORT)).stderr
    line = r"auditing result: [0-9]+%, [0-9]+ of [0-9]+ checks, [0-9.]+ checks/s, 0:[0-9]{2} left"
    assert re.search(line, loud)
    quiet = recallbench(*words, "--quiet", cwd=folder, program=("-c", SHORT)).stderr
    assert "auditing result" not in quiet
