"""The lives of the people of the canary, and the questions about them in their voices."""

from __future__ import annotations

import tomllib
from pathlib import Path

TEXTS = tomllib.loads((Path(__file__).parent / "texts.toml").read_text("utf-8"))
THREADS = TEXTS["threads"]


def first_upper(text: str) -> str:
    return text[0].upper() + text[1:]


def named(text: str, name: str, hint: str = "") -> str:
    """A question about somebody by name; a hint, where given, says what it is about."""
    question = text.format(who=name, whom=name, whose=f"{name}'s", their="their")
    return hint + question[0].lower() + question[1:] if hint else first_upper(question)


def mine(text: str) -> str:
    """The same question about oneself."""
    return first_upper(text.format(who="I", whom="me", whose="my", their="my"))
