"""The command that a last line says to type anew."""

from __future__ import annotations

import sys

import pytest

from recallbench.cli.again import command_again


def test_the_words_are_those_that_were_typed_quoted_for_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "evaluate", "--run", "my run.json", "--gold=g;d", "--k", "3", "--cut", "x"])
    changed = {"--run": lambda path: [path], "--gold": lambda path: ["--gold", path], "--cut": lambda _: []}
    assert command_again("score", changed) == "recallbench score 'my run.json' --gold 'g;d' --k 3"


def test_the_form_of_what_is_printed_is_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "score", "--format", "csv", "a", "--json", "--format=html"])
    assert command_again("score", {}) == "recallbench score a"


def test_it_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "label", "team", "--dsn", "postgresql://ann:secret@host/db"])
    assert "secret" not in command_again("label", {})
