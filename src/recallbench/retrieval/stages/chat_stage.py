"""What the stages with a language model have in common: its client, what it cost, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from recallbench.retrieval.chat.client import ChatClient
from recallbench.retrieval.chat.kept_answers import ChatAnswer
from recallbench.retrieval.chat.options import OPTIONS, chat_settings, open_chat, stated_chat
from recallbench.retrieval.stages.answering import Asking
from recallbench.retrieval.stages.stage import Stage, StageOption, StageRequest
from recallbench.usage import Usage


class ChatStage(Stage):
    """A stage that asks a model behind an endpoint; each question is asked once and its answer kept."""

    asks_endpoint: ClassVar[bool] = True
    slow: ClassVar[bool] = True
    most: ClassVar[StageOption]
    """The option that bounds an answer."""
    prompts: ClassVar[tuple[str, ...]]
    """The names of the prompts that it asks with."""

    def __init__(self, client: ChatClient, options: Mapping[str, str], at_once: int = 1) -> None:
        self._client = client
        self._options = options
        self._at_once = at_once

    @classmethod
    def open(cls, request: StageRequest) -> Self:
        return cls(open_chat(request, cls.most), request.options, OPTIONS.read(request).at_once)

    @classmethod
    def endpoint_status(cls, request: StageRequest) -> tuple[bool, str, str]:
        return OPTIONS.status(request)

    @classmethod
    def states(cls, options: Mapping[str, str]) -> Mapping[str, str]:
        return {**OPTIONS.states(options), **stated_chat(options, cls.most, *cls.prompts)}

    def settings(self) -> Mapping[str, str]:
        cut = sum(answer.cut for answer in self._client.answers)
        return {**chat_settings(self._client, *self.prompts), "answers cut at max_tokens": str(cut)}

    @property
    def at_once(self) -> int:
        return self._at_once

    @property
    def usage(self) -> Usage:
        return self._client.usage

    @property
    def waited(self) -> float:
        return self._client.waited

    @staticmethod
    def asking(answers: Iterable[ChatAnswer]) -> Asking:
        """Return how these answers were come by."""
        given = list(answers)
        waited = sum(answer.seconds for answer in given if answer.kept)
        return Asking(any(answer.kept for answer in given), waited, any(answer.cold for answer in given))

    def circumstances(self) -> Mapping[str, Any]:
        return self._client.circumstances()

    def close(self) -> None:
        self._client.close()
