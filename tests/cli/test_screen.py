"""The guard of stdout and stderr: nothing hidden reaches the terminal."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import environment
from recallbench.cli.screen import Screen, screen_output, underlying_stream


def test_control_characters_are_printed_escaped() -> None:
    stream = io.StringIO()
    screen = Screen(stream)

    print("a\x1b[2J\tb\u202e", file=screen)
    screen.writelines(["c\r", "d\n"])

    assert stream.getvalue() == "a\\x1b[2J\tb\\u202e\nc\\rd\n"
    assert not screen.closed
    assert underlying_stream(screen) is stream  # type: ignore[arg-type]


def test_both_streams_are_guarded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)

    screen_output()
    screen_output()
    print("\x9b1m")

    assert out.getvalue() == "\\x9b1m\n"
    assert underlying_stream(sys.stderr) is err


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
def test_a_table_in_a_terminal_is_complete_and_has_no_control_characters(tmp_path: Path, kind: str) -> None:
    """`stages` has lines wider than the 80 columns of a dumb terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "recallbench", "stages"],
        cwd=tmp_path,
        env=environment(tmp_path, {"TERM": kind}),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
    os.close(ours)

    text = shown.decode()
    assert process.returncode == 0
    assert "───" in text
    assert "keep_original = true|false" in text
    assert "…" not in text.replace("= …", "")
    assert "x1b" not in text
    assert "\x1b" not in text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # on Linux: the other end was closed
        return b""
