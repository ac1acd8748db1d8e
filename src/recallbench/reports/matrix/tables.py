"""The tables of a matrix: its cells, and its paired tests."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.corpora.labelled_sets.set_name import plain_names, short_names
from recallbench.escaping.sheet import csv_text
from recallbench.reports.cells import figure, interval, share, ten_digits
from recallbench.reports.comparison import DIFFERENCE_HEADER, DifferencePart, difference_cells
from recallbench.reports.matrix.document import BM25, CellPart, Family, MatrixCorpusPart, MatrixDocument
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart

TOGETHER = "all together"
CHANCE = "chance"
CAPTIONS: dict[Family, str] = {
    "windows": "What a longer window gains",
    "reference": "Each system against the first encoder",
}


def cell_table(matrix: MatrixDocument, corpus: MatrixCorpusPart) -> Table:
    """Return a row for each encoder that was measured on a corpus and the lexical control, best first, then chance."""
    measured = [cell for cell in matrix.of_corpus(corpus.name) if not cell.failure]
    leading = matrix.measures[0]
    columns = ["encoder", "tokens"]
    for measure in matrix.measures:
        columns += [measure, f"group by {measure}", f"95% interval of {measure}"]
    columns += ["cut", "lost", "CPU s", "per CPU s", "bytes", "per KiB"]
    rows = [(_value(cell.estimate(leading)) or 0.0, _row(matrix, cell)) for cell in measured]
    bm25 = {estimate.measure: estimate for estimate in corpus.bm25}
    control, chance = [BM25, "–"], [CHANCE, "–"]
    for measure in matrix.measures:
        estimate = bm25.get(measure)
        control += [figure(_value(estimate)), corpus.bm25_letters.get(measure, ""), _interval(estimate)]
        by_chance = measured[0].estimate(measure) if measured else None
        chance += [figure(by_chance.chance if by_chance is not None else None), "", "–"]
    further = ["–"] * 6
    rows.append((_value(bm25.get(leading)) or 0.0, [*control, *further]))
    ranked = [row for _, row in sorted(rows, key=lambda row: -row[0])]
    return Table(columns, [*ranked, [*chance, *further]], plain_names(corpus.name), ["encoder"])


def _row(matrix: MatrixDocument, cell: CellPart) -> list[str]:
    encoder, effort = matrix.encoder(cell.encoder), cell.effort
    row = [cell.encoder, "all" if encoder.max_tokens is None else str(encoder.max_tokens)]
    for measure in matrix.measures:
        estimate = cell.estimate(measure)
        row += [figure(_value(estimate)), cell.letters.get(measure, ""), _interval(estimate)]
    per_second, per_kib = gains(matrix, cell)
    seconds = effort.per_1000 if effort is not None else None
    return [
        *row,
        share(cell.cut),
        share(effort.lost if effort is not None else None),
        _digits(seconds, 3),
        _digits(per_second, 3),
        "–" if encoder.vector_bytes is None else str(encoder.vector_bytes),
        _digits(per_kib, 3),
    ]


def gains(matrix: MatrixDocument, cell: CellPart) -> tuple[float | None, float | None]:
    """Return the leading measure by processor second for 1,000 segments, and by kibibyte of a vector."""
    value = _value(cell.estimate(matrix.measures[0]))
    seconds = cell.effort.per_1000 if cell.effort is not None else None
    size = matrix.encoder(cell.encoder).vector_bytes
    return (
        value / seconds if value is not None and seconds else None,
        value / (size / 1024) if value is not None and size else None,
    )


def together_table(matrix: MatrixDocument) -> Table:
    """Return a row for each system over the questions of all corpora, best first."""
    columns = ["system", *(cell for measure in matrix.measures for cell in (measure, f"group by {measure}"))]
    rows = [
        [
            part.system,
            *(cell for measure in matrix.measures for cell in (figure(part.values[measure]), part.letters[measure])),
        ]
        for part in matrix.together
    ]
    but = f" but {', '.join(map(plain_names, matrix.apart))}" if matrix.apart else ""
    return Table(columns, rows, f"All corpora{but} together, each question counting once", ["system"])


def pair_table(matrix: MatrixDocument, family: Family) -> Table | None:
    """Return a row for each comparison of a family; None where it has none."""
    pairs = matrix.of_family(family)
    if not pairs:
        return None
    rows = [
        [
            plain_names(pair.corpus) or TOGETHER,
            f"{pair.first_system} – {pair.second_system}",
            pair.measure,
            *difference_cells(pair),
        ]
        for pair in pairs
    ]
    columns = ["corpus", "from – to", "measure", *DIFFERENCE_HEADER]
    return Table(columns, rows, CAPTIONS[family], columns[:3])


def cell_sheet(matrix: MatrixDocument) -> Table:
    """Return a row for each cell, the lexical control and chance, for a spreadsheet."""
    names = [estimate.measure for estimate in next(cell.estimates for cell in matrix.cells if cell.estimates)]
    columns = ["corpus", "encoder", "max_tokens", "dims", "vector_bytes", "n", "segments"]
    columns += [f"{name}{end}" for name in names for end in ("", " low", " high")]
    columns += [f"group by {measure}" for measure in matrix.measures]
    columns += ["segments_cut", "tokens", "tokens_cut", "cpu_seconds_per_1000", "per_cpu_second", "per_kib", "cpu"]
    columns += ["others", "kept", "folder", "content_sha256", "failure"]
    rows: list[list[str]] = []
    for corpus in matrix.corpora:
        cells = matrix.of_corpus(corpus.name)
        rows += [_sheet_row(matrix, corpus, cell, names) for cell in cells]
        chances = next((cell.estimates for cell in cells if cell.estimates), [])
        for name, values in (
            (BM25, _bounds(corpus.bm25, names)),
            (CHANCE, [text for measure in names for text in (ten_digits(_chance(chances, measure)), "", "")]),
        ):
            letters = [corpus.bm25_letters.get(m, "") if name == BM25 else "" for m in matrix.measures]
            row = [corpus.name, name, "", "", "", str(corpus.n), str(corpus.segments), *values, *letters]
            rows.append(row + [""] * (len(columns) - len(row)))
    return Table(columns, rows)


def _sheet_row(matrix: MatrixDocument, corpus: MatrixCorpusPart, cell: CellPart, names: Sequence[str]) -> list[str]:
    encoder, effort = matrix.encoder(cell.encoder), cell.effort
    per_second, per_kib = gains(matrix, cell)
    of_effort = [None] * 3 if effort is None else [effort.tokens, effort.tokens_cut, effort.per_1000]
    return [
        corpus.name,
        cell.encoder,
        *map(ten_digits, (encoder.max_tokens, encoder.dims, encoder.vector_bytes, corpus.n, corpus.segments)),
        *_bounds(cell.estimates, names),
        *(cell.letters.get(measure, "") for measure in matrix.measures),
        *map(ten_digits, (cell.truncated, *of_effort, per_second, per_kib)),
        "" if effort is None else effort.cpu,
        ten_digits(None if effort is None else effort.others),
        "yes" if cell.kept else "",
        cell.folder,
        cell.content_sha256,
        cell.failure,
    ]


def pair_sheet(matrix: MatrixDocument) -> str:
    """Return a row for each paired test, for a spreadsheet."""
    fields = [name for name in DifferencePart.model_fields if name != "measure"]
    columns = ["family", "corpus", "first", "second", "measure", *fields]
    rows = [
        [
            pair.family,
            short_names(pair.corpus) or TOGETHER,
            pair.first_system,
            pair.second_system,
            pair.measure,
            *(ten_digits(getattr(pair, name)) for name in fields),
        ]
        for pair in matrix.pairs
    ]
    return csv_text([columns, *rows])


def _bounds(estimates: Sequence[EstimatePart], names: Sequence[str]) -> list[str]:
    by_name = {estimate.measure: estimate for estimate in estimates}
    return [
        ten_digits(getattr(by_name[name], field) if name in by_name else None)
        for name in names
        for field in ("value", "low", "high")
    ]


def _chance(estimates: Sequence[EstimatePart], measure: str) -> float | None:
    return next((estimate.chance for estimate in estimates if estimate.measure == measure), None)


def _value(estimate: EstimatePart | None) -> float | None:
    return None if estimate is None else estimate.value


def _interval(estimate: EstimatePart | None) -> str:
    return "–" if estimate is None else interval(estimate)


def _digits(value: float | None, digits: int) -> str:
    """Return a number with so many digits that count, and never as a power of ten."""
    return "–" if value is None else f"{float(f'{value:.{digits}g}'):.10g}"
