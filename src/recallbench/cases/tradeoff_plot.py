"""Precision, recall and F1 against k, drawn as an SVG file that is the same whenever it is made."""

from __future__ import annotations

import io
from typing import Any

from recallbench.cases.case import count
from recallbench.cases.tradeoff import Tradeoff

SALT = "recallbench"


def draw(found: Tradeoff) -> str:
    """The whole SVG."""
    # Imported here: it takes half a second, which no other command should wait for.
    import matplotlib
    from matplotlib.figure import Figure

    options: Any = {"svg.fonttype": "none", "svg.hashsalt": SALT, "font.size": 10, "text.parse_math": False}
    ks = [point.k for point in found.points]
    with matplotlib.rc_context(options):
        # The object itself, not pyplot: that would ask for a display and keep the figure.
        paper = Figure(figsize=(6.4, 4.0), layout="constrained")
        place = paper.subplots()
        lines = (("recall", "recall_frac", "o-"), ("precision", "precision", "s-"), ("f1", "f1", "^--"))
        for name, field, style in lines:
            place.plot(ks, [getattr(point, field) for point in found.points], style, label=found.name(name))
        best = f"best {found.name('f1')}: k = {found.best.k}"
        place.axvline(found.best.k, color="0.6", linewidth=0.8, linestyle=":", label=best)
        place.set_xscale("log")
        place.set_xticks(ks, [str(k) for k in ks])
        place.minorticks_off()
        place.set_ylim(0.0, 1.02)
        place.set_xlabel("k")
        place.set_title(f"{count(found.n)}, matching: {found.matching}", fontsize=10)
        place.legend(frameon=False)
        for side in ("top", "right"):
            place.spines[side].set_visible(False)
        kept = io.StringIO()
        paper.savefig(kept, format="svg", metadata={"Date": None, "Creator": None})
    return kept.getvalue()
