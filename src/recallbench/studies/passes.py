"""One pass over the questions, cold or warm: what each of them got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.confidential import concealed
from recallbench.corpora.stream import sha256_of
from recallbench.errors import InputError
from recallbench.results.result import open_result
from recallbench.results.rows import NAME as RETRIEVALS
from recallbench.runs.run import Outcome
from recallbench.scoring.judgement import Bools, Floats
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scratch import replacing


@dataclass(frozen=True, slots=True)
class Pass:
    """Its values, question by question."""

    name: str
    state: str
    questions: tuple[str, ...]
    counted: Bools
    values: Mapping[str, Floats]
    """By measure, one for each question."""
    first_gold: Floats
    """1 / rank of the first gold segment, over the whole depth; 0 where none came back."""
    rankings_sha256: str
    content_sha256: str


def cold(outcome: Outcome, measures: Sequence[Measure]) -> Pass:
    """The pass that a finished run is, read back from its folder."""
    result = open_result(outcome.folder)
    found = result.rankings
    return Pass(
        outcome.folder.name,
        "cold",
        found.questions,
        found.calls[-1].gold > 0,
        {str(measure): found.values(measure) for measure in measures},
        found.values(Mrr(outcome.metrics.retrieval.depth)),
        sha256_of(outcome.folder / RETRIEVALS),
        result.content_sha256,
    )


def put(path: Path, text: str) -> None:
    """Write a file that is whole or absent."""
    try:
        with replacing(path) as made:
            made.write_text(concealed(text), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"{path} can't be written",
            expected="a writable place with room for it",
            found=error.strerror or str(error),
            remedy="free some room; the runs that were made are whole",
        ) from None
