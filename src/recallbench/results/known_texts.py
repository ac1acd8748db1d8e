"""The texts of questions and segments that a result was written with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recallbench.reading import lines, parsed
from recallbench.results.rows import NAME, Row, RowLine


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """The texts of questions and segments, as far as they are known."""

    questions: Mapping[str, str] = field(default_factory=dict)
    segments: Mapping[str, str] = field(default_factory=dict)


def row_texts(folder: Path, chosen: Collection[int] | None = None) -> KnownTexts:
    """Return the texts in these rows of a result, None for all; there are some only if it was written with text."""
    return texts_of(
        RowLine.model_validate(parsed(line, folder / NAME, number))
        for number, line in lines(folder / NAME)
        if chosen is None or number - 1 in chosen
    )


def texts_of(rows: Iterable[Row | RowLine]) -> KnownTexts:
    """Return the texts in these rows."""
    questions: dict[str, str] = {}
    segments: dict[str, str] = {}
    for row in rows:
        if row.question is not None:
            questions[row.question_id] = row.question
        segments |= {hit.id: hit.text for hit in row.hits if hit.text is not None}
    return KnownTexts(questions, segments)
