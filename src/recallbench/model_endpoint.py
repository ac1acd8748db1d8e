"""A server that answers as OpenAI's does, and the model behind it that is asked: `https://host/v1#MODEL`.

Its key goes into an environment variable, and is never written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from recallbench.addresses import Part, recorded_name
from recallbench.errors import Blocked, InputError, RecallBenchError, UsageError
from recallbench.usage import Usage, usage_of
from recallbench.web_json import AnswerLate, Web

MODEL = re.compile(r"[\w./:@+-]{1,200}")
ADDRESS = r"https?://[\w.:\[\]~%/+@,=-]+"
ABSENT = (404, 405, 501)
PATIENT = 3
"""Requests in a row that may each take the whole time of all tries; those after them are tried once."""
GIVE_UP = 5
"""Requests in a row without an answer, after which an endpoint is away: no further one is sent."""


GIVEN_UP = "given up"
"""What a result calls it where an endpoint was given up."""


class ModelAway(Blocked):
    """Raised where a model's endpoint can't be reached or stays busy: one question fails of it, and not the run."""


class ModelEndpoint:
    """Asks the model, and counts what the answers say of themselves. Several threads may ask it."""

    def __init__(
        self,
        name: str,
        environ: Mapping[str, str],
        part: Part,
        *,
        give_up: int = GIVE_UP,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`note` is told when the endpoint is given up, after that many requests in a row without an answer."""
        self.name = recorded_endpoint(name, part)
        """Address and model as they were named, without user and password."""
        address, _, self._named = name.partition("#")
        self.address = recorded_name(address, part)
        self._part = part
        self._web = Web(address, environ, part)
        self.usage = Usage()
        """Of the answers that stated theirs."""
        self.uncounted = 0
        """Answers that stated no usage."""
        self.unsent = 0
        """The requests that were not sent, since the endpoint had been given up."""
        self._give_up, self._note = give_up, note
        self._failed_in_a_row = self._away_in_a_row = 0
        self._last: RecallBenchError | None = None
        """Why no answer came to the last request to which none did."""
        self._counting, self._naming = Lock(), Lock()
        self.answered: Counter[str] = Counter()
        """The models that answers say they are of, with the number of these."""

    @property
    def sent(self) -> int:
        """The requests that were sent, whatever became of them."""
        return self._web.sent

    @property
    def again(self) -> int:
        """The requests that were sent once more."""
        return self._web.again

    @property
    def given_up(self) -> str:
        """When the endpoint was given up, in words; empty where it was not, or no request was left."""
        if not self.unsent:
            return ""
        return f"after {self._give_up} requests in a row without an answer; {self.unsent} more were not sent"

    @property
    def model(self) -> str:
        """The model's name: the one that was asked for, else the only one there is."""
        return self._model(None)

    def _model(self, seconds: float | None) -> str:
        with self._naming:
            if not self._named:
                self._named = self._only_model(seconds)
        return self._named

    def _only_model(self, seconds: float | None) -> str:
        models = self.models(seconds)
        if len(models) != 1:
            raise UsageError(
                f"{self.name} serves {'several models' if models else 'models that it does not list'}",
                expected=f"{self._part.option} {self.name}#MODEL",
                found=", ".join(models[:10]) or "no list of models",
                remedy="name the model behind a #",
            )
        return models[0]

    def models(self, seconds: float | None = None) -> list[str]:
        """Return the models that the endpoint lists."""
        doing = "asking for its models"
        _, answer = self._web.ask("GET", "/models", None, doing, missing=ABSENT, tries=2, seconds=seconds)
        listed = answer.get("data") if isinstance(answer, dict) else None
        names = [entry.get("id") for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        return [name for name in names if isinstance(name, str) and MODEL.fullmatch(name)]

    def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        doing: str,
        *,
        tries: int | None = None,
        seconds: float | None = None,
        lacking: Callable[[Any], str] | None = None,
    ) -> Any:
        """Return what it answers to a request that names the model; as `Web.ask`."""
        request = {"model": self._model(seconds), **body}
        _, answer = self._web.ask("POST", path, request, doing, tries=tries, seconds=seconds, lacking=lacking)
        usage, model = usage_of(answer), answer.get("model") if isinstance(answer, dict) else None
        with self._counting:
            if usage is None:
                self.uncounted += 1
            else:
                self.usage += usage
            if isinstance(model, str) and MODEL.fullmatch(model):
                self.answered[model] += 1
        return answer

    def ask_in_time(
        self, path: str, body: Mapping[str, Any], doing: str, *, seconds: float, lacking: Callable[[Any], str]
    ) -> Any:
        """As `ask`; all tries together take no longer than `seconds`; after a few requests in vain, one must do.

        Raises ModelAway at once where the endpoint was given up.
        """
        with self._watched(doing) as tries:
            answer = self.ask(path, body, doing, tries=tries, seconds=seconds, lacking=lacking)
        with self._counting:
            self._failed_in_a_row = self._away_in_a_row = 0
        return answer

    def model_in_time(self, doing: str, seconds: float) -> str:
        """Return the model's name; raises as `ask_in_time` where it can't be had."""
        if self._named:
            return self._named
        with self._watched(doing):
            return self._model(seconds)

    @contextmanager
    def _watched(self, doing: str) -> Iterator[int | None]:
        """Count the failures of a request, for which as many tries are yielded as it is worth; None for the usual."""
        with self._counting:
            if self._away_in_a_row >= self._give_up:
                self.unsent += 1
                raise self._refusal(doing)
            tries = None if self._failed_in_a_row < PATIENT else 1
        try:
            yield tries
        except (InputError, Blocked) as error:
            if self._failed(error):
                self._note(
                    f"{self.name} is given up: no answer came to {self._give_up} requests in a row, and every further "
                    f"question fails at once; the last: {error.brief}"
                )
            if isinstance(error, InputError):
                raise
            told = {"expected": error.expected, "found": error.found, "remedy": error.remedy}
            raise ModelAway(error.problem, **told) from error

    def _failed(self, error: InputError | Blocked) -> bool:
        """Count a failure; return whether the endpoint is given up by it."""
        with self._counting:
            self._failed_in_a_row += 1
            # An answer that can't be used comes from a server that is there.
            away = isinstance(error, Blocked | AnswerLate)
            self._away_in_a_row = self._away_in_a_row + 1 if away else 0
            self._last = error
            return self._away_in_a_row == self._give_up

    def _refusal(self, doing: str) -> ModelAway:
        last = self._last
        return ModelAway(
            f"{self.name} was given up, and not asked while {doing}",
            found=f"no answer to {self._give_up} requests in a row" + (f", the last: {last.found}" if last else ""),
            remedy="start or mend the server, then run again: answers that came are kept",
        )

    def status(self) -> tuple[bool, str, str]:
        """Return whether it could be asked now, what was seen, and what would help if not."""
        try:
            listed, model = self.models(), self.model
        except RecallBenchError as error:
            return False, error.brief, error.remedy
        if listed and model not in listed:
            return False, f"{self.name}: it lists no {model}", f"name one of: {', '.join(listed[:10])}"
        return True, f"{self.name}: model {model}", ""

    def close(self) -> None:
        """Release the connections."""
        self._web.close()


def recorded_endpoint(name: str, part: Part) -> str:
    """Return the name without user and password; raises UsageError for what is no address with a model's name."""
    address, mark, model = name.partition("#")
    if mark and not MODEL.fullmatch(model):
        raise UsageError("the model's name can't be read", expected=f"{part.example}#MODEL", found=model[:80] or "none")
    return recorded_name(address, part) + mark + model


def recorded_model(model: str) -> str:
    """Return a model's name as results may hold it: a server of a local file may call it by where that lies."""
    return model.rpartition("/")[2] if model.startswith("/") else model
