"""Nothing hidden reaches the terminal, wherever it was overlooked before."""

import io
import sys

import pytest

from recallbench.cli.screen import Screen, guard, unguarded


def test_what_is_printed_is_seen() -> None:
    kept = io.StringIO()
    screen = Screen(kept)

    print("a\x1b[2J\tb\u202e", file=screen)
    screen.writelines(["c\r", "d\n"])

    assert kept.getvalue() == "a\\x1b[2J\tb\\u202e\nc\\rd\n"
    assert not screen.closed
    assert unguarded(screen) is kept  # type: ignore[arg-type]


def test_both_streams_are_guarded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)

    guard()
    guard()
    print("\x9b1m")

    assert out.getvalue() == "\\x9b1m\n"
    assert unguarded(sys.stderr) is err
