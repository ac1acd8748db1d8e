"""The options that every stage with a language model takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recallbench.addresses import CHAT
from recallbench.retrieval.chat.client import ChatClient, Sampling
from recallbench.retrieval.chat.prompts import prompt
from recallbench.retrieval.stages.endpoint_options import EndpointOptions
from recallbench.retrieval.stages.stage import StageOption, StageRequest, positive


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


OPTIONS = EndpointOptions.of(CHAT, 120)
TEMPERATURE = StageOption("temperature", "How freely the model chooses its words", default="0", parse=_temperature)
SEED = StageOption("seed", "The seed that the model is asked to use", default="0", parse=_from_zero)


def max_tokens(default: int) -> StageOption:
    """Return the option that bounds the length of an answer."""
    return StageOption("max_tokens", "The tokens of an answer at most", default=str(default), parse=positive)


def chat_options(most: StageOption) -> tuple[StageOption, ...]:
    """Return the options of a stage whose answers are bounded by `most`."""
    return (OPTIONS.address, OPTIONS.model, OPTIONS.key_from, most, TEMPERATURE, SEED, *OPTIONS.patience)


def open_chat(request: StageRequest, most: StageOption) -> ChatClient:
    """Return the client that these options ask for; raises UsageError where the key that they name is not there."""
    named = OPTIONS.read(request)
    return ChatClient(
        named.name,
        request.environ,
        request.cache_dir,
        _sampling(request.options, most),
        seconds=named.seconds,
        part=named.part,
        give_up=named.give_up,
        note=request.note,
    )


def chat_settings(client: ChatClient, *prompts: str) -> Mapping[str, str]:
    """Return what decides the answers of a stage that asks with these prompts."""
    return {**client.settings(), **_pinned(prompts)}


def stated_chat(options: Mapping[str, str], most: StageOption, *prompts: str) -> Mapping[str, str]:
    """Return the part of these that options and release decide."""
    return {**_sampling(options, most).settings(), **_pinned(prompts)}


def _sampling(options: Mapping[str, str], most: StageOption) -> Sampling:
    return Sampling(most.read(options), TEMPERATURE.read(options), SEED.read(options))


def _pinned(prompts: Iterable[str]) -> dict[str, str]:
    return {f"prompt {name}": f"sha256 {prompt(name).sha256}" for name in prompts}
