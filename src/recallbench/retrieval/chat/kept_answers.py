"""Answers of language models on disk, each by all that decides it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from recallbench.embedding.memo import Memo
from recallbench.reading import is_finite
from recallbench.usage import Usage

FOLDER = "answers"
"""The folder of kept answers, beside that of vectors."""


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model answered."""

    text: str
    model: str
    """The model that the answer says it is of; empty where it does not."""
    usage: Usage | None
    """What it cost when it was asked for; None where the endpoint did not say."""
    finish: str
    """Why it ends, in the endpoint's word: `length` where its tokens were used up."""
    seconds: float
    """How long it took when it was asked for, with all tries."""
    cold: bool = field(default=False, compare=False)
    """Whether its stage asked for it before any answer had come, in the run that asked for it."""
    kept: bool = field(default=False, compare=False)
    """Whether it was there when it was wanted: of an answer in hand, nothing that is kept."""

    @property
    def cut(self) -> bool:
        """Whether it might have gone on."""
        return self.finish == "length"


class RequestKey(NamedTuple):
    """A request, and the hash it is known by."""

    sha256: str
    facts: Mapping[str, str]


def request_key(address: str, model: str, request: Mapping[str, Any]) -> RequestKey:
    """Return the key of a request to a model at an address that holds no secret."""
    facts = {"endpoint": address, "model": model, "request": json.dumps(request, sort_keys=True)}
    return RequestKey(sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest(), facts)


class KeptAnswers:
    """The answers that were asked for before, whoever's run it was."""

    def __init__(self, cache_dir: Path) -> None:
        self._memo = Memo(cache_dir / FOLDER)

    def find(self, key: RequestKey) -> ChatAnswer | None:
        """Return the answer to exactly this request; None where there is none, or it can't be read."""
        fact = self._memo.recall(key.facts)
        return None if fact is None else _answer(fact)

    def keep(self, key: RequestKey, answer: ChatAnswer) -> None:
        """Keep an answer, whole or not at all."""
        fact = asdict(answer)
        del fact["kept"]
        self._memo.remember(key.facts, fact)


def _answer(fact: Mapping[str, Any]) -> ChatAnswer | None:
    text, model, finish, seconds = (fact.get(name) for name in ("text", "model", "finish", "seconds"))
    if not (isinstance(text, str) and text and isinstance(model, str) and isinstance(finish, str)):
        return None
    if not is_finite(seconds):
        return None
    usage, stated = None, fact.get("usage")
    if stated is not None:
        try:
            usage = Usage(**stated)
        except TypeError:
            return None
        if not all(isinstance(count, int) and count >= 0 for count in astuple(usage)):
            return None
    return ChatAnswer(text, model, usage, finish, float(seconds), fact.get("cold") is True)
