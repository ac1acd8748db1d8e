"""Files of Parquet, one for each table, with what its columns mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.exports.forms import FIGURES, HISTORY, OF_QUESTIONS, OF_RESULTS, RESULTS
from recallbench.exports.question_rows import question_tables
from recallbench.exports.recorded import Recorded
from recallbench.exports.study_forms import OF_STUDIES
from recallbench.exports.table_form import Row, TableForm
from recallbench.results.result import Result

if TYPE_CHECKING:
    from pyarrow import Schema

FORMS: tuple[TableForm, ...] = (
    HISTORY,
    *(form for form in OF_RESULTS if form is not FIGURES),
    *OF_QUESTIONS,
    *OF_STUDIES,
)
"""The tables that become files: the figures stand in the history."""


class ParquetFiles:
    """The files of a folder while they are written; a file takes rows as often as there are any."""

    def __init__(self, folder: Path, closing: ExitStack) -> None:
        self._folder = folder
        self._closing = closing
        self._writers: dict[str, Any] = {}
        self.counts = {form.name: 0 for form in FORMS}
        """Rows by table."""

    def take(self, form: TableForm, rows: Sequence[Row]) -> None:
        """Add rows to the file of a table; the file is there even without any."""
        import pyarrow

        writer = self._writers.get(form.name) or self._open(form)
        if rows:
            values = zip(*map(form.values, rows), strict=True)
            schema = _schema(form)
            arrays = [pyarrow.array(list(column), field.type) for column, field in zip(values, schema, strict=True)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            self.counts[form.name] += len(rows)

    def take_questions(self, result: Result) -> None:
        """Add the rows of a result's questions."""
        tables = question_tables(result)
        for form in OF_QUESTIONS:
            self.take(form, tables[form.name])

    def take_all(self, recorded: Recorded) -> None:
        """Add all that folders record, but for questions."""
        results = {row["result"]: row for row in recorded.rows(RESULTS.name)}
        history = [{**results[row["result"]], **row} for row in recorded.rows(FIGURES.name)]
        for form in FORMS:
            self.take(form, history if form is HISTORY else recorded.rows(form.name))

    def _open(self, form: TableForm) -> Any:
        from pyarrow import parquet

        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{form.name}.parquet"
        writer = self._writers[form.name] = self._closing.enter_context(
            parquet.ParquetWriter(path, _schema(form), compression="zstd")
        )
        return writer


@contextmanager
def parquet_files(folder: Path) -> Iterator[ParquetFiles]:
    """Yield the files of a folder, which are whole when the block has ended."""
    with ExitStack() as closing:
        yield ParquetFiles(folder, closing)


def _schema(form: TableForm) -> Schema:
    import pyarrow

    kinds = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "moment": pyarrow.timestamp("us", tz="UTC"),
        "texts": pyarrow.list_(pyarrow.string()),
        "wholes": pyarrow.list_(pyarrow.int64()),
    }
    fields = [
        pyarrow.field(column.name, kinds[column.kind], metadata={"meaning": column.meaning}) for column in form.columns
    ]
    return pyarrow.schema(fields, metadata={"rows": form.meaning})
