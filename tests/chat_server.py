"""A real server on the loopback interface that speaks the protocol of OpenAI's chat, as a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scripted_server import Scripted, scripted_server

PATH = "/v1/chat/completions"
MODEL = "tiny-1"


def said(text: str | None, *, finish: str = "stop", model: str = f"{MODEL}-2026", words: int = 10) -> dict[str, Any]:
    """Return an answer of the protocol with this text."""
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "model": model,
        "usage": {"prompt_tokens": words, "completion_tokens": len((text or "").split())},
    }


class ChatServer:
    """Its address, what it was asked, and what it says to the last message of a request."""

    def __init__(self, script: Scripted) -> None:
        self._script = script
        self.address = f"{script.address}v1"
        self.says: Callable[[str], Any] = lambda asked: "Paris"
        """Gives a text, or an answer as `scripted_server` has them."""
        self.faults: list[Any] = []
        """Answers that come before any other, first things first."""
        script.answer = self._answer

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The requests for an answer."""
        return self._script.requested(PATH)

    @property
    def asked(self) -> list[str]:
        """The last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]

    @property
    def keys(self) -> list[str]:
        """What each request had to let it in."""
        return [headers.get("authorization", "") for *_, headers in self._script.requests]

    def _answer(self, path: str, body: Any) -> Any:
        if path == "/v1/models":
            return {"data": [{"id": MODEL}]}
        if self.faults:
            return self.faults.pop(0)
        answer = self.says(body["messages"][-1]["content"])
        return said(answer) if isinstance(answer, str) else answer


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """The server runs as long as the block."""
    with scripted_server() as script:
        yield ChatServer(script)
