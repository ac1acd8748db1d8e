"""`matrix.json`: encoders on corpora, a cell each, and what paired tests say of their differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from recallbench.reports.comparison import DifferencePart
from recallbench.reports.part import DocumentPart
from recallbench.results.metrics import EstimatePart
from recallbench.results.study_folder import MATRIX, read_study

MARKDOWN = "matrix.md"
CELLS = "cells.csv"
PAIRS = "pairs.csv"
PICTURE = "matrix.svg"
BM25 = "BM25"
"""The name of the lexical control, which stands among the encoders."""
Family = Literal["all", "reference", "windows"]
"""Every pair of a corpus; each encoder against the first one; neighbouring windows of one encoder."""


class EffortPart(DocumentPart):
    """What it takes to embed the segments of a corpus, and how much of them the encoder reads."""

    cpu: str = Field(description="the processor; seconds of two processors are never compared")
    cores: int
    probed: int = Field(description="segments that were embedded anew, drawn with a seed; 0 where nothing was timed")
    passes: int = Field(description="how often all of them were")
    seconds: float | None = Field(
        description="of processors, for one pass; null where a server embeds, whose processors are not seen"
    )
    others: float | None = Field(description="the share of all processors that other processes had meanwhile")
    segments: int
    tokens: int | None = Field(description="of all segments, before any cut; null where they can't be counted")
    tokens_cut: int | None = Field(description="of these, how many lie behind the encoder's limit")

    @property
    def lost(self) -> float | None:
        """The share of the tokens that the encoder does not read."""
        return self.tokens_cut / self.tokens if self.tokens and self.tokens_cut is not None else None

    @property
    def per_1000(self) -> float | None:
        """Seconds of processors for 1,000 segments."""
        return None if self.seconds is None else 1000 * self.seconds / self.probed


class CellPart(DocumentPart):
    """One encoder on one corpus."""

    corpus: str
    encoder: str
    failure: str = Field(description="why it has no figures; empty where it has")
    folder: str = Field(description="of its result, from the matrix' own folder; empty where it failed")
    content_sha256: str = Field(description="of that result's manifest")
    kept: bool = Field(description="it had been measured before, and was read")
    estimates: list[EstimatePart]
    letters: dict[str, str] = Field(description="by measure; systems of a corpus that share one can't be told apart")
    truncated: int | None = Field(description="segments that are longer than the encoder reads")
    effort: EffortPart | None

    def estimate(self, measure: str) -> EstimatePart | None:
        """Return the estimate of a measure; None where the cell failed."""
        return next((estimate for estimate in self.estimates if estimate.measure == measure), None)

    @property
    def cut(self) -> float | None:
        """The share of the segments that are longer than the encoder reads."""
        if self.truncated is None or self.effort is None or not self.effort.segments:
            return None
        return self.truncated / self.effort.segments


class EncoderPart(DocumentPart):
    name: str = Field(description="as it was typed, with its window behind an @ where one was asked for")
    encoder: str = Field(description="the name without the window")
    max_tokens: int | None = Field(description="tokens of a text that it reads; null where that is not known")
    dims: int | None = Field(description="null where no cell was measured")
    vector_bytes: int | None = Field(description="of one stored vector: four for each dimension")
    fingerprint_sha256: str


class MatrixCorpusPart(DocumentPart):
    name: str
    sha256: str = Field(description="empty where it could not be read")
    segments: int
    n: int = Field(description="questions counted")
    clusters: int | None = Field(description="null where questions are independent")
    bm25: list[EstimatePart]
    bm25_letters: dict[str, str]


class MatrixPairPart(DifferencePart):
    """Two systems on the same questions, second minus first; Holm corrects within family, corpus and measure."""

    corpus: str = Field(description="empty for all corpora together, where each question counts once")
    family: Family
    first_system: str
    second_system: str


class TogetherPart(DocumentPart):
    """A system over the questions of all corpora."""

    system: str
    values: dict[str, float] = Field(description="by measure: the mean over all questions")
    letters: dict[str, str]


class MatrixDocument(DocumentPart):
    """Encoders times corpora."""

    schema_version: Literal["1"]
    recallbench_version: str
    protocol: str
    store: str = Field(description="with what of its settings is not its default")
    measures: list[str]
    depth: int
    limit: int | None
    encoders: list[EncoderPart] = Field(description="in the order asked for; the first one is the reference")
    corpora: list[MatrixCorpusPart]
    cells: list[CellPart] = Field(description="by corpus, then by encoder, in the orders asked for")
    pairs: list[MatrixPairPart]
    together: list[TogetherPart] = Field(
        description="those measured on all corpora, best first; empty for one corpus alone"
    )
    apart: list[str] = Field(
        default=[], description="corpora that are not among those together: another one has the same questions"
    )
    environment: dict[str, Any] = Field(description="machine, packages and code; the command that made it")

    def encoder(self, name: str) -> EncoderPart:
        """Return the encoder of that name."""
        return next(encoder for encoder in self.encoders if encoder.name == name)

    def of_corpus(self, name: str) -> list[CellPart]:
        """Return the cells of a corpus."""
        return [cell for cell in self.cells if cell.corpus == name]

    def of_family(self, family: Family) -> list[MatrixPairPart]:
        """Return the pairs of a family, those over all corpora together first."""
        return sorted((pair for pair in self.pairs if pair.family == family), key=lambda pair: pair.corpus != "")

    @property
    def failed(self) -> list[CellPart]:
        """The cells without figures."""
        return [cell for cell in self.cells if cell.failure]


def read_matrix(folder: Path) -> MatrixDocument:
    """Return the matrix in a folder; raises InputError for another folder, and where a file was changed."""
    return read_study(folder, MATRIX, MatrixDocument, "matrix", "matrix --encoders … --corpora …")
