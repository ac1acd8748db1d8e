"""`reproduction.json` and `reproduction.md`: an old figure measured again the old way. Never a result."""

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
    """One figure three times over."""

    figure: str
    """What it was published as."""
    measure: str
    """What was counted for it."""
    published: float
    """As frozen."""
    published_artefact: float
    """With the digits of the published run's own file."""
    published_low: float
    published_high: float
    reproduced: float | None
    reproduced_low: float | None
    """By the published way, which takes questions as independent."""
    reproduced_high: float | None
    canonical_measure: str
    canonical: float | None
    """By the protocol's definition, of this same run's result."""
    same_measure_canonical: float | None
    """What was counted for the published figure, but on the canonical rankings with canonical gold."""


class QuestionPart(DocumentPart):
    id: str
    recall: float
    first: int | None
    """Place of the first hit."""


class ReproductionRecord(DocumentPart):
    """Everything that stands in the two files."""

    name: str
    corpus: str
    label: Literal["reproduction of a flawed definition, never citable"]
    citable: Literal[False]
    published_by: SystemPart
    reproduced_by: SystemPart
    comparable: bool
    obstacles: list[str]
    """Why the reproduced figure can't be held against the published one; empty where it can."""
    figures: list[ComparedPart]
    definition: list[str]
    flaws: list[str]
    not_repeated: list[str]
    depth: int
    segments: int
    questions: list[QuestionPart]


def document(record: ReproductionRecord) -> str:
    """Return the record as JSON, one question per line."""
    whole = record.model_dump()
    rows = ",\n  ".join(json.dumps(row) for row in whole.pop("questions"))
    return f'{json.dumps(whole, indent=1)[:-2]},\n "questions": [\n  {rows}\n ]\n}}\n'


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
            one.figure,
            f"{one.published} ({figure(one.published_artefact)}, {one.published_low:.4f} to {one.published_high:.4f})",
            f"{figure(one.reproduced)} ({figure(one.reproduced_low)} to {figure(one.reproduced_high)})",
            Markup(f"{figure(one.canonical)} {code(one.canonical_measure)}"),
            Markup(f"{figure(one.same_measure_canonical)} {code(one.measure)}"),
        ]
        for one in record.figures
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
