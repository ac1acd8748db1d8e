"""A server that answers as OpenAI's does, and the model behind it that is asked: `https://host/v1#MODEL`.

Its key goes into an environment variable, and is never written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from recallbench.addresses import Part, recorded_name
from recallbench.errors import Blocked, InputError, RecallBenchError, UsageError
from recallbench.usage import Usage, usage_of
from recallbench.web_json import Web

MODEL = re.compile(r"[\w./:@+-]{1,200}")
ADDRESS = r"https?://[\w.:\[\]~%/+@,=-]+"
ABSENT = (404, 405, 501)
PATIENT = 3
"""Requests in a row that may each take the whole time of all tries; those after them are tried once."""


class ModelAway(Blocked):
    """Raised where a model's endpoint can't be reached or stays busy: one question fails of it, and not the run."""


class ModelEndpoint:
    """Asks the model, and counts what the answers say of themselves."""

    def __init__(self, name: str, environ: Mapping[str, str], part: Part) -> None:
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
        self._failed_in_a_row = 0
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

    @cached_property
    def model(self) -> str:
        """The model's name: the one that was asked for, else the only one there is."""
        if self._named:
            return self._named
        models = self.models()
        if len(models) != 1:
            raise UsageError(
                f"{self.name} serves {'several models' if models else 'models that it does not list'}",
                expected=f"{self._part.option} {self.name}#MODEL",
                found=", ".join(models[:10]) or "no list of models",
                remedy="name the model behind a #",
            )
        return models[0]

    def models(self) -> list[str]:
        """Return the models that the endpoint lists."""
        _, answer = self._web.ask("GET", "/models", None, "asking for its models", missing=ABSENT, tries=2)
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
        request = {"model": self.model, **body}
        _, answer = self._web.ask("POST", path, request, doing, tries=tries, seconds=seconds, lacking=lacking)
        usage, model = usage_of(answer), answer.get("model") if isinstance(answer, dict) else None
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
        """As `ask`; all tries together take no longer than `seconds`; after a few requests in vain, one must do."""
        patient = self._failed_in_a_row < PATIENT
        try:
            answer = self.ask(path, body, doing, tries=None if patient else 1, seconds=seconds, lacking=lacking)
        except InputError:
            self._failed_in_a_row += 1
            raise
        except Blocked as error:
            self._failed_in_a_row += 1
            told = {"expected": error.expected, "found": error.found, "remedy": error.remedy}
            raise ModelAway(error.problem, **told) from error
        self._failed_in_a_row = 0
        return answer

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
