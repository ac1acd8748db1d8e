"""The document of systems over several units of the same questions."""

from __future__ import annotations

from pydantic import Field

from recallbench.reports.part import DocumentPart
from recallbench.results.metrics import EstimatePart


class CorpusUnitPart(DocumentPart):
    unit: str
    corpus: str
    per_haystack: float = Field(description="segments that a question may be answered from, on average")


class UnitRowPart(DocumentPart):
    name: str = Field(description="its folders, in the order of the units; empty for a control")
    system: str
    embedder: str
    estimates: list[list[EstimatePart]] = Field(description="by unit, then by measure, over the common questions")


class UnitsPart(DocumentPart):
    """Systems that were measured over several units of a corpus."""

    corpus: str = Field(description="whose questions they are")
    n: int = Field(description="questions with gold in every unit: all figures are over these")
    measures: list[str]
    units: list[CorpusUnitPart]
    rows: list[UnitRowPart]
    controls: dict[str, list[list[float | None]]] = Field(description="by name: by unit, then by measure")
    alone: list[str] = Field(description="results of systems that were measured over one of the units only")
