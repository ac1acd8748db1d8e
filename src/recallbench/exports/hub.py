"""`export hub`: a folder that is a dataset of the Hugging Face hub, ready to push."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import ClassVar

from recallbench.errors import UsageError
from recallbench.exports.export_target import AS_RECORDED, Exported, ExportOption, ExportRequest, ExportTarget
from recallbench.exports.hub_card import MARK, card
from recallbench.exports.parquet_files import FORMS, parquet_files
from recallbench.exports.recorded import read_folders
from recallbench.extras import require
from recallbench.scratch import scratch
from recallbench.whole_file import write_errors

CARD = "README.md"
DATA = "data"


class HubTarget(ExportTarget):
    """A dataset card with a configuration for each table, and the files of the tables."""

    name: ClassVar[str] = "hub"
    summary: ClassVar[str] = (
        "Write a folder that `datasets` loads and the Hugging Face hub takes: a card, and Parquet files."
    )
    details: ClassVar[str] = (
        "Nothing is sent anywhere: the command that does is told at the end. No file has text of a corpus; the card "
        "names every corpus with its licence. A folder that this command wrote is replaced as a whole, any other is "
        "left alone."
    )
    example: ClassVar[str] = "recallbench export hub results/* --out dataset --repo OWNER/NAME"
    options: ClassVar[tuple[ExportOption, ...]] = (
        ExportOption("out", "The folder of the dataset.", "path"),
        ExportOption("repo", "The dataset's name on the hub, for the command that pushes it.", default="OWNER/NAME"),
        ExportOption("title", "The title of its card.", default="Results of RecallBench"),
        ExportOption(
            "license",
            "Under which licence you publish the figures, as the hub calls it (apache-2.0).",
            default="unknown",
        ),
    )

    def export(self, request: ExportRequest) -> Exported:
        require("parquet", "export hub")
        out = request.paths.get("out")
        if out is None:
            raise UsageError("export hub needs a folder", expected="--out FOLDER", found="none", remedy=self.example)
        _refuse_others(out)
        with write_errors(
            f"{out} can't be written", expected="a folder that may be written to", remedy="name another --out"
        ):
            out.parent.mkdir(parents=True, exist_ok=True)
            with scratch(out.parent) as room:
                draft = room / "dataset"
                with parquet_files(draft / DATA) as files:
                    recorded = read_folders(request.folders, request.prices, request.progress, files.take_questions)
                    files.take_all(recorded)
                for form in FORMS:
                    if not files.counts[form.name]:
                        (draft / DATA / f"{form.name}.parquet").unlink()
                page = card(
                    recorded, files.counts, request.texts["title"], request.texts["license"], request.texts["repo"]
                )
                (draft / CARD).write_text(page, encoding="utf-8")
                if out.exists():
                    shutil.move(out, room / "before")
                draft.rename(out)
        push = shlex.join(["hf", "upload", request.texts["repo"], str(out), ".", "--repo-type", "dataset"])
        return Exported(
            [
                f"{out} holds {recorded.words} as a dataset of {sum(map(bool, files.counts.values()))} configurations, "
                "none with text of a corpus",
                AS_RECORDED,
                f"next: read {out / CARD}, then push it: {push}",
            ],
            recorded,
        )


def _refuse_others(out: Path) -> None:
    """Raise UsageError for a folder that another wrote; it would be replaced."""
    path = out / CARD
    ours = path.is_file() and MARK in path.read_text(encoding="utf-8", errors="replace")
    if out.exists() and not ours and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            f"{out} is there, and this command did not write it",
            expected="a new folder, or one of an earlier `recallbench export hub`",
            found=f"no {CARD} of it",
            remedy="name another --out",
        )
