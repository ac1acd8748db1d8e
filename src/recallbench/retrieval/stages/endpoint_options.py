"""The options of every stage that asks a model behind an endpoint."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from recallbench.addresses import WEB, Part, recorded_name, scheme_of
from recallbench.errors import RecallBenchError, UsageError
from recallbench.model_endpoint import GIVE_UP, MODEL, ModelEndpoint, recorded_model
from recallbench.retrieval.stages.stage import StageOption, StageRequest, positive

MOST_AT_ONCE = 100
"""The most questions at a time: as many connections as a client holds."""
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")


def _read_at_once(text: str) -> int:
    number = positive(text)
    if number > MOST_AT_ONCE:
        raise ValueError(f"{text} is more than {MOST_AT_ONCE}")
    return number


class NamedEndpoint(NamedTuple):
    """An endpoint as its options name it."""

    name: str
    """Its address, with #MODEL behind where one is named."""
    part: Part
    """With the variable that holds its key."""
    seconds: float
    """What one answer may take, all tries together."""
    at_once: int
    """How many questions are asked at a time."""
    give_up: int
    """The requests in a row without an answer after which none is sent any more."""


# Without a default that is recorded: results that were made without these options have the same bytes as ever.
AT_ONCE = StageOption(
    "at_once", "How many questions are asked at a time; one where it is left out", parse=_read_at_once, decides=False
)
GIVE_UP_AFTER = StageOption(
    "give_up_after",
    f"After how many requests in a row without an answer no further one is sent; {GIVE_UP} where it is left out",
    parse=positive,
    decides=False,
)


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """The options for one part of a pipeline."""

    part: Part
    address: StageOption
    model: StageOption
    key_from: StageOption
    seconds: StageOption
    at_once: StageOption = AT_ONCE
    give_up: StageOption = GIVE_UP_AFTER

    @classmethod
    def of(cls, part: Part, seconds: float) -> Self:
        """Return the options of a part whose answers may take so many seconds by default."""

        def address(text: str) -> str:
            if scheme_of(text) not in WEB:
                raise UsageError(
                    f"a {part.noun} is behind an endpoint", expected=f"such as {part.example}", found="no web address"
                )
            recorded_name(text, part)
            return text

        def variable(text: str) -> str:
            if not _VARIABLE.fullmatch(text):
                # Not shown: it may be the key itself.
                raise UsageError(
                    "`key_from` names a variable of the environment",
                    expected=f"capitals, figures and _, such as {part.token}",
                    found="something else",
                    remedy="put the key into that variable, never into a file",
                )
            return text

        return cls(
            part,
            StageOption(
                "endpoint",
                f"The address of the model, such as {part.example}",
                parse=address,
                required=True,
                secret=True,
                decides=False,
            ),
            StageOption(
                "model", "The model's name; the only one that it serves where it is left out", parse=_read_model
            ),
            StageOption(
                "key_from",
                "The variable of the environment that holds its key",
                default=part.token,
                parse=variable,
                decides=False,
            ),
            StageOption(
                "seconds",
                "What one answer may take, all tries together",
                default=f"{seconds:g}",
                parse=_read_seconds,
                decides=False,
            ),
        )

    @property
    def patience(self) -> tuple[StageOption, ...]:
        """The options that say how long and how it is waited for answers."""
        return (self.seconds, self.at_once, self.give_up)

    def states(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a stage with these options tells of its endpoint, whatever that answered."""
        told = {"endpoint": recorded_name(self.address.read(options).partition("#")[0], self.part)}
        return told | ({"model": recorded_model(model)} if (model := self.model.read(options)) else {})

    def read(self, request: StageRequest) -> NamedEndpoint:
        """Return the endpoint that a stage asks; raises UsageError where the key that it names is not there."""
        options, key_from = request.options, self.key_from.read(request.options)
        if self.key_from.name in options and not request.environ.get(key_from):
            raise UsageError(
                f"{request.name} takes its key from {key_from}, which is not set",
                expected=f"the key in {key_from}",
                found="nothing",
            )
        model, address = self.model.read(options), self.address.read(options)
        name = address if model is None else f"{address}#{model}"
        return NamedEndpoint(
            name,
            replace(self.part, token=key_from),
            self.seconds.read(options),
            self.at_once.read(options) or 1,
            self.give_up.read(options) or GIVE_UP,
        )

    def status(self, request: StageRequest) -> tuple[bool, str, str]:
        """Return whether the endpoint could be asked now, what was seen, and what would help if not."""
        try:
            named = self.read(request)
            endpoint = ModelEndpoint(named.name, request.environ, named.part)
        except RecallBenchError as error:
            return False, error.brief, error.remedy
        with closing(endpoint):
            return endpoint.status()


def _read_model(text: str) -> str:
    if not MODEL.fullmatch(text):
        raise ValueError("not the name of a model")
    return text


def _read_seconds(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{text} is no time")
    return number
