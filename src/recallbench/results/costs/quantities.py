"""What a run used, as `environment.json` has it: seconds of processors, bytes, tokens. Prices are no part of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recallbench.embedding.encoders import Role
from recallbench.errors import InputError
from recallbench.reading import document, parsed
from recallbench.retrieval.record import Retrieval
from recallbench.usage import Usage

FIELD = "quantities"
"""The field of environment.json; results of earlier releases have none."""
STAGES = "stages"
"""The field in which each stage of a pipeline tells of itself."""
OF_SERVER = ("ingest", "ready", "search")
"""The phases in which a database server works for what is measured."""
KS = (1, 3, 5, 10)
"""How many hits a model may be given."""


class _Quantities(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Part = TypeVar("Part", bound=_Quantities)


class EmbeddedPart(_Quantities):
    """The embedding of the segments, or of the questions; a text of both counts where it came first."""

    computed: int = Field(ge=0, description="distinct texts that were embedded in this run")
    reused: int = Field(ge=0, description="distinct texts whose vectors were kept from an earlier one")
    tokens: int = Field(ge=0, description="of both, as the encoder counts them, before any cut; 0 where it does not")
    asked_tokens: int = Field(ge=0, description="that an endpoint counted in this run")
    cpu_seconds: float = Field(ge=0, description="looking for kept vectors included, which a survey of the corpus does")


class ContextPart(_Quantities):
    """What a model would be given of each ranking, summed over the questions."""

    k: int = Field(ge=1)
    characters: int = Field(ge=0)
    tokens: int | None = Field(ge=0, description="by the encoder's own count, where it counts")


class TextsPart(_Quantities):
    """The lengths of what was remembered, and of what came back."""

    haystacks: int = Field(ge=0)
    questions: int = Field(ge=0)
    characters: int = Field(ge=0, description="of all segments")
    tokens: int | None = Field(ge=0, description="by the encoder's own count, where it counts")
    history_characters: int = Field(ge=0, description="of each question's whole haystack, summed over the questions")
    history_tokens: int | None = Field(ge=0)
    context: list[ContextPart]


class StageQuantities(_Quantities):
    """What a stage of the pipeline used for all questions."""

    stage: str
    seconds: float = Field(ge=0, description="wall clock of this run, over all questions: kept answers take none")
    tokens: Usage = Field(default=Usage(), description="of its answers, when they were asked for")
    facts: dict[str, Any] = Field(default={}, description="what else it counted, such as kept answers")


class Quantities(_Quantities):
    """All that a run used, as far as it can be counted."""

    cpu_seconds: dict[str, float] = Field(description="by phase, of this process with its threads; no server's")
    server_cpu_seconds: dict[str, float] = Field(
        default={}, description="by phase, of a database server of the run's own; empty where there is none"
    )
    stored_bytes: dict[str, int] = Field(description="by what they are; empty where the store can't say")
    embedded: dict[Role, EmbeddedPart] = Field(description="empty where nothing was embedded")
    texts: TextsPart


def quantities(retrieval: Retrieval, embedded: Mapping[Role, EmbeddedPart], ks: Iterable[int]) -> Quantities:
    """Return what a run used; `ks` are further depths of a context, beside the usual ones."""
    return Quantities(
        cpu_seconds={phase: round(seconds, 4) for phase, seconds in retrieval.timings.cpu.items()},
        server_cpu_seconds={
            phase: round(retrieval.timings.server_cpu[phase], 4)
            for phase in OF_SERVER
            if phase in retrieval.timings.server_cpu
        },
        stored_bytes=dict(retrieval.stored),
        embedded=dict(embedded),
        texts=_texts(retrieval, sorted({k for k in (*KS, *ks) if k <= retrieval.calls.depth})),
    )


def read_quantities(folder: Path) -> Quantities:
    """Return what the run of a result used; raises InputError where the result does not say."""
    stated = _environment(folder).get(FIELD)
    if stated is None:
        raise InputError(
            f"{folder} does not say what it used",
            expected=f"`{FIELD}` in environment.json, as of results from this release on",
            found="none",
            remedy="make the result again",
        )
    return _valid(Quantities, stated, folder, FIELD)


def read_stage_quantities(folder: Path) -> list[StageQuantities]:
    """Return what each stage of a pipeline used, in its order; raises InputError for what no run writes."""
    stated = _environment(folder).get(STAGES, [])
    own = ("stage", "seconds", "tokens")
    rows = [row for row in stated if isinstance(row, Mapping)] if isinstance(stated, list) else []
    told = [
        {name: row[name] for name in own if name in row}
        | {"facts": {name: value for name, value in row.items() if name not in own}}
        for row in rows
    ]
    return [_valid(StageQuantities, row, folder, STAGES) for row in told]


def _environment(folder: Path) -> dict[str, Any]:
    path = folder / "environment.json"
    return parsed(document(path), path)


def _valid(kind: type[Part], stated: Any, folder: Path, field: str) -> Part:
    try:
        return kind.model_validate(stated)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (field, *first["loc"])))
        raise InputError(
            f"{folder}/environment.json: not what a run used",
            expected="the fields that `recallbench run` writes",
            found=f"{place}: {first['msg']}",
            remedy="get the file again from where it was made, or make the result again",
        ) from None


def _as_numbers(lengths: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.asarray(lengths, np.int32)


def _texts(retrieval: Retrieval, ks: Sequence[int]) -> TextsPart:
    sizes = {scope: len(lengths) for scope, lengths in retrieval.characters.items()}
    firsts = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    characters = np.concatenate([np.zeros(0, np.int32), *map(_as_numbers, retrieval.characters.values())])
    counted = retrieval.tokens is not None and len(retrieval.tokens.tokens) == len(characters)
    tokens = _as_numbers(retrieval.tokens.tokens) if counted and retrieval.tokens is not None else None

    def of_haystacks(lengths: npt.NDArray[np.int32]) -> int:
        sums = {scope: int(lengths[firsts[scope] :][:size].sum()) for scope, size in sizes.items()}
        return sum(sums[question.scope] for question in retrieval.questions)

    def of_hits(lengths: npt.NDArray[np.int32], k: int) -> int:
        reached = retrieval.short if retrieval.short is not None and k <= retrieval.calls.k else retrieval.rankings
        pairs = zip(retrieval.questions, reached, strict=True)
        places = (firsts[question.scope] + at for question, ranking in pairs for at in ranking.positions[:k])
        return int(lengths[np.fromiter(places, np.int64)].sum())

    return TextsPart(
        haystacks=len(sizes),
        questions=len(retrieval.questions),
        characters=int(characters.sum()),
        tokens=None if tokens is None else int(tokens.sum()),
        history_characters=of_haystacks(characters),
        history_tokens=None if tokens is None else of_haystacks(tokens),
        context=[
            ContextPart(k=k, characters=of_hits(characters, k), tokens=None if tokens is None else of_hits(tokens, k))
            for k in ks
        ],
    )
