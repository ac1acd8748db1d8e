"""What the steps around the chosen point change: as a table, a picture and a sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recallbench.escaping.sheet import csv_text
from recallbench.reports.cells import every_digit
from recallbench.reports.panel import INK, LINE, SECOND, Axis, Panel
from recallbench.reports.plot import Plot
from recallbench.reports.table import Table
from recallbench.results.sweep.document import SweepDocument
from recallbench.results.sweep.sensitivity_part import SensitivityPart, StepPart

STEM = "sensitivity"
SHEET = ("parameter", "from", "to", "moves", "lost", "mean", "low", "high", "interval", "mu_star", "sigma", "least")
WIDTH, HEIGHT = 680, 220


@dataclass(frozen=True, slots=True)
class _Ends:
    """Between which a movement lies."""

    low: float | None
    high: float | None


def sensitivity_table(document: SweepDocument) -> Table | None:
    """Return a row for each step of each parameter; None where nothing was measured around the chosen point."""
    part = document.sensitivity
    if part is None:
        return None
    columns = ["parameter", "step", f"{document.measure} moves by", "95% interval", "mu*", "sigma"]
    columns += ["p95 moves by, ms", "p95 least to most", "pairs"]
    rows = [
        [
            step.parameter,
            _step(step),
            _signed(step.mean),
            _between(step.low, step.high),
            "–" if step.absolute is None else f"{step.absolute:.4f}",
            "–" if step.deviation is None else f"{step.deviation:.4f}",
            _signed(step.p95_ms, 3),
            _between(step.p95_least, step.p95_most, 3),
            f"{step.moves}" + (f" of {step.moves + step.lost}" if step.lost else ""),
        ]
        for step in part.steps
    ]
    return Table(columns, rows, caption=f"Around {part.around}", left=["parameter", "step"])


def other_table(document: SweepDocument) -> Table | None:
    """Return by how much other figures move, step by step; None where there are none."""
    part = document.sensitivity
    names = {name: None for step in (part.steps if part is not None else ()) for name in step.others}
    if part is None or not names:
        return None
    rows = [
        [step.parameter, _step(step), *(_signed(step.others[name]) for name in names)]
        for step in part.steps
        if step.others
    ]
    caption = f"Around {part.around}: by how much other figures move"
    return Table(["parameter", "step", *names], rows, caption=caption, left=["parameter", "step"])


def sensitivity_notes(document: SweepDocument) -> list[str]:
    """Return how the steps came about and how to read them, a sentence each."""
    part = document.sensitivity
    if part is None:
        return []
    alone = sorted(
        {
            step.interval.removeprefix("n/a (").removesuffix(")")
            for step in part.steps
            if step.low is None and step.mean is not None
        }
    )
    return [
        f"{part.design} around {part.around}, over {part.questions:,} questions: those that it was chosen by are among "
        "them, so that steps away from it look a little worse than they are.",
        "mu* is the mean movement without signs, sigma how much it differs with the other parameters: a mu* far above "
        "the mean, or a large sigma, says that the others decide what the step does.",
        "Each interval is for its step alone; p95 is moved by chance too, which --repeats shows.",
        *(f"No interval: {why}." for why in alone),
        *(f"Not measured: {setting}: {why}" for setting, why in {**part.impossible, **part.failures}.items()),
    ]


def draw_sensitivity(document: SweepDocument) -> Plot | None:
    """Return the movements of the measure and of p95, step by step; None where nothing was measured."""
    part = document.sensitivity
    steps = [] if part is None else [step for step in part.steps if step.mean is not None]
    if part is None or not steps:
        return None
    named = [f"{step.parameter} {_step(step)}" for step in steps]
    value = _panel(f"{document.measure} moves by", named, [step.mean or 0.0 for step in steps])
    value.intervals(range(len(steps)), [_Ends(step.low, step.high) for step in steps])
    value.line(range(len(steps)), [step.mean or 0.0 for step in steps], LINE, "one step up", "circle", "none")
    panels = [value]
    timed = [step for step in steps if step.p95_ms is not None]
    if len(timed) == len(steps):
        times = _panel("p95 moves by, ms", named, [step.p95_ms or 0.0 for step in steps])
        ends = [_Ends(step.p95_least, step.p95_most) for step in steps]
        times.intervals(range(len(steps)), ends, "least to most of the pairs")
        times.line(range(len(steps)), [step.p95_ms or 0.0 for step in steps], SECOND, "one step up", "square", "none")
        panels.append(times)
    return Plot(f"Around {part.around}", WIDTH, HEIGHT, panels, _describe(part))


def files(document: SweepDocument) -> Mapping[str, str]:
    """Return the picture as files of its own, SVG and CSV, by their names."""
    plot = draw_sensitivity(document)
    return {} if plot is None else {f"{STEM}.svg": plot.picture(), f"{STEM}.csv": sensitivity_sheet(document)}


def sensitivity_sheet(document: SweepDocument) -> str:
    """Return the steps with every digit."""
    steps = document.sensitivity.steps if document.sensitivity is not None else []
    others = list(steps[0].others) if steps else []
    rows = [
        [
            step.parameter,
            step.start or "",
            step.end or "",
            *map(every_digit, (step.moves, step.lost, step.mean, step.low, step.high)),
            step.interval,
            *map(every_digit, (step.absolute, step.deviation, step.least, step.most)),
            *map(every_digit, (step.p95_ms, step.p95_least, step.p95_most)),
            *(every_digit(step.others[name]) for name in others),
        ]
        for step in steps
    ]
    return csv_text([[*SHEET, "most", "p95_ms", "p95_least", "p95_most", *others], *rows])


def _panel(title: str, named: Sequence[str], ys: Sequence[float]) -> Panel:
    ticks = list(enumerate(named))
    panel = Panel(title, x=Axis(low=-0.5, high=len(named) - 0.5, ticks=ticks), y=Axis())
    panel.across(0.0, "no movement", INK)
    return panel


def _describe(part: SensitivityPart) -> str:
    told = [f"{step.parameter} {_step(step)} {_signed(step.mean)}" for step in part.steps]
    return f"movement around {part.around}: {'; '.join(told)}"


def _step(step: StepPart) -> str:
    return "each step" if step.start is None else f"{step.start} → {step.end}"


def _signed(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:+.{digits}f}"


def _between(low: float | None, high: float | None, digits: int = 4) -> str:
    return "–" if low is None or high is None else f"{low:+.{digits}f} to {high:+.{digits}f}"
