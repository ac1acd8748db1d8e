"""The format of an output, and its colours, through the command line."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import environment, recallbench
from recallbench.cli.printing import conclude
from recallbench.cli.screen import Screen
from recallbench.reports.printing.conclusion import Conclusion

PARITY = ("parity", "--runs", "5")


def test_json_is_the_same_as_the_format(tmp_path: Path) -> None:
    flag, format = (recallbench(*PARITY, *words, cwd=tmp_path).stdout for words in (["--json"], ["--format", "json"]))
    assert flag == format
    assert json.loads(flag)["conclusion"]["happened"].startswith("The measures agree with both implementations")


def test_two_formats_are_refused(tmp_path: Path) -> None:
    done = recallbench(*PARITY, "--json", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "recallbench: two forms of one output",
        "  expected: one of them",
        "  found: json and csv",
    ]


def test_a_sheet_leaves_its_conclusion_to_stderr(tmp_path: Path) -> None:
    done = recallbench(*PARITY, "--format", "csv", cwd=tmp_path)
    assert "conclusion" not in done.stdout
    assert done.stdout.startswith("measure,against,")
    assert done.stderr.splitlines()[-1].startswith("The measures agree with both implementations")


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_shows_colour_unless_told_otherwise(
    tmp_path: Path, variables: dict[str, str], coloured: bool
) -> None:
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "recallbench", *PARITY],
        cwd=tmp_path,
        env=environment(tmp_path, variables),
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    assert b"The measures agree with both implementations" in seen
    assert (b"\x1b[32mThe measures agree" in seen) is coloured


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_conclusion_can_smuggle_no_code_into_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = _Terminal()
    conclude(Conclusion("a\x1b[2Jb", tone="bad"), Screen(terminal))  # type: ignore[arg-type]
    assert terminal.getvalue() == "\n\x1b[31ma\\x1b[2Jb\x1b[0m\n"
