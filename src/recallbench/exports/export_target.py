"""What an export is: a place that results are handed to, with the options that it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from recallbench.errors import UsageError
from recallbench.exports.recorded import Recorded
from recallbench.progress import Progress
from recallbench.reports.printing.conclusion import Conclusion


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

    conclusion: Conclusion
    """What happened, whether one can believe it, what to do next."""
    sentences: list[str] = field(default_factory=list)
    """What else is to be known of it, before that."""
    recorded: Recorded = field(default_factory=Recorded)
    document: str = ""
    """What goes to standard output, where that is what was asked for."""

    @property
    def ending(self) -> Conclusion:
        """Return the conclusion, with what was left out where something was."""
        if not (left_out := len(self.recorded.left_out)):
            return self.conclusion
        folders = "1 folder was" if left_out == 1 else f"{left_out} folders were"
        return replace(self.conclusion, belief=f"{folders} left out, with the reasons above", tone="open")


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


AS_RECORDED = "each folder is as its manifest says"
"""Whether one can believe an export."""
