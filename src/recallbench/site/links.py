"""Where the pages of a site lead: to each other, and to the folders beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recallbench.reports.result_page import PAGE
from recallbench.reports.table import Link

REPORT = "report.md"


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a site that is going to lie in a folder."""

    site: Path
    copies: Mapping[str, str] = field(default_factory=dict)
    """The pages of results inside the site, by the names of these results."""

    def folder(self, path: Path) -> str | None:
        """Return the way from the site to a path; None where they share nothing but the root of the machine."""
        here, there = self.site.resolve(), path.resolve()
        common = os.path.commonpath([here, there])
        if common == here.anchor or self.copies:
            return None
        return Path(os.path.relpath(there, here)).as_posix()

    def page(self, path: Path, name: str) -> str | None:
        """Return the way to the page of a result: its copy, or the page or report in its folder."""
        if name in self.copies:
            return self.copies[name]
        folder = self.folder(path)
        if folder is None:
            return None
        return next((f"{folder}/{file}" for file in (PAGE, REPORT) if (path / file).is_file()), None)


def linked(text: str, target: str | None) -> str:
    """Return a cell that links to a target, or the text alone where there is none."""
    return text if target is None else Link(text, target)
