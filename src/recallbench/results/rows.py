"""The rows of `raw_retrievals.jsonl`: each field present and of its type, its value unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from recallbench.errors import InputError
from recallbench.reading import objects

NAME = "raw_retrievals.jsonl"


RowModel = TypeVar("RowModel", bound=BaseModel)


class RowPart(BaseModel):
    """A part of a row: no field more, and each of its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HitRow(RowPart):
    """A hit of a ranking."""

    rank: int
    id: str
    score: float
    text: str | None = None


class Row(RowPart):
    """A question and the hits that came back."""

    question_id: str
    scope: str
    kind: str
    cluster: str
    abstention: bool
    denominators: list[str]
    tenant: str = ""
    candidates: int
    gold: list[str]
    one_find: bool = False
    grades: Mapping[str, float] = {}
    question: str | None = None
    hits: list[HitRow]
    hits_of_k_call: list[HitRow] | None = None


def read_rows(folder: Path) -> list[Row]:
    """Return every row, in file order; raises InputError, naming the line, for one that is malformed."""
    return read_models(folder, NAME, Row)


def read_models(folder: Path, name: str, kind: type[RowModel]) -> list[RowModel]:
    """Return the lines of a file of a result, each as a model; raises InputError, naming the line, for another."""
    rows = []
    for number, fields in objects(folder / name):
        try:
            rows.append(kind.model_validate(fields))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(
                f"{folder.name}/{name}, line {number}: not the row of a question",
                expected="the fields that `recallbench run` writes",
                found=f"{place}: {first['msg']}",
                remedy="get the file again from where it was made, or make the result again",
            ) from None
    return rows


def position_of(id: str, scope: str, candidates: int) -> int | None:
    """Return the haystack position that `<scope>/<position>` names; None where it is no segment of this scope."""
    stated = _stated_place(id)
    return stated[1] if stated is not None and stated[0] == scope and stated[1] < candidates else None


@lru_cache(maxsize=1 << 14)  # the ids of a haystack come again for each of its questions
def _stated_place(id: str) -> tuple[str, int] | None:
    """Return the scope and the position that an id is made of; None where it is not."""
    scope, slash, digits = id.rpartition("/")
    if not slash or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return None
    position = int(digits)
    return (scope, position) if str(position) == digits else None
