"""`reproduction.json` and `reproduction.md`: a published figure measured again its own way. Never a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Literal

from recallbench.escaping.markdown import Markup, code, inline, opening
from recallbench.reports.cells import figure
from recallbench.reports.part import DocumentPart
from recallbench.reports.table import Table

JSON_NAME, PAGE_NAME = "reproduction.json", "reproduction.md"
LABEL: Final = "reproduction of a flawed definition, never citable"


class SystemPart(DocumentPart):
    store: str
    version: str
    embedder: str


class ComparedPart(DocumentPart):
    """A figure as published, as reproduced, and by the canonical definition."""

    figure: str
    """The name it was published under."""
    measure: str
    """The measure it was counted by."""
    published: float
    """The frozen value."""
    published_artefact: float
    """The value with all digits, from the published run's own file."""
    published_low: float
    published_high: float
    reproduced: float | None
    reproduced_low: float | None
    """The published kind of interval, which takes questions as independent."""
    reproduced_high: float | None
    canonical_measure: str
    canonical: float | None
    """The value by the protocol's definition, from the same run."""
    same_measure_canonical: float | None
    """The published measure, on the canonical rankings with canonical gold."""


class QuestionPart(DocumentPart):
    id: str
    recall: float
    first: int | None
    """The rank of the first relevant hit."""


class ReproductionRecord(DocumentPart):
    """The content of both files."""

    name: str
    corpus: str
    label: Literal["reproduction of a flawed definition, never citable"]
    citable: Literal[False]
    published_by: SystemPart
    reproduced_by: SystemPart
    comparable: bool
    obstacles: list[str]
    """Reasons why the reproduced figure can't be compared with the published one."""
    figures: list[ComparedPart]
    definition: list[str]
    flaws: list[str]
    not_repeated: list[str]
    depth: int
    segments: int
    questions: list[QuestionPart]


def document(record: ReproductionRecord) -> str:
    """Return the record as JSON, one question per line."""
    fields = record.model_dump()
    rows = ",\n  ".join(json.dumps(row) for row in fields.pop("questions"))
    return f'{json.dumps(fields, indent=1)[:-2]},\n "questions": [\n  {rows}\n ]\n}}\n'


def page(record: ReproductionRecord) -> str:
    """Return the record in words, the label first."""
    then, now = record.published_by, record.reproduced_by
    header = [
        "figure",
        f"published: {then.store} {then.version}, {then.embedder}",
        Markup(f"**reproduced**: {inline(f'{now.store} {now.version}, {now.embedder}')}"),
        "canonical definition, same run",
        "what was counted then, on canonical rankings",
    ]
    rows = [
        [
            part.figure,
            f"{part.published} ({figure(part.published_artefact)},"
            f" {part.published_low:.4f} to {part.published_high:.4f})",
            f"{figure(part.reproduced)} ({figure(part.reproduced_low)} to {figure(part.reproduced_high)})",
            Markup(f"{figure(part.canonical)} {code(part.canonical_measure)}"),
            Markup(f"{figure(part.same_measure_canonical)} {code(part.measure)}"),
        ]
        for part in record.figures
    ]
    sections = [
        [f"# {inline(f'{record.name} on {record.corpus}: {LABEL}')}"],
        [
            "The column **reproduced** says what a published figure was made of. It is no result: the protocol's "
            "figures are those of [report.md](report.md), and stand beside it."
        ],
        Table(header, rows).markdown(),
        [f"{len(record.questions)} questions, {record.segments} segments, rankings {record.depth} deep."],
        ["## Can it be held against the published figure?", "", *_comparison(record)],
        ["## What was counted", "", *_listed(record.definition)],
        ["## Why the definition is flawed", "", *_listed(record.flaws)],
        ["## What was not repeated", "", *_listed(record.not_repeated)],
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _comparison(record: ReproductionRecord) -> list[str]:
    if not record.comparable:
        return ["No:", "", *_listed(record.obstacles)]
    differences = [
        f"{inline(figure.figure)} differs by {figure.reproduced - figure.published_artefact:+.4f}"
        for figure in record.figures
        if figure.reproduced is not None
    ]
    return [f"Yes: version, embedder and questions are the published ones. {'; '.join(differences)}."]


def _listed(lines: Sequence[str]) -> list[str]:
    return [f"- {opening(line)}" for line in lines]
