"""The options of a run that only particular stores understand: each is declared here once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from recallbench.stores.graph.rankers import DEFAULT_RANKER, RANKERS
from recallbench.stores.pgmnemo.lessons import DATES
from recallbench.stores.pgmnemo.signature import CANONICAL, FUNCTIONS
from recallbench.stores.weights import DEFAULT_WEIGHTS, parse_weights


class StoreOption(NamedTuple):
    """One of them."""

    name: str
    """On the command line, without the dashes."""
    field: str
    """What the options of a run call it, and environment.json."""
    departs: Callable[[str], str]
    """In words, what a value makes of the store; empty for what it does by default."""
    known: tuple[str, ...] = ()
    """The values it may have; empty where it is free."""


def _weights(text: str) -> str:
    weights = parse_weights(text)
    return "" if weights == DEFAULT_WEIGHTS else f"weights {weights}"


def _unless(default: str, words: str) -> Callable[[str], str]:
    return lambda value: "" if value == default else words.format(value)


STORE_OPTIONS: tuple[StoreOption, ...] = (
    StoreOption("weights", "weights", _weights),
    # The function is the store itself, and stands in its version.
    StoreOption("call", "call", lambda value: ""),
    StoreOption("pgmnemo-function", "function", _unless(CANONICAL, "function {}"), FUNCTIONS),
    StoreOption("pgmnemo-dates", "dates", _unless(DATES[0], "created_at from the {}"), DATES),
    StoreOption("graph-ranker", "ranker", _unless(DEFAULT_RANKER, "ranker {}"), RANKERS),
)


def variant_of(options: Mapping[str, Any]) -> str:
    """What departs from the store's defaults under these options of a run, in words; empty where nothing does."""
    asked = ((one, options.get(one.field)) for one in STORE_OPTIONS)
    return " and ".join(words for one, value in asked if value is not None and (words := one.departs(str(value))))
