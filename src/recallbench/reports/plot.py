"""A plot as SVG: the same bytes each time, in the colours of its page, with a description in words."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recallbench.escaping.terminal import visible
from recallbench.escaping.web import html
from recallbench.reports.page import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recallbench.results.metrics import EstimatePart

INK, LINE, SECOND, THIRD, BAND = "#010203", "#010204", "#010205", "#010206", "#010207"
"""Placeholders for the colours that the page defines, light and dark."""
VARIABLES = {INK: "ink", LINE: "line", SECOND: "second", THIRD: "third", BAND: "band"}
OPTIONS: Any = {"svg.fonttype": "none", "svg.hashsalt": "recallbench", "font.size": 10, "text.parse_math": False}
"""Options of matplotlib for text as text, and the same bytes each time."""


class Plot:
    """A figure with panels one below the other."""

    def __init__(self, title: str, width: float, height: float, panels: int = 1) -> None:
        # Not by pyplot, which asks for a display and keeps every figure.
        from matplotlib.figure import Figure

        self.title = visible(title)
        self.paper = Figure(figsize=(width, height), layout="constrained")
        self.panels: list[Axes] = list(self.paper.subplots(panels, 1, squeeze=False, sharex=True)[:, 0])

    def intervals(
        self,
        axes: Axes,
        places: Sequence[float],
        estimates: Sequence[EstimatePart],
        label: str = "95% interval of each value",
    ) -> None:
        """Draw the 95% interval of each value that has one. An empty label leaves it out of the legend."""
        bounded = [
            (at, estimate.value or 0.0, estimate.low, estimate.high)
            for at, estimate in zip(places, estimates, strict=True)
            if estimate.low is not None and estimate.high is not None
        ]
        axes.errorbar(
            [at for at, *_ in bounded],
            [value for _, value, *_ in bounded],
            [[value - low for _, value, low, _ in bounded], [high - value for _, value, _, high in bounded]],
            fmt="none",
            ecolor=INK,
            color=INK,
            capsize=4,
            label=label or None,
        )

    def element(self, description: str) -> str:
        """Return the plot as an element of a page, with its title and its description."""
        body = self._svg()
        body = body[body.index("<svg") :]
        body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
        body = body.replace("*{stroke", "svg *{stroke")  # a style would hold for the whole page
        for stand_in, name in VARIABLES.items():
            body = body.replace(stand_in, f"var(--{name})")
        words = f'<title id="plot-title">{html(self.title)}</title><desc id="plot-said">{html(description)}</desc>'
        head, tail = body.removeprefix("<svg ").split(">", 1)
        return f'<svg role="img" aria-labelledby="plot-title plot-said" {head}>{words}{tail}'

    def picture(self, description: str) -> str:
        """Return the plot as a file of its own, in light and dark colours."""
        head, tail = self.element(description).split(">", 1)
        return f'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n{head}><style>{COLOURS}</style>{tail}\n'

    def _svg(self) -> str:
        for axes in self.panels:
            _colour(axes)
        buffer = io.StringIO()
        self.paper.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        return buffer.getvalue()


@contextmanager
def plotting(title: str, width: float, height: float, panels: int = 1) -> Iterator[Plot]:
    """Yield an empty plot, to be drawn and written inside the block."""
    # Imported here, since it takes half a second.
    import matplotlib

    with matplotlib.rc_context(OPTIONS):
        yield Plot(title, width, height, panels)


def _colour(axes: Axes) -> None:
    """Draw axes, ticks and titles in the ink of the page, without a box."""
    axes.tick_params(colors=INK)
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set_color(INK)
    for side, spine in axes.spines.items():
        spine.set_color(INK)
        spine.set_visible(side not in ("top", "right"))
