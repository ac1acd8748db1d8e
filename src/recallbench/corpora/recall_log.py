"""A log of recalls in production, JSON lines: the query, the ids that came back, the time it took."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from recallbench.errors import InputError, UsageError
from recallbench.reading import lines, parsed

Milliseconds = Annotated[float, Field(ge=0)]
Id = Annotated[str | int, Field(union_mode="left_to_right")]
FIRST = 3
"""Bad lines that are shown in full."""


class _Line(BaseModel):
    # A log has fields of its own beside these.
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)

    query: str
    ids: list[Id]
    scores: list[float] | None = None
    texts: list[str] | dict[str, str] | None = None
    """In the order of the ids, or by id, as a drawn sample has them."""
    ms: Milliseconds | None = None
    timings: dict[str, Milliseconds] | None = None
    at: str | None = None

    @model_validator(mode="after")
    def _parallel(self) -> _Line:
        if not self.query.strip():
            raise ValueError("query is blank")
        if any(id is True or id is False or not str(id).strip() for id in self.ids):
            raise ValueError("an id is blank or no id")
        # A repeated id is no ranking: measures would count its gold twice, or the ranks below it wrongly.
        again = [id for id, times in Counter(map(str, self.ids)).items() if times > 1]
        if again:
            raise ValueError(f"ids: {again[0]!r} is there twice, each once is a ranking")
        for name in ("scores", "texts"):
            values = getattr(self, name)
            if isinstance(values, list) and len(values) != len(self.ids):
                raise ValueError(f"{len(values)} {name} for {len(self.ids)} ids")
        if isinstance(self.texts, dict) and (missing := [id for id in map(str, self.ids) if id not in self.texts]):
            raise ValueError(f"texts: none for {missing[0]!r}")
        return self


@dataclass(frozen=True, slots=True)
class Recall:
    """One recall as it was logged."""

    query: str
    """Its words, with single blanks: queries that agree in this are the same."""
    ids: tuple[str, ...]
    """Best first, each once."""
    texts: Mapping[str, str]
    ms: float | None
    """As the log states it, else the `total` of its timings, else their sum."""
    at: str
    stratum: str
    """The value of the field that groups recalls; empty where a line has none."""
    slices: Mapping[str, str]
    """Its kind, scope and tenant, as far as it has them."""


@dataclass(slots=True)
class RecallLog:
    """The recalls of one or several files, read one line at a time."""

    files: Sequence[Path]
    by: str = "kind"
    skip_bad: bool = False
    bad: Counter[str] = field(default_factory=Counter)
    """Lines that were passed over, by file."""
    first_problems: list[str] = field(default_factory=list)
    """The problems of the first of them."""

    def recalls(self) -> Iterator[Recall]:
        """Yield each recall; raises InputError, naming a line that can't be read, unless bad lines are skipped."""
        named = seen = 0
        for path in self.files:
            for number, line in lines(path, partial(self._pass, path) if self.skip_bad else None):
                try:
                    record = parsed(line, path, number)
                    recall = _recall(record, self.by, path, number)
                except InputError as error:
                    if not self.skip_bad:
                        raise
                    self._pass(path, error)
                    continue
                named += bool(recall.stratum)
                seen += 1
                yield recall
        if not seen:
            raise InputError(
                f"{', '.join(map(str, self.files))}: no recall",
                expected='lines such as {"query": "where does acme ship from?", "ids": ["d7", "d2"], "ms": 12.5}',
                found=_count_lines(self.bad.total()) if self.bad else "an empty file",
                remedy="name a log of recalls",
            )
        if not named and self.by != "kind":
            raise UsageError(
                f"no recall has a field {self.by}",
                expected="--by, a field of the log's lines",
                found=self.by,
                remedy="leave --by out, or name a field that is there",
            )

    def _pass(self, path: Path, error: InputError) -> None:
        self.bad[str(path)] += 1
        if len(self.first_problems) < FIRST:
            self.first_problems.append(f"{error.problem}: {error.found}")


def describe_skipped(bad: int) -> str:
    """Say how many lines were passed over."""
    return f"{_count_lines(bad)} {'was' if bad == 1 else 'were'} passed over"


def _count_lines(count: int) -> str:
    return f"{count} bad {'line' if count == 1 else 'lines'}"


def _recall(record: Mapping[str, Any], by: str, path: Path, number: int) -> Recall:
    try:
        line = _Line.model_validate(record)
        ids = [str(id) for id in line.ids]
        slices = {name: _word(record, name) for name in ("kind", "scope", "tenant") if record.get(name) is not None}
        stratum = _word(record, by) if record.get(by) is not None else ""
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # Of a field in two forms pydantic also names the form that it tried.
        place = ".".join(part for part in map(str, first["loc"]) if "[" not in part)
        problem = first["msg"].removeprefix("Value error, ")
        raise _refusal(path, number, f"{place}: {problem}" if place else problem) from None
    except ValueError as error:
        raise _refusal(path, number, str(error)) from None
    ms = line.ms
    if ms is None and line.timings:
        ms = line.timings.get("total", math.fsum(line.timings.values()))
    logged_texts = line.texts if isinstance(line.texts, dict) else dict(zip(ids, line.texts or (), strict=False))
    texts = {id: logged_texts[id] for id in ids if id in logged_texts}
    return Recall(" ".join(line.query.split()), tuple(ids), texts, ms, line.at or "", stratum, slices)


def _word(record: Mapping[str, Any], name: str) -> str:
    value = record[name]
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"{name}: {json.dumps(value)[:60]} is no word")
    return str(value)


def _refusal(path: Path, number: int, found: str) -> InputError:
    return InputError(
        f"{path}, line {number}: not a recall",
        expected="query, a text; ids, a list; and where they are there scores, texts, kind, ms, timings and at",
        found=found,
        remedy="mend the line, or pass over such lines with --skip-bad, which counts them",
    )
