"""Files of prices: the one that comes along, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recallbench.errors import InputError
from recallbench.reading import document, parsed, toml
from recallbench.scoring.costs import Prices, TokenPrice

BUNDLED = "prices.toml"
OF_BUNDLED = "those that come along, estimates of their day"
FIELD = "prices"
"""The field of environment.json with the prices of the day on which a result was made."""


class _PricePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ModelPart(_PricePart):
    """What a million tokens of a model cost."""

    fresh: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0, description="as fresh where it is left out")
    cache_write: float | None = Field(default=None, ge=0, description="as fresh where it is left out")
    output: float = Field(default=0.0, ge=0)

    @property
    def price(self) -> TokenPrice:
        """The price of every sort of token."""
        read, write = (self.fresh if each is None else each for each in (self.cache_read, self.cache_write))
        return TokenPrice(self.fresh, read, write, self.output)


class PricesPart(_PricePart):
    """A file of prices."""

    date: date
    currency: str = Field(default="USD", pattern="[A-Z]{3}")
    processor_hour: float | None = Field(default=None, ge=0)
    gigabyte_month: float | None = Field(default=None, ge=0)
    answering: str = ""
    models: dict[str, ModelPart] = {}


def read_prices(path: Path | None = None) -> Prices:
    """Return the prices of a file, or those that come along; raises InputError for what is no such file."""
    try:
        if path is None:
            text = resources.files("recallbench.results.costs").joinpath(BUNDLED).read_text(encoding="utf-8")
        else:
            text = path.read_text(encoding="utf-8")
        part = PricesPart.model_validate(toml(text))
    except OSError as error:
        raise InputError(f"{path} can't be read", found=error.strerror or str(error)) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path} is no file of prices",
            expected='date, currency, processor_hour, gigabyte_month, answering, and [models."NAME"] with fresh, '
            "cache_read, cache_write and output for a million tokens",
            found=f"{place}: {first['msg']}",
        ) from None
    except ValueError as error:  # of TOML, and of UTF-8
        raise InputError(f"{path} is no TOML", expected="TOML in UTF-8", found=str(error)) from None
    return _prices(part, OF_BUNDLED if path is None else path.name)


def recorded(prices: Prices, models: Iterable[str]) -> dict[str, Any] | None:
    """Return the prices of these models as results have them, so that a page can be made again when prices changed.

    None where no model is asked for.
    """
    asked = {model: prices.model(model) for model in models}
    known = {model: asdict(price) for model, price in asked.items() if price is not None}
    return {"date": prices.date, "currency": prices.currency, "models": known} if asked else None


def recorded_prices(folder: Path) -> Prices | None:
    """Return the prices that a result recorded, those that came along with its release; None where it has none.

    Raises InputError for what is none.
    """
    path = folder / "environment.json"
    stated = parsed(document(path), path).get(FIELD)
    if stated is None:
        return None
    try:
        return _prices(PricesPart.model_validate(stated), OF_BUNDLED)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"{path}: not the prices of a day",
            expected="the fields that `recallbench run` writes",
            found=f"{'.'.join(map(str, (FIELD, *first['loc'])))}: {first['msg']}",
        ) from None


def _prices(part: PricesPart, source: str) -> Prices:
    return Prices(
        date=part.date.isoformat(),
        currency=part.currency,
        models={name: model.price for name, model in part.models.items()},
        processor_hour=part.processor_hour,
        gigabyte_month=part.gigabyte_month,
        answering=part.answering,
        source=source,
    )
