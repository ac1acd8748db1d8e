"""Nothing hidden reaches the terminal, wherever it was overlooked before."""

import io
import sys

import pytest

from recallbench.cli.screen import Screen, screen_output, underlying_stream


def test_what_is_printed_is_seen() -> None:
    kept = io.StringIO()
    screen = Screen(kept)

    print("a\x1b[2J\tb\u202e", file=screen)
    screen.writelines(["c\r", "d\n"])

    assert kept.getvalue() == "a\\x1b[2J\tb\\u202e\nc\\rd\n"
    assert not screen.closed
    assert underlying_stream(screen) is kept  # type: ignore[arg-type]


def test_both_streams_are_guarded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)

    screen_output()
    screen_output()
    print("\x9b1m")

    assert out.getvalue() == "\\x9b1m\n"
    assert underlying_stream(sys.stderr) is err
