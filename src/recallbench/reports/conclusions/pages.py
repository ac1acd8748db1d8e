"""How the writing of pages ends, in words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from recallbench.escaping.shell import command
from recallbench.reports.printing.conclusion import Conclusion


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page of a result that was just written."""

    folder: str
    page: str
    unchanged: bool
    """Whether the files of the result are as its manifest says."""
    texts: bool
    """Whether it shows texts of the corpus."""


def conclude_pages(written: Sequence[WrittenPage], *, with_text: bool = False) -> Conclusion:
    """Return what the pages show, whether one can believe it, and which to open first.

    `with_text` says that texts were asked for.
    """
    first, *others = written
    happened = f"The page of {first.folder} is written: what was found, kind by kind, and what was missed"
    if others:
        happened = f"{len(written)} pages are written, one for each result"
    opened = f"open {shlex.quote(first.page)}"
    if changed := next((each for each in written if not each.unchanged), None):
        belief = f"{changed.folder} is not as its manifest says, so its figures may not be"
        return Conclusion(happened, belief, command("audit", changed.folder), tone="bad")
    if with_text and not any(each.texts for each in written):
        belief = "it has no texts: a run keeps them with --with-text alone"
        return Conclusion(happened, belief, opened, tone="open")
    if any(each.texts for each in written):
        return Conclusion(happened, "it shows texts, which their licence may not let you publish", opened)
    return Conclusion(happened, "each file is as the manifest says", opened)
