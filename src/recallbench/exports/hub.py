"""`export hub`: a folder that is a dataset of the Hugging Face hub, ready to push."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import ClassVar

from recallbench.errors import UsageError
from recallbench.escaping.terminal import visible
from recallbench.exports.export_target import AS_RECORDED, Exported, ExportOption, ExportRequest, ExportTarget
from recallbench.exports.hub_card import MARK, card
from recallbench.exports.parquet_files import FORMS, parquet_files
from recallbench.exports.recorded import read_folders
from recallbench.extras import require
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.scratch import scratch
from recallbench.whole_file import write_errors
from recallbench.whole_folder import replace_folder, strangers

CARD = "README.md"
DATA = "data"
OWN = frozenset({CARD, *(f"{DATA}/{form.name}.parquet" for form in FORMS)})
"""The files that an export may write, and replaces."""
OF_A_CLONE = frozenset({".git", ".gitattributes"})
"""What an empty repository of the hub has."""


class HubTarget(ExportTarget):
    """A dataset card with a configuration for each table, and the files of the tables."""

    name: ClassVar[str] = "hub"
    summary: ClassVar[str] = (
        "Write a folder that `datasets` loads and the Hugging Face hub takes: a card, and Parquet files."
    )
    details: ClassVar[str] = (
        "Nothing is sent anywhere: the command that does is told at the end. No file has text of a corpus; the card "
        "names every corpus with its licence. In a folder that this command wrote, its own files are replaced, "
        "and what else is there stays, such as .git; a new clone is taken too, any other folder is refused."
    )
    example: ClassVar[str] = "recallbench export hub results/* --folder dataset --repo OWNER/NAME"
    options: ClassVar[tuple[ExportOption, ...]] = (
        ExportOption("folder", "The folder of the dataset.", "path", former="out"),
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
        given = self.folder(request)
        out = given.resolve()
        _refuse_others(out)
        with write_errors(
            f"{out} can't be written", expected="a folder that may be written to", remedy="name another --folder"
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
                _refuse_others(out)  # again: it took a while
                replace_folder(draft, out, OWN, CARD)
            kept = strangers(out, OWN)
        push = shlex.join(["hf", "upload", request.texts["repo"], str(given), ".", "--repo-type", "dataset"])
        pushed = [name for name in kept if name not in OF_A_CLONE]
        stays = f"what else is there stayed: {_named(kept)}" if kept else ""
        warned = f"{stays}; the command below pushes {_named(pushed)} too" if pushed else stays
        configurations = sum(map(bool, files.counts.values()))
        return Exported(
            Conclusion(
                f"{given} is a dataset of {recorded.words}, {configurations} tables without text of a corpus",
                AS_RECORDED,
                f"read {given / CARD}, then push it: {push}",
                tone="open" if pushed else "good",
            ),
            [warned] if warned else [],
            recorded,
        )


def _named(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return visible(", ".join(names[:5])) + more


def _refuse_others(out: Path) -> None:
    """Raise UsageError for a folder that another wrote, unless it is as good as empty."""
    path = out / CARD
    if not out.exists() or (path.is_file() and MARK in path.read_text(encoding="utf-8", errors="replace")):
        return
    found = "a file" if not out.is_dir() else _named(sorted({entry.name for entry in out.iterdir()} - OF_A_CLONE))
    if found:
        raise UsageError(
            f"{out} is there, and this command did not write it",
            expected="a new folder, one of an earlier `recallbench export hub`, or a clone without files",
            found=f"no {CARD} of it, but {found}",
            remedy="name another --folder",
        )
