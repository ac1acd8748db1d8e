"""What the people of the canary live through, and in whose voice it is asked about."""

from __future__ import annotations

import tomllib
from pathlib import Path

TEXTS = tomllib.loads((Path(__file__).parent / "texts.toml").read_text("utf-8"))
THREADS = TEXTS["threads"]


def first_upper(text: str) -> str:
    return text[0].upper() + text[1:]


def named(text: str, name: str, hint: str = "") -> str:
    """A question about somebody by name; a hint, where given, says what it is about."""
    asked = text.format(who=name, whom=name, whose=f"{name}'s", their="their")
    return hint + asked[0].lower() + asked[1:] if hint else first_upper(asked)


def mine(text: str) -> str:
    """The same question about oneself."""
    return first_upper(text.format(who="I", whom="me", whose="my", their="my"))
