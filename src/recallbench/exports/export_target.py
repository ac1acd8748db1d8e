"""What an export is: a place that results are handed to, with the options that it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from recallbench.errors import UsageError
from recallbench.exports.recorded import Recorded
from recallbench.progress import Progress


@dataclass(frozen=True, slots=True)
class ExportOption:
    """An option of a target, as the command line declares it."""

    name: str
    help: str
    kind: Literal["text", "path"] = "text"
    default: str | None = None
    former: str = ""
    """What it was called before, and may still be typed as."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What a user asks of a target."""

    folders: tuple[Path, ...]
    texts: Mapping[str, str]
    """The options that are texts and were given, by name."""
    paths: Mapping[str, Path]
    """Those that are paths."""
    prices: Path | None
    environ: Mapping[str, str]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Exported:
    """What a target did."""

    sentences: list[str]
    """What happened, whether one can believe it, what to do next."""
    recorded: Recorded = field(default_factory=Recorded)
    document: str = ""
    """What goes to standard output, where that is what was asked for."""


class ExportTarget(ABC):
    """A place that results are handed to. Its name is the word behind `recallbench export`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line of help."""
    details: ClassVar[str] = ""
    example: ClassVar[str]
    """A command line that works."""
    options: ClassVar[tuple[ExportOption, ...]] = ()
    reads_folders: ClassVar[bool] = True

    def folder(self, request: ExportRequest) -> Path:
        """Return the folder to write into; raises UsageError where none is named."""
        if (folder := request.paths.get("folder")) is not None:
            return folder
        problem = f"export {self.name} needs a folder"
        raise UsageError(problem, expected="--folder FOLDER", found="none", remedy=self.example)

    @abstractmethod
    def export(self, request: ExportRequest) -> Exported:
        """Hand over what the folders record; raises InputError where they record nothing."""


AS_RECORDED = (
    "verdicts and figures are as recorded, and each folder is as its manifest says; `recallbench audit` works them out "
    "anew"
)
"""Whether one can believe an export."""
