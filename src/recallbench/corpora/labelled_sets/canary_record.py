"""`canary.json`: how a canary of one's own was drawn, what it can detect, and when it is stale. Its one reader."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.reading import document, parsed

NAME = "canary.json"


def _day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("a day is written as 2027-01-31")
    return text


Day = Annotated[str, AfterValidator(_day)]


class _CanaryPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class CanarySource(_CanaryPart):
    """The labelled set that the questions are from."""

    name: str = Field(description="the name of its folder")
    folder: str | None = Field(
        pattern=r"^\.\./[^/]*[^/.][^/]*$",
        description="as seen from the canary's own folder, where the set lies beside it; null for any other place, "
        "which would tell about the machine",
    )
    sha256: str = Field(description="over the files that decided a measurement of it, as in its name in results")
    split: str | None
    questions: int = Field(description="those that could be drawn")


class CanaryLog(_CanaryPart):
    """A file of the log that gave the mix."""

    name: str
    sha256: str


class MixCount(_CanaryPart):
    """The recalls of one kind and tenant; without a log, the queries of the set."""

    kind: str
    tenant: str
    recalls: int


class CanaryStratum(_CanaryPart):
    """One kind and tenant, its hard questions apart from the others."""

    kind: str
    tenant: str
    hard: bool
    share: float = Field(ge=0, description="of production")
    available: int = Field(ge=0, description="questions of the set")
    quota: float = Field(ge=0, description="its share of the questions drawn, before rounding")
    drawn: int = Field(ge=0)
    weight: float | None = Field(
        ge=0,
        description="of each of its questions in a mean of production's mix: its quota, over how many are drawn on the "
        "average over seeds; null for none",
    )


class HardCases(_CanaryPart):
    """The hard questions: how they were known, and how many are here."""

    rule: str
    rank: int = Field(description="a first find after it makes a question hard")
    results: list[str] = Field(description="content sha256 of each result that told of them")
    asked: float | None = Field(description="the least share that was asked for; null: in proportion")
    production: float = Field(description="their share in production's mix, as far as the set tells")
    drawn: float = Field(description="their share here")
    questions: dict[str, str] = Field(description="the hard questions here, and why each is")


class CanaryPower(_CanaryPart):
    """What a paired comparison of two results over the canary can see."""

    measure: str
    n: int = Field(description="questions with something to find")
    clusters: int = Field(description="n where questions are independent")
    level: float = Field(description="the recall from which a drop is counted")
    differing: float | None = Field(description="the assumed share of questions whose value differs by chance")
    assumption: str
    drop: float | None = Field(description="seen in 8 of 10 comparisons at p < .05; null where no drop would be")
    half_width: float | None = Field(description="half of the 95% interval of the figure itself")


class StaleAfter(_CanaryPart):
    """When the canary is to be drawn anew."""

    stated: str
    on: Day | None = Field(description="the first day on which it is stale, ISO 8601; null where recalls are counted")
    recalls: int | None = Field(description="recalls logged since; null where days are counted")


class Refreshed(_CanaryPart):
    """The canary that this one follows."""

    record_sha256: str
    kept: list[str] = Field(description="the questions that are in both")
    stayed: dict[str, int] = Field(
        default_factory=dict, description="in how many canaries in a row each of those has been, this one included"
    )


class CanaryRecord(_CanaryPart):
    """One draw."""

    schema_version: Literal["1"]
    drawn: Day = Field(description="the day, ISO 8601")
    seed: int
    by: list[str]
    asked: int = Field(description="the questions asked for")
    questions: int = Field(ge=1)
    source: CanarySource
    log: list[CanaryLog] = Field(description="empty where the set's own mix counts as production's")
    mix: list[MixCount]
    uncovered: float = Field(description="the share of production that the set has no question for; it is left out")
    strata: list[CanaryStratum] = Field(min_length=1)
    bias: float = Field(description="the most by which a plain mean may miss that of production's mix")
    proportional: bool = Field(
        description="each kind and tenant is within a question of its share, and hard questions are as frequent as in "
        "the set: a plain mean may be quoted as that of production's mix"
    )
    hard: HardCases
    detects: CanaryPower
    stale_after: StaleAfter | None
    refreshed: Refreshed | None
    notes: list[str]

    def staleness(self, today: date) -> str:
        """Return why it is stale by its age; empty while it is fresh."""
        after = self.stale_after
        return "" if after is None else staleness(self.drawn, after.stated, after.on, today.isoformat())


def staleness(drawn: str, after: str | None, on: str | None, today: str) -> str:
    """Return why a canary is stale by its age, the days in ISO 8601; empty while it is fresh."""
    if on is None or today < on:
        return ""
    return f"stale since {on}: drawn on {drawn}, to be drawn anew after {after}"


def read_canary(folder: Path) -> tuple[CanaryRecord, str] | None:
    """Return the record of a canary and its sha256, None for a folder without one.

    Raises InputError for a broken one, and for one that was drawn on a day to come.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        record, sha256 = CanaryRecord.model_validate(parsed(document(path), path)), sha256_of(path)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(
            f"{path} can't be read",
            expected="the record that `recallbench canary` wrote",
            found=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
            remedy="draw the canary anew",
        ) from None
    # Where it was drawn it may be tomorrow already.
    if date.fromisoformat(record.drawn) > date.today() + timedelta(days=1):
        raise InputError(
            f"{path} says that it was drawn on {record.drawn}, which is to come",
            expected=f"a day up to today, {date.today()}",
            found=record.drawn,
            remedy="draw the canary anew; its age can't be told by this record, nor by a clock that is wrong",
        )
    return record, sha256


def record_text(record: CanaryRecord) -> str:
    """Return the record as the file has it."""
    return record.model_dump_json(indent=1) + "\n"
