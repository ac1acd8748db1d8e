"""The prompts are the pinned ones, and nobody's text changes them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from recallbench.errors import InputError
from recallbench.retrieval.chat import prompts

FOLDER = Path(prompts.__file__).with_name("prompts")


def test_every_prompt_is_pinned() -> None:
    assert {file.stem: sha256(file.read_bytes()).hexdigest() for file in FOLDER.iterdir()} == prompts.PINS


def test_a_text_with_braces_is_no_place() -> None:
    system, user = prompts.prompt("hyde").messages(question="what does {question} mean?")
    assert system["role"] == "system"
    assert user["content"].endswith("Question: what does {question} mean?")


def test_another_wording_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "PINS", {**prompts.PINS, "hyde": "0" * 64})
    with pytest.raises(InputError, match="the prompt hyde is not the one of this release"):
        prompts.prompt.__wrapped__("hyde")
