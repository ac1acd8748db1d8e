"""The primary measures over versions, drawn as SVG that takes its colours from the page around it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from recallbench.escaping.terminal import visible
from recallbench.escaping.web import html
from recallbench.reports.cells import figure, interval
from recallbench.reports.versions import MeasuredPart, Versions, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, LINE, BAND = "#010203", "#010204", "#010205"
"""Stand in while drawing for colours that the page decides, by day and by night."""
COLOURS = {INK: "var(--ink)", LINE: "var(--line)", BAND: "var(--band)"}
OPTIONS: Any = {"svg.fonttype": "none", "svg.hashsalt": "recallbench", "font.size": 10, "text.parse_math": False}
"""How matplotlib writes: text as text, the same bytes each time."""
WIDTH = 0.3
"""Half of a band's width, in versions."""


def draw(versions: Versions) -> str:
    """An SVG element with title and description."""
    # Imported here: it takes half a second, which no other command should wait for.
    import matplotlib
    from matplotlib.figure import Figure

    panels = next(one.figures for one in versions.versions if one.figures)
    names = [visible(one.version) for one in versions.versions]
    with matplotlib.rc_context(OPTIONS):
        # The object itself, not pyplot: that would ask for a display and keep the figure.
        paper = Figure(figsize=(max(6.0, 1.4 + 0.9 * len(names)), 3.1 * len(panels)), layout="constrained")
        paths = paper.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
        for place, panel in zip(paths, panels, strict=True):
            _panel(place, versions, panel)
        paths[-1].set_xticks(range(len(names)), names, rotation=45 if len(names) > 8 else 0)
        paths[-1].set_xlim(-0.6, len(names) - 0.4)
        handles, labels = paths[0].get_legend_handles_labels()
        legend = paper.legend(handles, labels, loc="outside lower center", frameon=False, labelcolor=INK)
        legend.set_in_layout(True)
        kept = io.StringIO()
        paper.savefig(kept, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    measures = " and ".join(panel.estimate.measure for panel in panels)
    return inlined(kept.getvalue(), title(versions), f"{measures} by version: {described(versions)}")


def _panel(place: Axes, versions: Versions, panel: MeasuredPart) -> None:
    measure = panel.estimate.measure
    found = [
        (x, one)
        for x, version in enumerate(versions.versions)
        for one in version.figures
        if one.estimate.measure == measure and one.estimate.value is not None
    ]
    x = [at for at, _ in found]
    values = [one.estimate.value or 0.0 for _, one in found]
    name = panel.protocol_name
    place.use_sticky_edges = False
    if panel.band is not None:
        place.bar(
            x,
            [2 * panel.band] * len(x),
            2 * WIDTH,
            [value - panel.band for value in values],
            color=BAND,
            label="the protocol's band around each value: bounds repeats of that one version,\n"
            "decides nothing between versions",
        )
    place.plot(x, values, color=LINE, linewidth=0.8, linestyle=":", zorder=2)
    bounded = [(at, one.estimate) for at, one in found if one.estimate.low is not None]
    place.errorbar(
        [at for at, _ in bounded],
        [one.value or 0.0 for _, one in bounded],
        [
            [(one.value or 0.0) - (one.low or 0.0) for _, one in bounded],
            [(one.high or 0.0) - (one.value or 0.0) for _, one in bounded],
        ],
        fmt="none",
        ecolor=INK,
        color=INK,
        capsize=4,
        label="95% interval of each value",
    )
    place.plot(x, values, "o", color=LINE, label="measured value")
    place.set_ylabel(f"{measure}\n({name})" if name != measure else measure, color=INK)
    place.tick_params(colors=INK)
    for spine in place.spines.values():
        spine.set_color(INK)
    for side in ("top", "right"):
        place.spines[side].set_visible(False)


def inlined(svg: str, title: str, said: str) -> str:
    """What matplotlib wrote, as an element of a page: the page's colours, a title, and what it shows in words."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = body.replace("*{stroke", "svg *{stroke")  # its style is that of the whole page it is put into
    for stand_in, colour in COLOURS.items():
        body = body.replace(stand_in, colour)
    opening = '<svg role="img" aria-labelledby="plot-title plot-said" '
    words = f'<title id="plot-title">{html(title)}</title><desc id="plot-said">{html(said)}</desc>'
    head, tail = body.removeprefix("<svg ").split(">", 1)
    return f"{opening}{head}>{words}{tail}"


def described(versions: Versions) -> str:
    """What the plot shows, in words."""
    told: list[Any] = []
    for one in versions.versions:
        shown = ", ".join(
            f"{e.estimate.measure} {figure(e.estimate.value)} ({interval(e.estimate)})" for e in one.figures
        )
        told.append(f"{one.version}: {shown or one.status}")
    return "; ".join(told) + "."
