"""Commands that can be pasted."""

from __future__ import annotations

from pathlib import Path

from recallbench.escaping.shell import command


def test_words_are_quoted_where_a_shell_needs_it() -> None:
    assert command("audit", Path("my results/a")) == "recallbench audit 'my results/a'"
    assert command("score", "it's", "--k", 3) == "recallbench score 'it'\"'\"'s' --k 3"
