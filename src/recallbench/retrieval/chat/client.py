"""A chat endpoint as OpenAI has it: POST /chat/completions lies below its address.

    POST /chat/completions  {"model": "…", "messages": [{"role": "user", "content": "…"}], "temperature": 0, "seed": 0,
                             "max_tokens": 256}
                            -> {"choices": [{"message": {"content": "…"}, "finish_reason": "stop"}], "model": "…",
                                "usage": {"prompt_tokens": 12, "completion_tokens": 3}}

Each question is asked once and its answer kept, so that a later run costs nothing and gives the same bytes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from recallbench.addresses import CHAT, Part
from recallbench.model_endpoint import GIVE_UP, GIVEN_UP, MODEL, ModelEndpoint, recorded_model
from recallbench.retrieval.chat.kept_answers import ChatAnswer, KeptAnswers, request_key
from recallbench.retrieval.chat.prompts import Message
from recallbench.usage import Usage, usage_of

LONGEST = 200_000
"""Characters of an answer that is taken: what is longer answers no question."""
_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The parameters of a request that decide its answer."""

    max_tokens: int
    temperature: float = 0.0
    seed: int = 0

    def document(self) -> dict[str, float]:
        """Return them as a request has them."""
        return {"temperature": self.temperature, "seed": self.seed, "max_tokens": self.max_tokens}

    def settings(self) -> dict[str, str]:
        """Return them as a result has them."""
        return {"temperature": f"{self.temperature:g}", "seed": str(self.seed), "max_tokens": str(self.max_tokens)}


class ChatClient:
    """One model behind an endpoint, and the answers of it that were kept."""

    def __init__(
        self,
        name: str,
        environ: Mapping[str, str],
        cache_dir: Path,
        sampling: Sampling,
        *,
        seconds: float,
        part: Part = CHAT,
        give_up: int = GIVE_UP,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`name` is an address with or without a #MODEL; `seconds` are what an answer may take, all tries together."""
        self._endpoint = ModelEndpoint(name, environ, part, give_up=give_up, note=note)
        self._sampling = sampling
        self._seconds = seconds
        self._kept = KeptAnswers(cache_dir)
        self._answers: dict[str, ChatAnswer] = {}
        self._counting = Lock()
        self._asking: dict[str, Lock] = {}
        """By the hash of a request: whoever wants the same meanwhile waits for its answer, and asks for none."""
        self.waited = 0.0
        """Seconds that kept answers took when they were asked for, as far as questions were timed."""
        self._fresh = 0
        """Answers that the endpoint was asked for."""

    @property
    def address(self) -> str:
        """The endpoint's address, without user and password."""
        return self._endpoint.address

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._endpoint.model

    @property
    def answers(self) -> Sequence[ChatAnswer]:
        """Each answer of this run once, however often it was used, whether it was kept before or not."""
        return tuple(self._answers.values())

    @property
    def usage(self) -> Usage:
        """What the answers of this run cost when they were asked for."""
        return sum((answer.usage for answer in self._answers.values() if answer.usage is not None), Usage())

    def settings(self) -> dict[str, str]:
        """Return what decides an answer beside the prompt."""
        models = {recorded_model(answer.model) or "not stated" for answer in self._answers.values()}
        return {
            "endpoint": self.address,
            "model": recorded_model(self.model),
            "model as answered": ", ".join(sorted(models)) or "not stated",
            **({GIVEN_UP: words} if (words := self._endpoint.given_up) else {}),
            **self._sampling.settings(),
        }

    def circumstances(self) -> dict[str, Any]:
        """Return what differs from run to run: how much was asked, and how much was kept from before."""
        answers = self._answers.values()
        return {
            "answers": len(answers),
            "kept": len(answers) - self._fresh,
            "requests": self._endpoint.sent,
            "requests_again": self._endpoint.again,
            "answers_without_usage": sum(answer.usage is None for answer in answers),
            "seconds_asking": round(sum(answer.seconds for answer in answers), 3),
        }

    def ask(self, messages: Sequence[Message], doing: str, *, timed: bool = False) -> ChatAnswer:
        """Return the answer to these messages, and whether it was kept; `doing` says in errors what it was for.

        Where it is `timed`, the time that a kept answer took when it was asked for is added to `waited`.

        Raises Blocked for an endpoint that can't be reached or stays busy, and InputError for one that gives no usable
        answer, each after tries that together take no longer than the seconds that an answer is given.
        """
        request = {"messages": [dict(message) for message in messages], **self._sampling.document()}
        key = request_key(self.address, self._endpoint.model_in_time(doing, self._seconds), request)
        with self._counting:
            asking = self._asking.setdefault(key.sha256, Lock())
        with asking:
            answer = self._answers.get(key.sha256) or self._kept.find(key)
            if fresh := answer is None:
                answer = self._asked(request, doing)
                self._kept.keep(key, answer)
            self._answers[key.sha256] = answer
        with self._counting:
            if fresh:
                self._fresh += 1
            elif timed:
                self.waited += answer.seconds
        return answer if fresh else replace(answer, kept=True)

    def close(self) -> None:
        """Release the connections. May be called twice."""
        self._endpoint.close()

    def _asked(self, request: Mapping[str, Any], doing: str) -> ChatAnswer:
        since, cold = time.monotonic(), not self._fresh
        answer = self._endpoint.ask_in_time(
            "/chat/completions", request, doing, seconds=self._seconds, lacking=_lacking
        )
        stated = answer.get("model")
        return ChatAnswer(
            text=_text(answer),
            model=stated if isinstance(stated, str) and MODEL.fullmatch(stated) else "",
            usage=usage_of(answer),
            finish=str(answer["choices"][0].get("finish_reason") or ""),
            seconds=round(time.monotonic() - since, 3),
            cold=cold,
        )


def _lacking(answer: Any) -> str:
    """Return what an answer lacks; empty for one whose first choice says something."""
    expected = 'such as {"choices": [{"message": {"content": "…"}}]}, with text in it'
    try:
        if len(text := _text(answer)) > LONGEST:
            return f"a text of at most {LONGEST:,} characters"
        if text:
            return ""
        cut = answer["choices"][0].get("finish_reason") == "length"
    except (LookupError, TypeError, AttributeError):
        return expected
    return f"{expected} before `max_tokens` are reached" if cut else expected


def _text(answer: Any) -> str:
    """Return the text of the first choice, without what a model says to itself before."""
    content = answer["choices"][0]["message"]["content"]
    if not isinstance(content, str):
        return ""
    printable = _UNPRINTABLE.sub(" ", _THOUGHTS.sub("", content, count=1))
    return printable.encode("utf-8", "replace").decode().strip()
