"""A pipeline as a flow from the question to what comes out: a box for each stage, with what it did."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from recallbench.escaping.web import html
from recallbench.reports.cells import figure
from recallbench.reports.comparison import signed
from recallbench.reports.stages.beside import Beside
from recallbench.results.effect_part import EffectPart
from recallbench.results.metrics import OVERALL
from recallbench.results.pipeline_part import PipelinePart, StagePart

FLOW_STYLE = """.flow, .flow ul { list-style: none; margin: 0; padding: 0 }
.flow { align-items: center; display: flex; flex-wrap: wrap; gap: .6rem 0; margin: 1rem 0 }
.flow > li { align-items: center; display: flex }
.flow > li + li::before { content: "\\2192" / ""; padding: 0 .6rem }
.flow ul { display: grid; gap: .6rem }
.flow div { border: 1px solid var(--line); border-radius: .4rem; break-inside: avoid; font-size: .9rem;
  font-variant-numeric: tabular-nums; padding: .4rem .7rem }
.flow .idle { border: 2px dashed var(--second) }
.flow .end { border-color: var(--rule) }
.flow span { display: block }
@media (max-width: 40rem) {
  .flow { align-items: stretch; flex-direction: column }
  .flow > li { align-items: stretch; flex-direction: column }
  .flow > li + li::before { content: "\\2193" / ""; text-align: center }
}
"""
"""What a page with a flow needs beside the style of every page."""


def flow(pipeline: PipelinePart, beside: Beside | None = None) -> list[str]:
    """Return the boxes as an ordered list; legs, which are searched side by side, stand in one place of it."""
    lines = ['<ol class="flow">', '<li><div class="end"><strong>question</strong></div></li>']
    for kind, stages in groupby(pipeline.stages, lambda stage: stage.kind):
        boxes = [_box(stage, beside or {}) for stage in stages]
        if kind == "search" and len(boxes) > 1:
            lines.append(f"<li><ul>{''.join(f'<li>{box}</li>' for box in boxes)}</ul></li>")
        else:
            lines += [f"<li>{box}</li>" for box in boxes]
    end = "answer" if any(stage.kind == "generate" for stage in pipeline.stages) else "ranking"
    return [*lines, f'<li><div class="end"><strong>{end}</strong></div></li>', "</ol>"]


def _box(stage: StagePart, beside: Beside) -> str:
    method = stage.kind if stage.method == stage.name else f"{stage.kind}, {stage.method}"
    effect = stage.effect
    words = [] if effect is None else _words(effect)
    idle = effect is not None and (effect.changed_sets == 0 or not effect.calls)
    costs = [f"{heading} {cells[stage.name]}" for heading, cells in beside.items() if stage.name in cells]
    inner = "".join(f"<span>{html(line)}</span>" for line in (method, *words, *costs))
    marked = ' class="idle"' if idle else ""
    return f"<div{marked}><strong>{html(stage.name)}</strong>{inner}</div>"


def _words(effect: EffectPart) -> Sequence[str]:
    measure = f"recall_any@{effect.k}"
    lines = []
    if effect.reached and effect.pool and measure in effect.reached:
        lines.append(f"{measure} {figure(effect.reached[measure])}, ceiling {figure(effect.pool[measure])}")
    if effect.changed is not None:
        lines.append(f"changed {effect.changed:,} of {effect.calls:,}, the first {effect.k} in {effect.changed_sets:,}")
    if effect.promoted is not None and effect.demoted is not None:
        lines.append(f"gold {effect.promoted.segments:,} up, {effect.demoted.segments:,} down")
    if effect.lost is not None:
        lines.append(f"gold of {effect.best_leg} lost {effect.lost.segments:,}")
    lines += [
        f"with it minus without {signed(part.difference)}"
        for part in effect.without.get(OVERALL, ())
        if part.measure == measure
    ]
    return lines
