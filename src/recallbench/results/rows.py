"""The rows of `raw_retrievals.jsonl`: each field present and of its type, its value unchecked."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError

from recallbench.errors import InputError
from recallbench.reading import objects

NAME = "raw_retrievals.jsonl"


RowModel = TypeVar("RowModel", bound=BaseModel)
Held = TypeVar("Held")
_NO_GRADES: Mapping[str, float] = {}


class RowPart(BaseModel):
    """A part of a row: no field more, and each of its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HitRow(RowPart):
    """A hit of a ranking."""

    rank: int
    id: str
    score: float
    text: str | None = None


class KeptHit(NamedTuple):
    """The same of a row that is kept in little memory."""

    rank: int
    id: str
    score: float
    text: None = None


AnyHit = HitRow | KeptHit


class PlacedHits(Sequence[KeptHit]):
    """Hits as a run without texts writes them, in 12 bytes each: a row of 50 models takes thirty times as much."""

    __slots__ = ("_positions", "_scope", "_scores")

    def __init__(self, scope: str, positions: Iterable[int], scores: Iterable[float]) -> None:
        self._scope = scope
        self._positions = array("i", positions)
        self._scores = array("d", scores)

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, place: int) -> KeptHit: ...
    @overload
    def __getitem__(self, place: slice) -> list[KeptHit]: ...
    def __getitem__(self, place: int | slice) -> KeptHit | list[KeptHit]:
        if isinstance(place, slice):
            return list(self)[place]
        number = range(len(self))[place]
        return KeptHit(number + 1, f"{self._scope}/{self._positions[number]}", self._scores[number])

    def __iter__(self) -> Iterator[KeptHit]:
        scope = self._scope
        for rank, (position, score) in enumerate(zip(self._positions, self._scores, strict=True), 1):
            yield KeptHit(rank, f"{scope}/{position}", score)


@dataclass(frozen=True, slots=True)
class Row:
    """A question and the hits that came back, as they are held: in a fifth of the memory of a `RowLine`."""

    question_id: str
    scope: str
    kind: str
    cluster: str
    abstention: bool
    denominators: Sequence[str]
    tenant: str
    candidates: int
    gold: list[str]
    one_find: bool
    grades: Mapping[str, float]
    question: str | None
    hits: Sequence[AnyHit]
    hits_of_k_call: Sequence[AnyHit] | None


class RowLine(RowPart):
    """The same as a line of the file has it."""

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

    def kept(self) -> Row:
        """Return the row as it is held."""
        return Row(
            self.question_id,
            self.question_id if self.scope == self.question_id else intern(self.scope),
            intern(self.kind),
            intern(self.cluster),
            self.abstention,
            _shared(tuple(self.denominators)),
            intern(self.tenant),
            self.candidates,
            self.gold,
            self.one_find,
            self.grades or _NO_GRADES,
            self.question,
            _packed(self.scope, self.hits),
            self.hits_of_k_call and _packed(self.scope, self.hits_of_k_call),
        )


@lru_cache
def _shared(words: tuple[str, ...]) -> list[str]:
    return list(words)


def _packed(scope: str, hits: list[HitRow]) -> Sequence[AnyHit]:
    """Return the hits in less memory, where ranks count up and ids are places of this scope; else as they are."""
    places = [stated_place(hit.id) for hit in hits]
    if any(place is None or place[0] != scope for place in places):
        return hits
    if any(hit.rank != rank or hit.text is not None for rank, hit in enumerate(hits, 1)):
        return hits
    return PlacedHits(scope, (place[1] for place in places if place is not None), (hit.score for hit in hits))


def read_rows(folder: Path) -> list[Row]:
    """Return every row, in file order; raises InputError, naming the line, for one that is malformed."""
    return read_models(folder, NAME, RowLine, RowLine.kept)


def _as_read(row: Any) -> Any:
    return row


def read_models(
    folder: Path, name: str, kind: type[RowModel], keep: Callable[[RowModel], Held] = _as_read
) -> list[Held]:
    """Return the lines of a file of a result, each read as a model and then as it is to be kept; raises InputError,
    naming the line, for another."""
    rows = []
    for number, fields in objects(folder / name):
        try:
            rows.append(keep(kind.model_validate(fields)))
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
    stated = stated_place(id)
    return stated[1] if stated is not None and stated[0] == scope and stated[1] < candidates else None


@lru_cache(maxsize=1 << 10)  # the ids of a haystack come again for each of its questions
def stated_place(id: str) -> tuple[str, int] | None:
    """Return the scope and the position that an id is made of; None where it is not."""
    scope, slash, digits = id.rpartition("/")
    if not slash or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return None
    position = int(digits)
    return (scope, position) if str(position) == digits else None
