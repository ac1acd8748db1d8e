"""The prompts, each in a file of its own and known by its sha256: another wording is another prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from recallbench.errors import InputError

PINS: Mapping[str, str] = {
    "multi_query": "fb041893a47f52faf8275dc4c043f5e9a9cd26c9b15ece26b29b400adf470ec8",
    "hyde": "2e5819ce116768052fc9bd1ca57cc1acbbb5fb8e9c3f3b9995bc244a4b297f5d",
    "answer": "73d6a91fe5c20e031eb4806730650332d8ccaa4fe265d8ffe82320f6e0a1da26",
    "correctness": "c1546016a99da451e3ca5dad2848c53aa3d4234c53fc7ab649b714b8ad2e21ca",
    "abstention": "e594d96632bf767c6f72850bc4ce05516e08932a262085324f7213753276164a",
    "faithfulness": "8307ae5312b7ed48811922ef2a26349196b70026a62f37eaa97b3b698b1904c1",
}
"""The sha256 of each prompt's file, by its name."""
Message = Mapping[str, str]
_PLACE = re.compile(r"\{([a-z]+)\}")
_PART = re.compile(r"^# (system|user)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked, with places for what changes from question to question."""

    name: str
    sha256: str
    parts: tuple[tuple[str, str], ...]
    """Who speaks, and the text."""

    def messages(self, **values: str) -> list[Message]:
        """Return the messages with these values in their places; a value's own braces are no places."""
        return [
            {"role": role, "content": _PLACE.sub(lambda place: values[place[1]], text)} for role, text in self.parts
        ]


@cache
def prompt(name: str) -> Prompt:
    """Return a prompt; raises InputError where its file is not the pinned one."""
    content = files("recallbench.retrieval.chat").joinpath(f"prompts/{name}.md").read_bytes()
    found = sha256(content).hexdigest()
    if found != PINS[name]:
        raise InputError(
            f"the prompt {name} is not the one of this release",
            expected=f"sha256 {PINS[name]}",
            found=found,
            remedy="install RecallBench again: a result names its prompts by their hashes",
        )
    pieces = _PART.split(content.decode())
    return Prompt(name, found, tuple(zip(pieces[1::2], map(str.strip, pieces[2::2]), strict=True)))
