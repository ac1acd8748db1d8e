"""One query, with the ids or the text that should be found for it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from recallbench.errors import InputError

ABSTENTION = "abstention"
"""The kind of a case that should find nothing."""
NOTHING = "nothing to find, so no recall"
"""The sentence that stands for figures where no case has anything to find."""
SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One query, and the ids that are relevant to it (or, for matching by text, what a relevant text says).

    `relevant` is a set, list or tuple of ids, or a mapping of ids to grades, of which those above 0 are relevant.
    `grades` feed nDCG alone; without them each relevant id has grade 1. A case with nothing to find says so:
    kind="abstention". Raises InputError, naming the query, for anything else.
    """

    query: str
    relevant: Collection[Any] | Mapping[Any, float] = ()
    grades: Mapping[Any, float] | None = None
    expected: str | None = None
    """The text that a relevant hit says, for match="tokens" and match="exact"."""
    kind: str | None = None
    """The slice that the case belongs to."""
    id: str | None = None
    """Its name in tables and errors; the query, where there is no id."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """More slices, such as {"tenant": "acme"}: `report.by("tenant")`."""
    vector: Any = None
    """The query's vector, for a retriever with a parameter `vector`."""

    def __post_init__(self) -> None:
        if not isinstance(self.query, str) or not self.query.strip():
            raise self.wrong("a query is a text", "a string that is not blank", repr(self.query)[:SHOWN])
        if self.expected is not None and not (isinstance(self.expected, str) and self.expected.strip()):
            raise self.wrong("`expected` is a text", "a string that is not blank", repr(self.expected)[:SHOWN])
        if not isinstance(self.labels, Mapping):
            raise self.wrong("`labels` is not a mapping", "{name: value}", repr(self.labels)[:SHOWN])
        if self.vector is not None:
            object.__setattr__(self, "vector", self._vector())
        if self.relevant is None or isinstance(self.relevant, (str, bytes)):
            expected = (
                f"ids in brackets, as [{self.relevant!r}]" if self.relevant else "a list of ids, which may be empty"
            )
            raise self.wrong("`relevant` is a collection of ids", expected, repr(self.relevant)[:SHOWN])
        relevant = self.relevant
        if isinstance(relevant, Mapping):
            if self.grades is not None:
                raise self.wrong("grades are given twice", "in `relevant` or in `grades`", "in both")
            object.__setattr__(self, "grades", {id: self._grade(id, value) for id, value in relevant.items()})
            object.__setattr__(self, "relevant", tuple([id for id, value in relevant.items() if value > 0]))
        else:
            object.__setattr__(self, "relevant", self._ids(relevant))
            if self.grades is not None:
                if not isinstance(self.grades, Mapping):
                    raise self.wrong("`grades` is not a mapping", "{id: grade}", repr(self.grades)[:SHOWN])
                graded = {id: self._grade(id, value) for id, value in self.grades.items()}
                if missing := [id for id in self.relevant if id not in graded]:
                    raise self.wrong("a relevant id has no grade", f"a grade for {missing[0]!r}", "none")
                if worthless := [id for id in self.relevant if not graded[id]]:
                    raise self.wrong("a relevant id has grade 0", f"a grade above 0 for {worthless[0]!r}", "0")
                object.__setattr__(self, "grades", graded)
        if not self.relevant and self.expected is None and self.kind != ABSTENTION:
            raise self.wrong(
                "nothing is relevant", f'relevant ids, an expected text, or kind="{ABSTENTION}"', "none of these"
            )
        graded_some = any((self.grades or {}).values())
        if self.kind == ABSTENTION and (self.relevant or graded_some or self.expected is not None):
            description = f"{len(self.relevant)} relevant" if self.relevant else "an expected text"
            description = "a grade above 0" if graded_some and not self.relevant else description
            raise self.wrong(f'a case of kind "{ABSTENTION}" should find nothing', "nothing relevant", description)

    @property
    def name(self) -> str:
        """Return the id, else the query."""
        return self.id if self.id is not None else self.query

    @property
    def sha256(self) -> str:
        """Return a hash of the query and all that is relevant; the order of ids does not count."""
        grades = {repr(id): grade for id, grade in (self.grades or {}).items()}
        facts = [self.query, sorted(map(repr, self.relevant)), sorted(grades.items()), self.expected, self.kind]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def label(self, field: str) -> str:
        """Return the slice of this case by `kind` or by one of its labels; empty where it has none."""
        return (self.kind or "") if field == "kind" else str(self.labels.get(field, ""))

    def wrong(self, problem: str, expected: str, found: str, remedy: str = "") -> InputError:
        """Return an error that names this case."""
        return InputError(f"case {shown(self)}: {problem}", expected=expected, found=found, remedy=remedy)

    def _ids(self, relevant: Collection[Any]) -> tuple[Any, ...]:
        ids = tuple(relevant)
        try:
            distinct = len(set(ids))
        except TypeError:
            raise self.wrong("ids can be hashed", "strings or numbers", repr(ids)[:SHOWN]) from None
        if distinct < len(ids):
            again = next(id for n, id in enumerate(ids) if id in ids[:n])
            raise self.wrong("a relevant id is named twice", "each id once", f"{again!r} again")
        for id in ids:
            if id is None or (isinstance(id, tuple) and len(id) == 2 and isinstance(id[1], (int, float))):
                raise self.wrong(
                    "not an id", "strings or numbers; a pair with a number is a scored hit", repr(id)[:SHOWN]
                )
        return ids

    def _vector(self) -> Any:
        import numpy  # imported here: most cases have no vector

        try:
            vector = numpy.asarray(self.vector)
            right = vector.ndim == 1 and len(vector) > 0 and bool(numpy.isfinite(vector).all())
        except (TypeError, ValueError):
            right = False
        if not right:
            raise self.wrong("`vector` is no vector", "finite numbers in one row", repr(self.vector)[:SHOWN])
        return vector

    def _grade(self, id: Any, value: Any) -> float:
        try:
            grade = math.nan if isinstance(value, (str, bytes)) else float(value)
        except (TypeError, ValueError, OverflowError):
            grade = math.nan
        if not 0 <= grade < math.inf:
            raise self.wrong("a grade is not valid", "a finite number, 0 or more", f"{value!r} for {id!r}")
        return grade


def shown(case: Case) -> str:
    """Return how an error names a case."""
    text = " ".join(str(case.name).split())
    return f"`{text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}`"


def count(cases: int) -> str:
    """Return so many cases, in words."""
    return f"{cases} case{'' if cases == 1 else 's'}"
