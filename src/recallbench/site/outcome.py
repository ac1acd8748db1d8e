"""How the making of a site ends, in words."""

from __future__ import annotations

from pathlib import Path

from recallbench.escaping.shell import command
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.site.index_page import summary
from recallbench.site.making import INDEX, Site


def conclusion(made: Site, folder: Path) -> Conclusion:
    """Return what is on the board of a site that was written into the folder."""
    opened = f"open {folder / INDEX}"
    if made.is_empty:
        return Conclusion("Nothing was admitted, and the page says why", "", opened, tone="bad")
    happened = summary(made.board, len(made.studies)).removesuffix(".")
    if made.board.apart:
        audited = command("audit", made.board.apart[0].place.path)
        return Conclusion(happened, "", f"{opened}; {audited} tells more", tone="open")
    return Conclusion(happened, "each result was audited before it was shown", opened)
