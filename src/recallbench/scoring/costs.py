"""What quantities cost at some prices, and from which question on a memory is cheaper than the whole history."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from recallbench.usage import Usage

LedgerName = Literal["ingest", "index", "query", "generate"]
LEDGERS: tuple[LedgerName, ...] = get_args(LedgerName)
CHARACTERS = 4
"""Characters of a token where nothing counts them: a rule of thumb for English, and so an estimate."""
_DATE = re.compile(r"(?:[-:@](?:latest|[0-9]{4}[0-9-]*))?")
_MILLION, _GIGABYTE, _HOUR = 1e6, 1e9, 3600


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """What a million tokens of each sort cost."""

    fresh: float
    cache_read: float
    cache_write: float
    output: float

    def of(self, usage: Usage) -> float:
        """Return what these tokens cost."""
        parts = (
            usage.fresh * self.fresh,
            usage.cache_read * self.cache_read,
            usage.cache_write * self.cache_write,
            usage.output * self.output,
        )
        return math.fsum(parts) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a day."""

    date: str
    currency: str
    models: Mapping[str, TokenPrice]
    """By the name of a model, or its beginning."""
    processor_hour: float | None = None
    """One processor for an hour."""
    gigabyte_month: float | None = None
    answering: str = ""
    """The model that a context would be sent to where nothing answers."""
    source: str = ""

    def model(self, name: str) -> TokenPrice | None:
        """Return the prices of a model, whose name may go on after that of the list; None where there are none."""
        wanted = name.rpartition("/")[2].lower()
        fitting = [listed for listed in self.models if _begins(wanted, listed.rpartition("/")[2].lower())]
        return self.models[max(fitting, key=len)] if fitting else None


@dataclass(frozen=True, slots=True)
class CostLine:
    """One quantity of a ledger."""

    what: str
    quantity: Usage | float
    """Tokens of a model; seconds of processors; or bytes that are stored."""
    unit: Literal["tokens", "processor seconds", "bytes"]
    model: str = ""
    """The model of tokens."""
    at_least: bool = False
    """Whether there was more of it that nobody counted, such as what was done in an earlier run and kept."""

    def price(self, prices: Prices) -> float | None:
        """Return what it costs, bytes by the month; None where there is no price for it."""
        if isinstance(self.quantity, Usage):
            by_model = prices.model(self.model)
            return None if by_model is None else by_model.of(self.quantity)
        each, of = {
            "processor seconds": (prices.processor_hour, _HOUR),
            "bytes": (prices.gigabyte_month, _GIGABYTE),
        }[self.unit]
        return None if each is None else self.quantity * each / of


@dataclass(frozen=True, slots=True)
class Money:
    """A sum, and what it lacks."""

    amount: float | None
    """None where nothing in it has a price, though there is something."""
    unpriced: tuple[str, ...] = ()
    """What has no price, and so is not in it, or only in part."""

    def per(self, count: float) -> Money:
        """Return the share of one of so many; none of nothing."""
        amount = None if self.amount is None or not count else self.amount / count
        return Money(amount, self.unpriced)


def total(lines: Iterable[CostLine], prices: Prices) -> Money:
    """Return the sum of the lines that are paid once; what is paid by the month is in no sum."""
    priced = [(line, line.price(prices)) for line in lines if line.unit != "bytes"]
    known = [amount for _, amount in priced if amount is not None]
    lacking = tuple(dict.fromkeys(line.what for line, amount in priced if amount is None))
    partly = tuple(f"the rest of {line.what}" for line, amount in priced if amount is not None and line.at_least)
    return Money(math.fsum(known) if known or not lacking else None, (*lacking, *partly))


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The question from which on a memory is cheaper than sending the whole history with each question."""

    question: int | None
    """None where it never is."""
    memory: float
    """What a question costs with the memory, its context included."""
    history: float
    """What a question costs with the whole history, after the first."""
    last: int | None = None
    """The last question up to which it is cheaper; None where it stays so. A history that the endpoint keeps is dear
    only once, so that it can win with the second question."""


def break_even(setup: float, memory: float, first: float, following: float) -> BreakEven:
    """Return it for one memory that cost `setup`; with the history the first question costs `first`.

    It is the smallest n with setup + n x memory < first + (n - 1) x following.
    """
    if setup + memory < first:
        ends = memory > following
        return BreakEven(
            1, memory, following, math.ceil((first - following - setup) / (memory - following)) - 1 if ends else None
        )
    if memory >= following:
        return BreakEven(None, memory, following)
    ahead = (setup + following - first) / (following - memory)
    return BreakEven(max(2, math.floor(ahead) + 1), memory, following)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of one question's context and of its whole history, on average."""

    context: float
    history: float
    counted: bool
    """By the encoder's own count; else from characters. Either is an estimate of what a model's own count gives."""


def history_break_even(
    setup: float, query: float, lengths: Lengths, price: TokenPrice
) -> dict[Literal["uncached", "cached"], BreakEven]:
    """Return the break-even where every prompt is read anew, and where the endpoint keeps the history.

    Question, instructions and answer cost the same with either and are left out.
    """
    memory = query + lengths.context * price.fresh / _MILLION
    fresh, write, read = (
        lengths.history * each / _MILLION for each in (price.fresh, price.cache_write, price.cache_read)
    )
    return {"uncached": break_even(setup, memory, fresh, fresh), "cached": break_even(setup, memory, write, read)}


@dataclass(frozen=True, slots=True)
class HitRate:
    """How often something was kept from before."""

    what: str
    hits: int
    of: int

    @property
    def share(self) -> float | None:
        """None where nothing was asked for."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Ledgers:
    """What a run used, by what it was for."""

    lines: Mapping[LedgerName, Sequence[CostLine]]
    beside: Sequence[CostLine]
    """What measuring itself used, which no ledger holds: judges."""
    haystacks: int
    questions: int
    k: int
    """The depth at which gold is counted as found."""
    gold_found: int
    """Gold segments among the first k, over all questions."""
    correct: Mapping[str, float] = field(default_factory=dict)
    """By judge, the answers that it found right; empty where nothing answers."""
    hit_rates: Sequence[HitRate] = ()
    context: int = 0
    """How many hits a model is given, or would be."""
    lengths: Lengths | None = None
    answering: str = ""
    """The model that answers; empty where none does."""
    uncounted: Mapping[LedgerName, Sequence[str]] = field(default_factory=dict)
    """What was used and nobody counted."""
    unstated: Sequence[str] = ()
    """The stores that did not say how many bytes they hold."""

    def sum(self, prices: Prices, *names: LedgerName) -> Money:
        """Return what these ledgers cost together; what nobody counted has no price."""
        known = total((line for name in names for line in self.lines[name]), prices)
        uncounted = (what for name in names for what in self.uncounted.get(name, ()))
        return Money(known.amount, tuple(dict.fromkeys((*known.unpriced, *uncounted))))


def _begins(name: str, listed: str) -> bool:
    """Return whether a listed name is this one without its date: gpt-4o is none of gpt-4o-mini's."""
    return bool(listed) and name.startswith(listed) and _DATE.fullmatch(name[len(listed) :]) is not None
