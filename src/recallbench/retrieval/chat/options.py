"""The options that every stage with a language model takes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from recallbench.addresses import CHAT, WEB, recorded_name, scheme_of
from recallbench.errors import UsageError
from recallbench.model_endpoint import MODEL
from recallbench.retrieval.chat.client import ChatClient, Sampling
from recallbench.retrieval.chat.prompts import prompt
from recallbench.retrieval.stages.stage import StageOption, StageRequest, positive

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")


def _address(text: str) -> str:
    if scheme_of(text) not in WEB:
        raise UsageError(
            "a chat model is behind an endpoint", expected=f"such as {CHAT.example}", found="no web address"
        )
    recorded_name(text, CHAT)
    return text


def _model(text: str) -> str:
    if not MODEL.fullmatch(text):
        raise ValueError("not the name of a model")
    return text


def _variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        # Not shown: it may be the key itself.
        raise UsageError(
            "`key_from` names a variable of the environment",
            expected=f"capitals, figures and _, such as {CHAT.token}",
            found="something else",
            remedy="put the key into that variable, never into a file",
        )
    return text


def _from_zero(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(f"{text} is less than 0")
    return number


def _temperature(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 2:
        raise ValueError(f"{text} is not within 0 and 2")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{text} is no time")
    return number


ENDPOINT = StageOption(
    "endpoint", f"The address of the model, such as {CHAT.example}", parse=_address, required=True, secret=True
)
NAMED_MODEL = StageOption("model", "The model's name; the only one that it serves where it is left out", parse=_model)
KEY_FROM = StageOption(
    "key_from", "The variable of the environment that holds its key", default=CHAT.token, parse=_variable
)
TEMPERATURE = StageOption("temperature", "How freely the model chooses its words", default="0", parse=_temperature)
SEED = StageOption("seed", "The seed that the model is asked to use", default="0", parse=_from_zero)
SECONDS = StageOption("seconds", "What one answer may take, all tries together", default="120", parse=_seconds)


def max_tokens(default: int) -> StageOption:
    """Return the option that bounds the length of an answer."""
    return StageOption("max_tokens", "The tokens of an answer at most", default=str(default), parse=positive)


def chat_options(most: StageOption) -> tuple[StageOption, ...]:
    """Return the options of a stage whose answers are bounded by `most`."""
    return (ENDPOINT, NAMED_MODEL, KEY_FROM, most, TEMPERATURE, SEED, SECONDS)


def open_chat(request: StageRequest, most: StageOption) -> ChatClient:
    """Return the client that these options ask for; raises UsageError where the key that they name is not there."""
    options, key_from = request.options, KEY_FROM.read(request.options)
    if KEY_FROM.name in options and not request.environ.get(key_from):
        raise UsageError(
            f"{request.name} takes its key from {key_from}, which is not set",
            expected=f"the key in {key_from}",
            found="nothing",
        )
    named = NAMED_MODEL.read(options)
    address = ENDPOINT.read(options)
    return ChatClient(
        address if named is None else f"{address}#{named}",
        request.environ,
        request.cache_dir,
        Sampling(most.read(options), TEMPERATURE.read(options), SEED.read(options)),
        seconds=SECONDS.read(options),
        part=replace(CHAT, token=key_from),
    )


def chat_settings(client: ChatClient, *prompts: str) -> Mapping[str, str]:
    """Return what decides the answers of a stage that asks with these prompts."""
    pinned = {f"prompt {name}": f"sha256 {prompt(name).sha256}" for name in prompts}
    return {**client.settings(), **pinned}
