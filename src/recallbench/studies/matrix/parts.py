"""The document of a matrix from its cells."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recallbench.progress import Progress
from recallbench.reports.cells import system
from recallbench.reports.matrix.document import BM25, CellPart, EncoderPart, MatrixCorpusPart, MatrixDocument
from recallbench.results.metrics import COMPARED, OVERALL, EstimatePart
from recallbench.results.rankings import Rankings
from recallbench.runs.plan import Plan
from recallbench.scoring.measures.measure import Measure
from recallbench.studies.matrix.cell import MeasuredCell
from recallbench.studies.matrix.comparing import Letters, asking_again, compare_corpus, compare_together, rankings_of
from recallbench.studies.matrix.windows import WindowedEncoder

FLOAT32 = 4
"""Bytes of a number of a stored vector."""


def matrix_document(
    release: str,
    plans: Sequence[Sequence[Plan]],
    encoders: Sequence[WindowedEncoder],
    cells: Sequence[MeasuredCell],
    measures: Sequence[Measure],
    environment: Mapping[str, Any],
    folder: Path,
    progress: Progress,
) -> MatrixDocument:
    """Return the document of these cells, which are by corpus and then by encoder."""
    named = [_encoder(encoder, cells) for encoder in encoders]
    corpora: list[MatrixCorpusPart] = []
    parts: list[CellPart] = []
    pairs = []
    by_corpus: dict[str, Mapping[str, Rankings]] = {}
    for of_corpus in plans:
        name = of_corpus[0].corpus.name
        own = [cell for cell in cells if cell.corpus == name]
        ranked = rankings_of(own)
        compared = compare_corpus(name, ranked, named, measures) if ranked else None
        letters = compared.letters if compared is not None else {}
        pairs += compared.pairs if compared is not None else []
        corpora.append(_corpus(name, own, ranked, letters))
        parts += [_cell(cell, letters, folder) for cell in own]
        if ranked:
            by_corpus[name] = ranked
    apart = asking_again(list(by_corpus))
    counted = [corpus for corpus in corpora if corpus.name in by_corpus and corpus.name not in apart]
    together, across = compare_together(
        [by_corpus[corpus.name] for corpus in counted],
        [corpus.sha256 for corpus in counted],
        named,
        measures,
        progress,
    )
    first = next(cell.result.metrics for cell in cells if cell.result is not None)
    return MatrixDocument(
        schema_version="1",
        recallbench_version=release,
        protocol=first.protocol.version,
        store=system(first),
        measures=[str(measure) for measure in measures],
        depth=first.retrieval.depth,
        limit=plans[0][0].options.limit,
        encoders=named,
        corpora=corpora,
        cells=parts,
        pairs=[*across, *pairs],
        together=together,
        apart=apart if together else [],
        environment=dict(environment),
    )


def _encoder(encoder: WindowedEncoder, cells: Sequence[MeasuredCell]) -> EncoderPart:
    measured = [cell for cell in cells if cell.encoder == encoder and cell.result is not None]
    embedder = next((cell.result.metrics.embedder for cell in measured if cell.result is not None), None)
    dims = measured[0].dims if measured else None
    stated = embedder.fingerprint.get("max_tokens", "") if embedder is not None else ""
    return EncoderPart(
        name=encoder.name,
        encoder=encoder.encoder,
        max_tokens=int(stated) if stated.isdigit() else encoder.max_tokens,
        dims=dims,
        vector_bytes=None if dims is None else FLOAT32 * dims,
        fingerprint_sha256=embedder.fingerprint_sha256 if embedder is not None else "",
    )


def _corpus(
    name: str, cells: Sequence[MeasuredCell], rankings: Mapping[str, Rankings], letters: Letters
) -> MatrixCorpusPart:
    metrics = next((cell.result.metrics for cell in cells if cell.result is not None), None)
    first = next(iter(rankings.values()), None)
    clusters = set(first.clusters) if first is not None else {""}
    return MatrixCorpusPart(
        name=name,
        sha256=metrics.dataset_sha256 if metrics is not None else "",
        segments=metrics.corpus.segments if metrics is not None else 0,
        n=0 if first is None else int(np.count_nonzero(first.answerable)),
        clusters=None if "" in clusters else len(clusters),
        bm25=_compared(metrics.control_bm25[OVERALL]) if metrics is not None else [],
        bm25_letters=dict(letters.get(BM25, {})),
    )


def _cell(cell: MeasuredCell, letters: Letters, folder: Path) -> CellPart:
    metrics = cell.result.metrics if cell.result is not None else None
    return CellPart(
        corpus=cell.corpus,
        encoder=cell.encoder.name,
        failure=cell.failure,
        folder=Path(os.path.relpath(cell.result.folder, folder)).as_posix() if cell.result is not None else "",
        content_sha256=cell.result.content_sha256 if cell.result is not None else "",
        kept=cell.kept,
        estimates=_compared(metrics.estimates[OVERALL]) if metrics is not None else [],
        letters=dict(letters.get(cell.encoder.name, {})),
        truncated=metrics.exposure.truncated if metrics is not None and metrics.exposure is not None else None,
        effort=cell.effort,
    )


def _compared(estimates: Sequence[EstimatePart]) -> list[EstimatePart]:
    return [estimate for estimate in estimates if estimate.measure in COMPARED]
