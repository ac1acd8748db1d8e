"""A plot as SVG: the same bytes each time, in the colours of its page, with a description in words."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from recallbench.errors import UsageError
from recallbench.escaping.terminal import visible
from recallbench.escaping.web import html
from recallbench.reports.page import COLOURS
from recallbench.reports.panel import ROW, Panel
from recallbench.whole_file import write_errors, write_whole


class Plot:
    """Panels, one below the other, each with axes of the same height. A notebook draws it."""

    def __init__(self, title: str, width: float, height: float, panels: Sequence[Panel], description: str) -> None:
        """Take the panels; the description has what they show in words."""
        self.title, self.description = visible(title), description
        self.width, self.height = width, height
        self.panels = panels

    def __repr__(self) -> str:
        return f"{self.title}: {self.description}"

    def _repr_svg_(self) -> str:
        # With a ground of its own: a notebook may be light where its reader's system is dark.
        return self.picture().replace("</style>", "svg { background: var(--ground) }</style>", 1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plot into an SVG file; raises UsageError for another kind, InputError where that can't be."""
        file = Path(path)
        if file.suffix.lower() != ".svg":
            raise UsageError("a plot is saved as SVG", expected="a name that ends in .svg", found=str(file))
        with write_errors(f"{file} can't be written", expected="a file in a folder", remedy="name another file"):
            write_whole(file.resolve(), self.picture())

    def image(self) -> str:
        """Return the plot as an image of a page that has colours of its own."""
        code = b64encode(self._repr_svg_().encode()).decode()
        return f'<img alt="{html(self.description)}" src="data:image/svg+xml;base64,{code}">'

    def element(self, name: str = "plot") -> str:
        """Return the plot as an element of a page, with its title and its description; no two have the same name."""
        lines: list[str] = []
        top = 0.0
        for panel in self.panels:
            drawn, top = panel.svg(top, self.width, self.height)
            lines += drawn
        box = f"0 0 {self.width:.0f} {top + ROW / 2:.0f}"
        words = (
            f'<title id="{name}-title">{html(self.title)}</title><desc id="{name}-said">{html(self.description)}</desc>'
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{name}-title {name}-said" '
                f'viewBox="{box}" width="{self.width:.0f}" font-family="system-ui, sans-serif" font-size="12">{words}',
                *lines,
                "</svg>",
            ]
        )

    def picture(self) -> str:
        """Return the plot as a file of its own, in light and dark colours."""
        head, rest = self.element().split(">", 1)
        return f'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n{head}><style>{COLOURS}</style>{rest}\n'
