"""A plot as SVG: the same bytes each time, in the colours of its page, with a description in words."""

from __future__ import annotations

from collections.abc import Sequence

from recallbench.escaping.terminal import visible
from recallbench.escaping.web import html
from recallbench.reports.page import COLOURS
from recallbench.reports.panel import ROW, Panel


class Plot:
    """Panels, one below the other, each with axes of the same height."""

    def __init__(self, title: str, width: float, height: float, panels: Sequence[Panel]) -> None:
        self.title = visible(title)
        self.width, self.height = width, height
        self.panels = panels

    def element(self, description: str) -> str:
        """Return the plot as an element of a page, with its title and its description."""
        lines: list[str] = []
        top = 0.0
        for panel in self.panels:
            drawn, top = panel.svg(top, self.width, self.height)
            lines += drawn
        box = f"0 0 {self.width:.0f} {top + ROW / 2:.0f}"
        words = f'<title id="plot-title">{html(self.title)}</title><desc id="plot-said">{html(description)}</desc>'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="plot-title plot-said" '
                f'viewBox="{box}" width="{self.width:.0f}" font-family="system-ui, sans-serif" font-size="12">{words}',
                *lines,
                "</svg>",
            ]
        )

    def picture(self, description: str) -> str:
        """Return the plot as a file of its own, in light and dark colours."""
        head, rest = self.element(description).split(">", 1)
        return f'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n{head}><style>{COLOURS}</style>{rest}\n'
