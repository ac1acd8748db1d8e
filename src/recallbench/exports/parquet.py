"""`export parquet`: a folder of files for pandas, duckdb and everything else that reads Parquet."""

from __future__ import annotations

from typing import ClassVar

from recallbench.exports.export_target import AS_RECORDED, Exported, ExportOption, ExportRequest, ExportTarget
from recallbench.exports.forms import HISTORY, QUESTIONS
from recallbench.exports.parquet_files import FORMS, parquet_files
from recallbench.exports.recorded import read_folders
from recallbench.extras import require
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.whole_file import drafts_of, write_errors


class ParquetTarget(ExportTarget):
    """Files of Parquet, one for each table."""

    name: ClassVar[str] = "parquet"
    summary: ClassVar[str] = "Write files of Parquet: figures, times, costs, and ranks and values of every question."
    details: ClassVar[str] = (
        f"{HISTORY.name}.parquet has a row for each measure of each result, with all that is known of the result "
        f"beside it; {QUESTIONS.name}.parquet the ranks of the gold of every question. No file has text of a corpus. "
        "Files of the same name are replaced, all together."
    )
    example: ClassVar[str] = "recallbench export parquet results/* --folder parquet"
    options: ClassVar[tuple[ExportOption, ...]] = (
        ExportOption("folder", "The folder of the files.", "path", former="out"),
    )

    def export(self, request: ExportRequest) -> Exported:
        require("parquet", "export parquet")
        out = self.folder(request)
        with (
            write_errors(
                f"{out} can't be written", expected="a folder that may be written to", remedy="name another --folder"
            ),
            drafts_of(out) as drafts,
            parquet_files(drafts) as files,
        ):
            recorded = read_folders(request.folders, request.prices, request.progress, files.take_questions)
            files.take_all(recorded)
            counts = files.counts
        rows = ", ".join(f"{form.name} {counts[form.name]:,}" for form in FORMS if counts[form.name])
        columns = str(out / f"{HISTORY.name}.parquet")
        return Exported(
            Conclusion(
                f"{out} holds {recorded.words} in {len(FORMS)} files, none with text of a corpus",
                AS_RECORDED,
                f"pandas.read_parquet({columns!r}), or a query of duckdb",
            ),
            [f"rows: {rows}"],
            recorded,
        )
